import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ImportRequest, importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { findDamage } from '../../src/directory/imports/indexing/verify.ts';
import { upsertCreators } from '../../src/directory/imports/indexing/writes.ts';
import type { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { call, keysInTurn, makeBrand, startApp, type TestApp, until } from '../harness/app.ts';
import { creator } from '../harness/directory/directory.ts';
import { FORCED, makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';

const ndjson = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

let directory: TestDirectory;
let app: TestApp;
let nextKey: () => string;
beforeAll(async () => {
  directory = await makeDirectory();
  app = await startApp({ alias: directory.engines.alias });
  nextKey = await keysInTurn(await makeBrand(app.context), 20);
});
afterAll(async () => {
  await app.close();
  await directory.close();
});

async function importRows(rows: unknown[], more: Partial<ImportRequest> = {}) {
  const source = await openFiles([await directory.file('rows.ndjson', ndjson(rows))]);
  const report = await importDirectory(directory.engines, { source, ...FORCED, restart: true, ...more });
  await until('the app to search the new version', async () => {
    const { headers } = await call(`${app.url}/v1/creators/search?preview=true`, nextKey());
    return headers.get('x-directory-version') === report.index;
  });
  return report;
}

async function upsert(...rows: unknown[]): Promise<void> {
  const source = await openFiles([await directory.file('upsert.ndjson', ndjson(rows))]);
  await upsertCreators(directory.engines, { source, rejectsFile: `${directory.folder}/rejects.ndjson` });
}

const getCreator = async (pk: number) => (await call(`${app.url}/v1/creators/${pk}`, nextKey())).body;
const changedAtOf = async (pk: number): Promise<string> => (await getCreator(pk)).meta.changed_at;

describe('the time at which a creator last changed', () => {
  it('stays in an import that brings the same content, and is the time of one that brings other content', async () => {
    const [same, other] = [creator(1), creator(2)];
    await importRows([same, other]);
    const [first, second] = [await changedAtOf(1), await changedAtOf(2)];
    expect(second).toBe(first);
    const { index } = await importRows([
      { ...same, data_as_of: '2026-01-02T03:04:05.000Z' },
      { ...other, follower_count: 1_001 },
      creator(3),
    ]);
    expect(await changedAtOf(1)).toBe(first);
    expect(Date.parse(await changedAtOf(2))).toBeGreaterThan(Date.parse(second));
    expect(await changedAtOf(3)).toBe(await changedAtOf(2));
    expect(await findDamage(directory.engines, index)).toEqual([]);
  });

  it('stays in an upsert of the same row, which still brings its time and source', async () => {
    await importRows([creator(1), creator(2)], { sourceName: 'crawl' });
    const before = await getCreator(1);
    expect(before.meta.source).toBe('crawl');
    expect(before.meta.data_as_of).not.toBeNull();
    await upsert({ ...creator(1), data_as_of: '2026-02-03T00:00:00+01:00' }, creator(2, { age: 31 }));
    const after = await getCreator(1);
    expect(after.data).toEqual(before.data);
    expect(after.meta).toEqual({
      data_as_of: '2026-02-02T23:00:00.000Z',
      changed_at: before.meta.changed_at,
      source: null,
    });
    expect(Date.parse(await changedAtOf(2))).toBeGreaterThan(Date.parse(before.meta.changed_at));
  });

  it('is in meta.freshness of a search with with=freshness, in the order of the page, and the creators are unchanged', async () => {
    await importRows([creator(1, { follower_count: 5 }), creator(2, { follower_count: 9 })]);
    const search = `${app.url}/v1/creators/search`;
    const { body: bare } = await call(search, nextKey());
    const { body, status } = await call(`${search}?with=freshness`, nextKey());
    expect(status).toBe(200);
    expect(body.data).toEqual(bare.data);
    expect(bare.meta).not.toHaveProperty('freshness');
    const { data_as_of, changed_at } = (await getCreator(2)).meta;
    expect(body.meta.freshness).toEqual([
      { pk: 2, data_as_of, changed_at },
      { pk: 1, data_as_of, changed_at: (await getCreator(1)).meta.changed_at },
    ]);
    expect((await call(`${search}?with=cards`, nextKey())).status).toBe(422);
  });
});

describe('indexer patch', () => {
  const rowOf = async (pk: number): Promise<DirectoryCreatorDetail> => (await getCreator(pk)).data;

  it('changes the fields that a row has, clears those that are null, and leaves the others', async () => {
    await importRows([creator(1, { city: 'Oakland', state: 'CA', external_url: 'https://one.example' }), creator(2)]);
    const before = await getCreator(1);
    const file = await directory.file(
      'patch.ndjson',
      ndjson([{ pk: 1, city: 'Austin', state: 'TX', external_url: null }]),
    );
    expect(await directory.run('patch', file, '--source', 'desk')).toMatchObject({ code: 0, out: '1\n' });
    const after = await getCreator(1);
    expect(after.data).toEqual({ ...before.data, city: 'Austin', state: 'TX', external_url: null });
    expect(after.meta).toMatchObject({ data_as_of: before.meta.data_as_of, source: 'desk' });
    expect(Date.parse(after.meta.changed_at)).toBeGreaterThan(Date.parse(before.meta.changed_at));
    const found = await call(`${app.url}/v1/creators/search?city=Austin, TX`, nextKey());
    expect(found.body.data.map(({ pk }: { pk: number }) => pk)).toEqual([1]);
  });

  it('reads a missing column of a CSV as unchanged and an empty cell as cleared', async () => {
    await importRows([creator(1), creator(2)]);
    const file = await directory.file('patch.csv', 'pk,age,gender\n1,,male\n');
    expect(await directory.run('patch', file)).toMatchObject({ code: 0 });
    expect(await rowOf(1)).toEqual({ ...creator(1), age: null, gender: 'male' });
  });

  it('rejects an unknown pk, a field that breaks its rule and a cleared username, and writes the other rows', async () => {
    await importRows([creator(1), creator(2)]);
    const rows = [{ pk: 404, age: 1 }, { pk: 1, age: -1 }, { pk: 1, username: null }, { age: 3 }, { pk: 2, age: 44 }];
    const rejects = `${directory.folder}/rejected.ndjson`;
    const file = await directory.file('patch.ndjson', ndjson(rows));
    const { code, out } = await directory.run('patch', file, '--rejects', rejects);
    expect([code, out]).toEqual([1, '1\n']);
    const lines = (await readFile(rejects, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ line, field }) => [line, field]).sort()).toEqual([
      [1, 'pk'],
      [2, 'age'],
      [3, 'username'],
      [4, 'pk'],
    ]);
    expect(await rowOf(1)).toEqual(creator(1));
    expect((await rowOf(2)).age).toBe(44);
  });
});
