import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';
import { fixture } from '../harness/platform/importing.ts';
import { makeWorkbook } from '../platform/imports-workbook.ts';

const Hits = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: z.object({ card: z.record(z.string(), z.unknown()) }) })) }),
});

let directory: TestDirectory;
beforeAll(async () => {
  directory = await makeDirectory();
});
afterAll(() => directory.close());

async function liveCards() {
  const body = JSON.stringify({ size: 100, sort: ['card.pk'] });
  const answer = await directory.elastic.post(`/${directory.engines.alias}/_search`, body);
  return Hits.parse(JSON.parse(answer.toString())).hits.hits.map((hit) => hit._source.card);
}

const ranking = fixture('08-directory-ranking.csv');

describe('a CSV with other names', () => {
  it('is imported as its mapping was shown, which its source keeps, with keys that stay the same', async () => {
    const file = await directory.file('ranking.csv', ranking);
    const import_ = (...args: string[]) => directory.run('import', file, '--max-rejects', '50%', ...args);
    const refused = await import_();
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('Line 1 was read as the header, with , between cells');

    const shown = await directory.run('import', file, '--map');
    expect(shown.code).toBe(3);
    expect(JSON.parse(shown.out)).toMatchObject({
      ...{ separator: ',', header_line: 1 },
      columns: { username: 'channel_info', follower_count: 'followers', engagement_rate: '60_day_eng_rate' },
    });
    expect(await directory.elastic.client.indices.exists({ index: directory.engines.alias })).toBe(false);

    const unnamed = await import_('--map', 'accept');
    expect([unnamed.code, unnamed.err]).toEqual([1, expect.stringContaining('--source')]);
    const accepted = await import_('--map', 'accept', '--source', 'ranking', '--rejects', 'stranger.ndjson');
    expect(accepted.code).toBe(0);
    const cards = await liveCards();
    const [first, second] = cards.toSorted((a, b) => Number(b.follower_count) - Number(a.follower_count));
    expect(first).toMatchObject({ username: 'creator.one', follower_count: 475_800_000, engagement_rate: 1.39 });
    expect([first?.country, second?.country, second?.engagement_rate]).toEqual(['Spain', null, null]);
    expect(Number(first?.pk)).toBeGreaterThan(2 ** 52);
    const [reject] = (await readFile(`${directory.folder}/stranger.ndjson`, 'utf8')).trim().split('\n');
    expect(JSON.parse(reject ?? '')).toMatchObject({ line: 4, field: 'username', code: 'invalid' });

    const again = await import_('--source', 'ranking', '--restart');
    expect(again.code).toBe(0);
    expect(await liveCards()).toEqual(cards);
  });

  it('is read by a mapping in a file, and one that names a column which is not there is refused', async () => {
    const file = await directory.file('own.csv', 'Kanal|Fans|ER\nana.one|1,5k|0.02\nbo.two|2k|0.5\n');
    const columns = { username: 'Kanal', follower_count: 'Fans', engagement_rate: 'ER' };
    const wrong = await directory.file('wrong.json', JSON.stringify({ columns: { ...columns, city: 'Ort' } }));
    const missing = await directory.run('import', file, '--map', wrong, '--source', 'own');
    expect([missing.code, missing.err]).toEqual([
      1,
      expect.stringContaining('mapping.columns.city is “Ort”, a column that the file lacks. It has Kanal'),
    ]);
    const open = await directory.file('open.json', JSON.stringify({ columns }));
    const asked = await directory.run('import', file, '--map', open, '--source', 'own');
    expect([asked.code, asked.err]).toEqual([1, expect.stringContaining('{"rate":"fraction"}')]);
    const map = await directory.file('map.json', JSON.stringify({ columns, rate: 'fraction' }));
    expect((await directory.run('import', file, '--map', map, '--source', 'own')).code).toBe(0);
    const cards = await liveCards();
    expect(cards.map((one) => [one.username, one.follower_count, one.engagement_rate]).sort()).toEqual([
      ['ana.one', 1_500, 2],
      ['bo.two', 2_000, 50],
    ]);
  });
});

