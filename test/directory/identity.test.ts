import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import type { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { indexBehind } from '../../src/kit/engines/elastic/indices.ts';
import { creator } from '../harness/directory/directory.ts';
import { FORCED, makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';

const CREATORS = 60;
const email = (pk: number) => `person${pk}@mail.example`;
const live = Array.from({ length: CREATORS }, (_, i) =>
  creator(100 + i, { full_name: `Person ${(i * 37) % CREATORS}`, extracted_email: email((i * 7) % CREATORS) }),
);
const ndjson = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const every = (change: (row: DirectoryCreatorDetail, i: number) => Partial<DirectoryCreatorDetail>) =>
  live.map((row, i) => ({ ...row, ...change(row, i) }));
const names = live.map(({ full_name }) => full_name).toSorted();

let directory: TestDirectory;
let base: string;
beforeAll(async () => {
  directory = await makeDirectory({}, { isForced: false });
  const source = await openFiles([await directory.file('live.ndjson', ndjson(live))]);
  base = (await importDirectory(directory.engines, { source, ...FORCED })).index;
});
afterAll(() => directory.close());

const import_ = async (rows: readonly object[], ...args: string[]) =>
  await directory.run('import', await directory.file('rows.ndjson', ndjson(rows)), '--restart', ...args);

describe('an import under which creators become others', () => {
  it.each([
    [
      'of which one column was sorted alone',
      every((_row, i) => ({ full_name: names[i] ?? null })),
      /Names change for \d+ of 60 kept creators \(\d+\.\d%; at most 5%\)/,
      /full_name, for example:(\n {2}\d+: Person \d+ → Person \d+){5}\n/,
    ],
    [
      'with other usernames',
      every((row) => ({ username: `x.${row.username}` })),
      /Usernames change for 60 of 60/,
      /username, for example:\n {2}1\d\d: creator1\d\d → x\.creator1\d\d\n/,
    ],
    [
      'whose emails fall together',
      every((row, i) => ({ extracted_email: i < 20 ? 'office@agency.example' : row.extracted_email })),
      /Emails fall together: \d\d\.\d% are different ones, previously 100\.0%/,
      /person\d+@mail\.example → office@agency\.example/,
    ],
    [
      'whose texts all begin with a guard',
      every((row) => ({ biography: `'${row.biography}` })),
      /biography begins with ' in 100\.0% of the rows/,
      /biography, for example:\n {2}1\d\d: I train\. → 'I train\.\n/,
    ],
  ])('%s is held, and shows five values before and after', async (_name, rows, reason, samples) => {
    const { code, err } = await import_(rows);
    expect([code, err]).toEqual([3, expect.stringMatching(reason)]);
    expect(err).toMatch(samples);
    expect(await indexBehind(directory.elastic, directory.engines.alias)).toBe(base);
    // Values of creators, who may opt out, stay out of the records.
    const rowsKept = await directory.engines.db.selectFrom('directoryImports').selectAll().execute();
    expect(JSON.stringify(rowsKept)).not.toMatch(/Person \d|person\d+@|office@|I train/);
  });

  it('goes live with --force, and by an approval that `diff` has shown to be right', async () => {
    const renamed = every((row) => ({ full_name: `${row.full_name} B` }));
    const held = await import_(renamed);
    const diff = await directory.run('diff');
    expect(diff.out).toMatch(/full_name, for example:\n {2}1\d\d: Person \d+ → Person \d+ B/);
    const Diff = z.object({
      changed_fields: z.object({ full_name: z.literal(CREATORS) }),
      is_estimated: z.literal(false),
      identity: z.record(z.string(), z.number()),
      examples: z.array(z.object({ field: z.string(), pk: z.number(), from: z.string().nullable() })).min(5),
      to: z.object({ profile: z.object({ in_metro: z.number() }) }),
    });
    const json: unknown = JSON.parse((await directory.run('diff', '--json')).out);
    expect(Diff.parse(json).identity).toMatchObject({ full_name: CREATORS, username: 0 });
    expect(JSON.stringify(json)).not.toMatch(/"[a-z]+[A-Z][A-Za-z]*":/);
    expect((await directory.run('approve', held.out.trim())).code).toBe(0);
    expect((await import_(live, '--force')).code).toBe(0);
  });

  it('is not one whose values are written otherwise, or only added', async () => {
    const rows = every((row, i) => ({
      full_name: row.full_name?.toUpperCase() ?? null,
      extracted_email: i % 10 === 0 ? (row.extracted_email?.toUpperCase() ?? null) : row.extracted_email,
    }));
    expect((await import_([...rows, creator(900), creator(901)])).code).toBe(0);
  });
});

describe('keys that were read as floats', () => {
  it.each([
    ['import', 'keys.csv', 'pk,username\n7,ana\n1.29808E+08,bo\n', /line 3 has 1\.29808E\+08/],
    ['import', 'comma.csv', 'pk;username\n"1,29808E+08";bo\n', /line 2 has 1,29808E\+08/],
    ['upsert', 'keys.csv', 'pk,username\n7,ana\n1.29808E+08,bo\n', /line 3 has 1\.29808E\+08/],
    ['upsert', 'point.csv', 'pk,username\n129808000.0,bo\n', /line 2 has 129808000\.0/],
    [
      'upsert',
      'zeros.csv',
      'pk,username\n4503599627370490,ana\n4503599627370510,bo\n4503599627370520,cy\n',
      /each of more than 15 digits ends in zeros/,
    ],
    ['upsert', 'keys.ndjson', '{"pk":1.29808E+08,"username":"bo"}\n', /1 × pk is a float, which may have lost digits/],
    ['delete', 'gone.txt', '1.29808E+08\n', /pk is a float/],
  ])('are refused in %s of %s, and change nothing', async (command, name, content, reason) => {
    const before = await directory.elastic.client.count({ index: directory.engines.alias });
    const { code, err } = await directory.run(command, await directory.file(name, content));
    expect([code, err]).toEqual([1, expect.stringMatching(reason)]);
    expect((await directory.elastic.client.count({ index: directory.engines.alias })).count).toBe(before.count);
  });
});

describe('a version', () => {
  it('is made live by its name or its import, and the one before by the name that a rollback gave', async () => {
    const alias = () => indexBehind(directory.elastic, directory.engines.alias);
    const [oldest, newest] = [(await import_(live, '--force')).out.trim(), (await import_(live, '--force')).out.trim()];
    const back = await directory.run('rollback', base);
    expect([back.code, back.out, await alias()]).toEqual([0, `${base}\n`, base]);
    const undo = /`indexer (rollback \S+)` undoes this/.exec(back.err)?.[1] ?? '';
    expect(undo).toBe(`rollback ${newest}`);
    const status = (await directory.run('status')).out;
    for (const version of [oldest, newest]) expect(status).toContain(`\`rollback ${version}\` makes it live`);
    expect((await directory.run(...undo.split(' '))).code).toBe(0);
    expect(await alias()).toBe(newest);
    // The version that the undoing left was not taken back: the next rollback returns to it.
    expect((await directory.run('rollback')).out).toBe(`${base}\n`);
    const row = await directory.engines.db
      .selectFrom('directoryImports')
      .select('id')
      .where('indexName', '=', oldest)
      .executeTakeFirstOrThrow();
    expect((await directory.run('rollback', row.id)).out).toBe(`${oldest}\n`);
  });

  it.each([
    ['rollback', 'nowhere', /nowhere is not a version that can be made live; `status` lists them/],
    ['verify', 'nowhere', /nowhere is not a version that is kept; `status` lists them/],
    ['verify', '*', /\* is not a version/],
    ['verify', 'No,Where', /No,Where is not a version/],
    ['diff', 'nowhere', /nowhere is not a version/],
    ['generate', '/nowhere/x', /There is no folder \/nowhere, so \/nowhere\/x cannot be written/],
  ])('that is none is refused by %s %s in plain words', async (command, name, words) => {
    const args = command === 'generate' ? ['--count', '1', '--out', name] : [name];
    const { code, err } = await directory.run(command, ...args);
    expect([code, err]).toEqual([1, expect.stringMatching(words)]);
    expect(err).not.toMatch(/_exception|ENOENT|root_cause|\{/);
  });
});
