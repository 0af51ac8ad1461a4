import { readFile } from 'node:fs/promises';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { generateCreators } from '../../src/directory/imports/indexing/sample.ts';
import { readStatus } from '../../src/directory/imports/indexing/status.ts';
import { prune } from '../../src/directory/imports/indexing/versions.ts';
import type { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { creator } from '../harness/directory/directory.ts';
import { makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';

const Hits = z.object({
  hits: z.object({
    hits: z.array(z.object({ _source: z.object({ card: z.record(z.string(), z.unknown()) }) })),
  }),
});

const ndjson = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

function csv(rows: DirectoryCreatorDetail[]): string {
  const header = Object.keys(creator(1));
  const cell = (value: unknown) => (value === null ? '' : `"${String(value).replaceAll('"', '""')}"`);
  const lines = rows.map((row) => Object.values(row).map(cell).join(','));
  return `${[header.join(','), ...lines].join('\r\n')}\r\n`;
}

async function liveCards(directory: TestDirectory): Promise<Record<string, unknown>[]> {
  const body = JSON.stringify({ size: 10_000, sort: ['card.pk'], track_total_hits: true });
  const answer = await directory.elastic.post(`/${directory.engines.alias}/_search`, body);
  return Hits.parse(JSON.parse(answer.toString())).hits.hits.map((hit) => hit._source.card);
}

async function liveCount(directory: TestDirectory): Promise<number> {
  return (await directory.elastic.client.count({ index: directory.engines.alias })).count;
}

const cardOf = ({ following_count: _, media_count: _m, gender: _g, age: _a, ...card }: DirectoryCreatorDetail) => card;
const rejectsOf = async (file: string) =>
  (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

let directory: TestDirectory;
beforeAll(async () => {
  directory = await makeDirectory();
});
afterAll(() => directory.close());

describe('import', () => {
  const rows = [
    creator(3, { biography: 'Commas, "quotes"\nand lines — Zoë ✨', engagement_rate: 2.75, is_verified: true }),
    creator(1, { city: 'São Paulo', country: 'Brazil', niches: null, follower_count: null }),
    creator(2, { username: '007', full_name: 'true', state: '12', age: null }),
  ];
  const cards = [1, 2, 3].map((pk) => rows.find((row) => row.pk === pk)).map((row) => row && cardOf(row));

  it.each([
    ['NDJSON', () => ndjson(rows)],
    ['NDJSON with a byte order mark and no last newline', () => `\ufeff${ndjson(rows).trimEnd()}`],
    ['NDJSON in gzip', () => gzipSync(ndjson(rows))],
    [
      'NDJSON in two gzip members',
      () => Buffer.concat([gzipSync(ndjson(rows.slice(0, 1))), gzipSync(ndjson(rows.slice(1)))]),
    ],
    ['NDJSON in zstd', () => zstdCompressSync(ndjson(rows))],
    ['CSV', () => csv(rows)],
    ['CSV in zstd', () => zstdCompressSync(csv(rows))],
  ])('accepts %s and stores every value as given', async (name, content) => {
    const file = await directory.file(`${name.replaceAll(' ', '-')}.data`, content());
    const { code, out, err } = await directory.run('import', file);
    expect(err).toContain('3 rows read, 3 creators live, 3 read back');
    expect(code).toBe(0);
    expect(out.trim()).toMatch(new RegExp(`^${directory.engines.alias}-\\d{8}-[0-9a-z]{6,}$`));
    expect(await liveCards(directory)).toEqual(cards);
  });

  it('reads a missing field as null, and names unknown fields once at the end', async () => {
    const file = await directory.file(
      'sparse.ndjson',
      ndjson([
        { pk: 5, username: 'ana', follwers: 3 },
        { pk: 6, username: 'bo', follwers: 4 },
      ]),
    );
    const { code, err } = await directory.run('import', file);
    expect(code).toBe(0);
    expect(err.match(/follwers/g)).toHaveLength(1);
    expect(err).toContain('follwers (2 rows)');
    expect(await liveCards(directory)).toMatchObject([{ pk: 5, full_name: null, is_verified: null }, { pk: 6 }]);
  });

  it('writes rejected rows with line, field and reason, and swaps while they are few enough', async () => {
    const lines = [
      JSON.stringify(creator(1)),
      '{"pk": 9007199254740993, "username": "rounded"}',
      '{"pk": 2, "username": "half", "biography": "\\ud83d"}',
      '',
      '{"pk": 3}',
      'not json',
      '{"pk": 4, "username": "ana", "follower_count": "12"}',
      JSON.stringify(creator(5)),
    ];
    const file = await directory.file('bad.ndjson', `${lines.join('\n')}\n`);
    const { code, err } = await directory.run('import', file, '--max-rejects', '5', '--rejects', 'out.ndjson');
    expect(err).toContain('5 rows were rejected');
    expect(code).toBe(0);
    expect(await rejectsOf(`${directory.folder}/out.ndjson`)).toMatchObject([
      { line: 2, field: 'pk', row: lines[1] },
      { line: 3, field: 'biography', code: 'invalid_text' },
      { line: 5, field: 'username', code: 'required' },
      { line: 6, field: null, code: 'invalid_json', row: 'not json' },
      { line: 7, field: 'follower_count', code: 'invalid_type', reason: expect.stringContaining('number') },
    ]);
    expect(await liveCount(directory)).toBe(2);
  });

  it('rejects CSV cells of the wrong type, rows with a wrong number of cells, and text that is not UTF-8', async () => {
    const content = Buffer.concat([
      Buffer.from(
        'pk,username,follower_count,is_verified\n1,ana,12,true\n2,bo,1e,true\n3,cy,5,yes\n4,di\n9007199254740993,ed,,\n',
      ),
      Buffer.from('6,f'),
      Buffer.from([0xff]),
      Buffer.from(',,\n7,"gi\ngi",1,\n8,hal,-1,\n'),
    ]);
    const file = await directory.file('bad.csv', content);
    const { code } = await directory.run('import', file, '--max-rejects', '80%', '--rejects', 'out.ndjson');
    expect(code).toBe(0);
    expect(await rejectsOf(`${directory.folder}/out.ndjson`)).toMatchObject([
      { line: 3, field: 'follower_count', code: 'invalid_type' },
      { line: 4, field: 'is_verified', code: 'invalid_type' },
      { line: 5, code: 'column_count' },
      { line: 6, field: 'pk' },
      { line: 7, code: 'invalid_utf8' },
      { line: 10, field: 'follower_count', code: 'too_small' },
    ]);
    expect(await liveCards(directory)).toMatchObject([
      { pk: 1, follower_count: 12 },
      { pk: 7, username: 'gi\ngi' },
    ]);
  });

  it('stops before the swap if too many rows are rejected, and removes the new index', async () => {
    const before = await readStatus(directory.engines);
    const file = await directory.file('worse.ndjson', `${ndjson([creator(1)])}{"pk":-1,"username":"x"}\n`);
    for (const limit of [[], ['--max-rejects', '0'], ['--max-rejects', '49%']]) {
      const { code, err } = await directory.run('import', file, ...limit);
      expect(err).toContain('Nothing was swapped');
      expect(code).toBe(1);
    }
    const after = await readStatus(directory.engines);
    expect(after.live?.name).toBe(before.live?.name);
    expect(after.previous).toHaveLength(before.previous.length);
    expect(after.imports).toEqual([]);
  });

  it('never swaps in an empty directory', async () => {
    const { code, err } = await directory.run('import', await directory.file('empty.ndjson', ''));
    expect([code, err]).toEqual([1, expect.stringContaining('no rows to import')]);
  });

  it('fails with the file’s name when a packed file is cut off or a header lacks pk, and swaps nothing', async () => {
    const before = (await readStatus(directory.engines)).live?.name;
    const cut = await directory.file('cut.ndjson.gz', gzipSync(ndjson(rows)).subarray(0, -20));
    const headless = await directory.file('headless.csv', 'id,username\n1,ana\n');
    expect(await directory.run('import', cut)).toMatchObject({
      code: 1,
      err: expect.stringContaining('cut.ndjson.gz could not be read'),
    });
    expect(await directory.run('import', headless)).toMatchObject({
      code: 1,
      err: expect.stringContaining('no column pk'),
    });
    expect((await readStatus(directory.engines)).live?.name).toBe(before);
    await prune(directory.engines, 1, {});
  });

  it('keeps the last row of a repeated pk, even if batches overtake each other, and counts the others', async () => {
    const repeated = Array.from({ length: 12_500 }, (_, i) =>
      creator(i % 50, { username: `round${Math.floor(i / 50)}` }),
    );
    const { code, err } = await directory.run('import', await directory.file('repeated.ndjson', ndjson(repeated)));
    expect(err).toContain('12,450 rows repeated a pk');
    expect(code).toBe(0);
    expect(new Set((await liveCards(directory)).map((card) => card.username))).toEqual(new Set(['round249']));
  });

  it('refuses invalid arguments with exit code 2 and shows help for every command', async () => {
    const wrong = [['import'], ['import', 'a', '--fast'], ['import', 'a', '--max-rejects', 'few'], ['fly']];
    for (const args of wrong) expect((await directory.run(...args)).code).toBe(2);
    const commands = ['import', 'upsert', 'delete', 'status', 'rollback', 'prune', 'verify', 'generate'];
    for (const command of commands) {
      const help = await directory.run(command, '--help');
      expect(help).toMatchObject({ code: 0, out: expect.stringContaining('Usage') });
    }
  });
});

describe('sample creators', () => {
  it('are the same for the same seed, and a larger sample starts with the smaller one', async () => {
    const first = await directory.run('generate', '--count', '2000', '--seed', '5');
    const more = await directory.run('generate', '--count', '3000', '--seed', '5');
    const other = await directory.run('generate', '--count', '2000', '--seed', '6');
    expect(first.out.trimEnd().split('\n')).toHaveLength(2_000);
    expect(more.out.startsWith(first.out)).toBe(true);
    expect(other.out).not.toBe(first.out);
  });

  it('have pks that never repeat and are not in order, in every metro, in mixed spellings', () => {
    const creators = [...generateCreators(20_000, 1)];
    const pks = creators.map(({ pk }) => pk);
    expect(new Set(pks).size).toBe(creators.length);
    expect(pks.slice(0, 1_000)).not.toEqual(pks.slice(0, 1_000).sort((a, b) => a - b));
    const states = new Set(creators.map(({ state }) => state));
    for (const spelling of ['CA', 'California', 'ca', null]) expect(states).toContain(spelling);
  });
});