describe('a CSV with our names', () => {
  it('has any separator, grouped counts, and decimal commas', async () => {
    const file = await directory.file('semicolons.csv', fixture('09-directory-semicolons.csv'));
    expect((await directory.run('import', file)).code).toBe(0);
    expect(await liveCards()).toMatchObject([
      { pk: 900_000_011, full_name: 'Sören Müller', follower_count: 12_000, engagement_rate: 3.5, city: 'Köln' },
      { pk: 900_000_012, full_name: 'Ana; Maria', follower_count: 1_234_567, engagement_rate: 0.8 },
    ]);
  });

  it.each([
    ['tabs', Buffer.from('pk\tusername\tfollower_count\n7\tana\t1234\n')],
    ['UTF-16', Buffer.from('\ufeffpk,username,follower_count\n7,ana,1234\n', 'utf16le')],
    ['a grouped count', Buffer.from('pk,username,follower_count\n7,ana,1.234\n')],
    ['an empty last cell', Buffer.from('pk,username,follower_count\n7,ana,1234,\n')],
    ['names in any case', Buffer.from('PK,Username,Follower Count\n7,ana,1234\n')],
    ['blank rows at its end', Buffer.from('pk;username;follower_count\n7;ana;1234\n;;\n;;\n')],
    ['a line that says its separator', Buffer.from('sep=;\npk;username;follower_count\n7;ana;1234\n')],
  ])('may have %s', async (name, content) => {
    const file = await directory.file(`${name}.csv`, content);
    expect((await directory.run('import', file)).code).toBe(0);
    expect(await liveCards()).toMatchObject([{ pk: 7, username: 'ana', follower_count: 1_234 }]);
  });
});

describe('a file of a spreadsheet or a program', () => {
  const ana = { pk: 173560420, username: 'ana', full_name: 'Ana "A," Vega', is_verified: true };
  const bo = { pk: 8, username: 'bo', full_name: 'Line\nbreak ✨ [x]', is_verified: false };
  const sheet = [
    ['pk', 'username', 'Full Name', 'is_verified'],
    [{ number: '173560420' }, 'ana', 'Ana "A," Vega', 'TRUE'],
    [{ number: '8' }, 'bo', 'Line\nbreak ✨ [x]', 'FALSE'],
  ];
  it.each([
    ['list.json', Buffer.from(JSON.stringify([ana, bo]))],
    ['indented.json', Buffer.from(JSON.stringify([ana, bo], null, 2))],
    ['sheet.xlsx', Buffer.from(makeWorkbook({ Creators: sheet }))],
    ['named-by-mistake.csv', Buffer.from(makeWorkbook({ Notes: [['Exported']], Creators: sheet }))],
    [
      'german.csv',
      Buffer.from(
        'PK;Username;Full_Name;Is_Verified\n173560420;ana;"Ana ""A,"" Vega";WAHR\n8;bo;"Line\nbreak ✨ [x]";FALSCH\n',
      ),
    ],
  ])('is read: %s', async (name, content) => {
    const { code, err } = await directory.run('import', await directory.file(name, content));
    expect([code, err]).toEqual([0, expect.stringContaining('2 rows read')]);
    expect(await liveCards()).toMatchObject([bo, ana]);
  });

  it('of JSON names the line where a rejected record starts, and is refused if it is cut off', async () => {
    const rows = `[\n  {"pk": 7, "username": "ana"},\n\n  {"pk": -1,\n   "username": "bo"}\n]`;
    const rejected = await directory.run('import', await directory.file('list.json', rows), '--max-rejects', '0');
    expect(rejected.err).toContain('× pk must be');
    expect(rejected.err).toContain('(first on line 4)');
    const cut = await directory.run('import', await directory.file('cut.json', '[{"pk": 7, "username": "ana"},'));
    expect([cut.code, cut.err]).toEqual([1, expect.stringContaining('The list has no end')]);
  });

  it('that is refused shows the columns found, the commonest reasons with counts, and the file of the rejected rows', async () => {
    const rows = ['1,ana,x', '2,bo,y', '3,cy,-1', '4,,1', '5,ed,1'];
    const file = await directory.file(
      'bad.csv',
      `pk,username,follower_count,fans\n${rows.map((row) => `${row},1\n`).join('')}`,
    );
    for (const limit of [[], ['--max-rejects', '3']]) {
      const { code, err } = await directory.run('import', file, ...limit);
      expect(code).toBe(1);
      expect(err).toMatch(/^- 2 × follower_count must be .+ \(first on line 2\)$/m);
      expect(err).toContain('Columns found: pk, username, follower_count, fans.');
      expect(err).toMatch(/^The rejected rows are in .+rejects-imp_\w+\.ndjson\.$/m);
      expect(err).not.toContain('"x"');
    }
    const some = await directory.run('import', file, '--max-rejects', '90%');
    expect([some.code, some.err]).toEqual([0, expect.stringMatching(/^- 2 × follower_count must be/m)]);
    const headless = await directory.run('import', await directory.file('other.csv', 'id,name\n1,ana\n'));
    expect(headless.err).toContain('Columns found: id, name.');
  });

  it.each([
    ['old.xls', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /save it as \.xlsx or CSV/],
    ['page.csv', Buffer.from('<!DOCTYPE html><html></html>'), /The file is a page/],
    ['broken.xlsx', Buffer.from('504b0304ffff', 'hex'), /damaged/],
  ])('of another kind says what to save instead: %s', async (name, content, words) => {
    const { code, err } = await directory.run('import', await directory.file(name, content));
    expect([code, err]).toEqual([1, expect.stringMatching(words)]);
  });
});
