import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { generateCreators } from '../../src/directory/imports/indexing/sample.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { prune } from '../../src/directory/imports/indexing/versions.ts';
import { upsertCreators } from '../../src/directory/imports/indexing/writes.ts';
import type { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { indexBehind, indexExists } from '../../src/kit/engines/elastic/indices.ts';
import { makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';

const CREATORS = 1_500;
const live = [...generateCreators(CREATORS, 4)];
const [first, second] = live;
if (!first || !second) throw new Error('The sample is empty.');

type Row = DirectoryCreatorDetail;
const every = (change: (row: Row, i: number) => Partial<Row>) => live.map((row, i) => ({ ...row, ...change(row, i) }));
const isOneIn = (n: number, i: number) => i % n === 0;
const times = (value: number | null, factor: number) => (value === null ? null : Math.round(value * factor));
const newcomers = (count: number) => [...generateCreators(CREATORS + count, 4)].slice(CREATORS);

const SABOTAGED: [string, Row[], RegExp][] = [
  ['cut in half', live.slice(0, CREATORS / 2), /live creators are gone \(50\.0%; at most 10%\)/],
  ['with other people', [...generateCreators(CREATORS, 5)], /1500 of 1500 live creators are gone/],
  ['with pks of another system', every(({ pk }) => ({ pk: pk + 7_000_000_000 })), /live creators are gone/],
  ['without emails', every(() => ({ extracted_email: null })), /extracted_email is filled in 0\.0% of rows/],
  [
    'with every second biography empty',
    every((row, i) => ({ biography: isOneIn(2, i) ? '' : row.biography })),
    /biography/,
  ],
  [
    'with a column shifted',
    every(({ state, country, city }) => ({ city: state, state: country, country: city })),
    /country is/,
  ],
  [
    'with followers times 1000',
    every((row) => ({ follower_count: times(row.follower_count, 1_000) })),
    /50th percentile of follower_count/,
  ],
  [
    'with followers and posts swapped',
    every((row) => ({ follower_count: row.media_count, media_count: row.follower_count })),
    /percentile of follower_count/,
  ],
  [
    'with engagement as a fraction',
    every((row) => ({ engagement_rate: row.engagement_rate && row.engagement_rate / 100 })),
    /percentile of engagement_rate/,
  ],
  ['with countries recoded', every((row) => ({ country: row.country && `C-${row.country}` })), /country is "US"/],
  [
    'with the usernames sorted alone',
    (() => {
      const usernames = live.map(({ username }) => username).toSorted();
      return every((_row, i) => ({ username: usernames[i] ?? '' }));
    })(),
    /Usernames change for \d+ of 1500 kept creators \(9\d\.\d%; at most 5%\)/,
  ],
  [
    'with the names of one in fifteen exchanged',
    every((row, i) => ({ full_name: isOneIn(15, i) ? `Someone Else ${i}` : row.full_name })),
    /Names change for \d+ of 1500 kept creators \(6\.\d%/,
  ],
  [
    'with the emails sorted alone',
    (() => {
      const emails = live
        .map(({ extracted_email }) => extracted_email)
        .toSorted((a, b) => (a ?? '~').localeCompare(b ?? '~'));
      return every((_row, i) => ({ extracted_email: emails[i] ?? null }));
    })(),
    /Emails change for \d+ of 1500/,
  ],
  [
    'with newcomers who all have one email',
    [...live, ...newcomers(300).map((row) => ({ ...row, extracted_email: 'office@agency.example' }))],
    /Emails fall together: \d\d\.\d% are different ones, previously \d+\.\d%/,
  ],
  [
    'with a guard before each city',
    every(({ city }) => ({ city: city && `'${city}` })),
    /city begins with ' in 100\.0%/,
  ],
  ['with one category', every(() => ({ category: 'Other' })), /category is "other" in 100\.0%/],
  ['with places out of reach', every((row) => ({ city: row.city && `x${row.city}` })), /are in a metro, previously/],
];

const HONEST: [string, Row[]][] = [
  [
    'with one name in thirty changed',
    every((row, i) => ({ full_name: isOneIn(30, i) ? `${row.full_name} Neu` : row.full_name })),
  ],
  [
    'with usernames and emails in capitals',
    every((row) => ({ extracted_email: row.extracted_email?.toUpperCase() ?? null })),
  ],
  [
    'with emails for one in ten who had none',
    every((row, i) => ({ extracted_email: row.extracted_email ?? (isOneIn(10, i) ? `new${i}@mail.example` : null) })),
  ],
  ['the same', live],
  ['the same in another order', live.toReversed()],
  ['with a twentieth gone', live.filter((_row, i) => !isOneIn(20, i))],
  ['with newcomers', [...live, ...newcomers(150)]],
  ['twice as large', [...live, ...newcomers(CREATORS)]],
  ['with followers that grew', every((row, i) => ({ follower_count: times(row.follower_count, 1 + (i % 9) / 100) }))],
  [
    'with other engagement',
    every((row, i) => ({ engagement_rate: row.engagement_rate && row.engagement_rate * (0.9 + (i % 5) / 20) })),
  ],
  ['with new biographies', every((row) => ({ biography: row.biography && `${row.biography} New!` }))],
  [
    'with one email in twenty lost',
    every((row, i) => ({ extracted_email: isOneIn(20, i) ? null : row.extracted_email })),
  ],
  ['with some that moved', every((row, i) => (isOneIn(12, i) ? { city: 'Austin', state: 'TX', country: 'US' } : row))],
  ['with a new category', every((row, i) => ({ category: isOneIn(10, i) ? 'Podcasts' : row.category }))],
  ['with everyone a year older', every((row) => ({ age: row.age && row.age + 1 }))],
];

let directory: TestDirectory;
let base: string;

const ndjson = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const liveIndex = () => indexBehind(directory.elastic, directory.engines.alias);

async function importRows(rows: readonly object[], bounds = {}) {
  const source = await openFiles([await directory.file('rows.ndjson', ndjson(rows))]);
  return await importDirectory(directory.engines, { source, bounds, restart: true });
}

beforeAll(async () => {
  directory = await makeDirectory({}, { isForced: false });
  const report = await importRows(live);
  expect(report).toMatchObject({ held: [], comparison: undefined });
  base = report.index;
});
afterAll(() => directory.close());

describe('a file that would hurt', () => {
  it.each(SABOTAGED)('%s is held, and the live directory stays', async (_name, rows, reason) => {
    const report = await importRows(rows);
    expect(report.held.join('\n')).toMatch(reason);
    expect(await liveIndex()).toBe(base);
    expect(await indexExists(directory.elastic, report.index)).toBe(true);
  });
});

describe('an honest file', () => {
  it.each(HONEST)('%s is within the bounds', async (_name, rows) => {
    // Held by wish alone, so that the next file is compared with the same directory.
    expect((await importRows(rows, { mode: 'hold' })).held).toEqual(['It was started with --hold.']);
  });
});

describe('the comparison', () => {
  it('counts the creators that are new, gone and changed by field, and names some', async () => {
    const changed = [
      { ...first, city: 'Oslo', follower_count: 7 },
      { ...second, city: 'Oslo', biography: 'New.' },
    ];
    const rows = [...changed, ...live.slice(2, -3), ...newcomers(4)];
    const { comparison } = await importRows(rows, { mode: 'hold' });
    expect(comparison).toMatchObject({
      ...{ added: 4, removed: 3, changed: 2, unchanged: CREATORS - 5, isEstimated: false },
      changedFields: { city: 2, follower_count: 1, biography: 1 },
    });
    expect(comparison?.samples.changed).toEqual([first.pk, second.pk].sort((a, b) => a - b));
    expect(comparison?.samples.added).toEqual(
      newcomers(4)
        .map(({ pk }) => pk)
        .sort((a, b) => a - b),
    );
    const diff = await directory.run('diff', '--json', '--samples', '1');
    const shown = z.object({ added: z.number(), samples: z.object({ added: z.array(z.number()) }) });
    expect(shown.parse(JSON.parse(diff.out))).toMatchObject({ added: 4, samples: { added: [expect.any(Number)] } });
    expect((await directory.run('diff', base, base)).out).toContain('0 added, 0 removed, 1,500 unchanged');
  });
});

describe('a held import', () => {
  it('exits with 3, is shown by status, is kept by prune, and goes live when it is approved', async () => {
    const file = await directory.file('half.ndjson', ndjson(live.slice(0, 700)));
    const { code, out, err } = await directory.run('import', file, '--restart');
    expect(code).toBe(3);
    expect(err).toContain('800 of 1500 live creators are gone');
    const id = out.trim();
    expect((await directory.run('status')).out).toMatch(new RegExp(`held +${id} .*are gone`));
    await prune(directory.engines, 9, {});
    const approved = await directory.run('approve', id);
    expect(approved).toMatchObject({ code: 0, err: expect.stringContaining(`${base} is kept for a rollback`) });
    expect(await liveIndex()).toBe(approved.out.trim());
    expect(await directory.run('approve', id)).toMatchObject({ code: 1, err: expect.stringContaining('is live') });
    base = (await importRows(live, { mode: 'force' })).index;
  });

  it('is replaced by a newer one, and is removed when it is discarded', async () => {
    const [older, newer] = [await importRows(live.slice(0, 600)), await importRows(live.slice(0, 601))];
    expect(await indexExists(directory.elastic, older.index)).toBe(false);
    expect(await directory.run('approve', older.id)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is discarded'),
    });
    expect(await directory.run('discard', newer.id)).toMatchObject({ code: 0, out: `${newer.index}\n` });
    expect(await indexExists(directory.elastic, newer.index)).toBe(false);
    expect(await liveIndex()).toBe(base);
  });

  it('cannot be approved after something else went live; writes that it lacks are named', async () => {
    const stale = await importRows(live.slice(0, 600));
    base = (await importRows(live)).index;
    expect(await directory.run('approve', stale.id)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`${base} is live since`),
    });
    const fresh = await importRows(live.slice(0, 600));
    const source = await openFiles([await directory.file('upsert.ndjson', ndjson([first]))]);
    await upsertCreators(directory.engines, { source, rejectsFile: `${directory.folder}/rejects.ndjson` });
    expect(await directory.run('approve', fresh.id)).toMatchObject({
      code: 0,
      err: expect.stringContaining('Lost: upsert of 1 rows'),
    });
    base = (await importRows(live, { mode: 'force' })).index;
  });
});

describe('canaries', () => {
  it('hold an import that no longer finds what they name, also with --force', async () => {
    const canaries = ndjson([
      { query: { q: first.username }, min_total: 1, must_contain: [first.pk] },
      { query: { follower_min: 1 }, min_total: 1_000 },
    ]);
    const file = await directory.file('canaries.ndjson', canaries);
    const without = await directory.file('without.ndjson', ndjson(live.slice(1)));
    const held = await directory.run('import', without, '--force', '--canaries', file);
    expect(held).toMatchObject({ code: 3, err: expect.stringContaining(`does not find the creator ${first.pk}`) });
    const whole = await directory.file('whole.ndjson', ndjson(live));
    expect(await directory.run('import', whole, '--canaries', file, '--restart')).toMatchObject({ code: 0 });
    const wrong = await directory.file('wrong.ndjson', '{"query": {"town": "NYC"}}\n');
    expect(await directory.run('import', whole, '--canaries', wrong)).toMatchObject({
      code: 1,
      err: expect.stringContaining('town is not a parameter of search'),
    });
  });
});
