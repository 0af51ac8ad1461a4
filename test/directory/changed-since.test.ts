import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendChanges } from '../../src/directory/changes/changes.jobs.ts';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { rollback } from '../../src/directory/imports/indexing/versions.ts';
import { deleteCreators, patchCreators, upsertCreators } from '../../src/directory/imports/indexing/writes.ts';
import {
  call,
  keysInTurn,
  ledgerOf,
  makeBrand,
  startApp,
  type TestApp,
  type TestBrand,
  until,
} from '../harness/app.ts';
import { creator } from '../harness/directory/directory.ts';
import { FORCED, makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';

const ndjson = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const DAY_MS = 86_400_000;

let directory: TestDirectory;
let app: TestApp;
let brand: TestBrand;
let nextKey: () => string;
beforeAll(async () => {
  directory = await makeDirectory();
  const { alias } = directory.engines;
  app = await startApp({ alias, urls: { postgres: directory.env.DATABASE_URL ?? '' } });
  brand = await makeBrand(app.context, { credits: 1_000 });
  nextKey = await keysInTurn(brand, 20);
});
afterAll(async () => {
  await app.close();
  await directory.close();
});

const sourceOf = async (rows: unknown[]) => await openFiles([await directory.file('rows.ndjson', ndjson(rows))]);

async function importRows(...rows: unknown[]): Promise<string> {
  const source = await sourceOf(rows);
  return (await importDirectory(directory.engines, { source, ...FORCED, restart: true })).index;
}

async function write(how: typeof upsertCreators, ...rows: unknown[]): Promise<void> {
  await how(directory.engines, { source: await sourceOf(rows), rejectsFile: `${directory.folder}/rejects.ndjson` });
}

const search = async (query: string, key = nextKey()) => await call(`${app.url}/v1/creators/search?${query}`, key);

interface Found {
  pks: number[];
  removed: number[];
  removed_total: number;
}

async function changedSince(since: string, more = ''): Promise<Found> {
  const { status, body } = await search(`changed_since=${encodeURIComponent(since)}${more}`);
  expect(status).toBe(200);
  const pks = body.data.map(({ pk }: { pk: number }) => pk).sort();
  expect(body.pagination.total).toBe(pks.length);
  return { pks, removed: body.meta.removed, removed_total: body.meta.removed_total };
}

/** Waits until the app shows this creator so: it looks for new versions and refreshes twice a second. */
async function untilShown(pks: number[]): Promise<void> {
  await until('the app to search what was written', async () => {
    const { body } = await search('limit=100');
    const found = (body.data ?? []).map(({ pk }: { pk: number }) => pk).sort();
    return JSON.stringify(found) === JSON.stringify(pks);
  });
  await sendChanges(app.context);
}

describe('changed_since', () => {
  it('finds what imports and writes changed after a time or a version, and names the creators that are gone', async () => {
    const version = await importRows(creator(1), creator(2), creator(3), creator(4));
    await untilShown([1, 2, 3, 4]);
    const before = new Date().toISOString();
    expect(await changedSince(version)).toEqual({ pks: [], removed: [], removed_total: 0 });
    const next = await importRows(creator(1), creator(2, { age: 31 }), creator(3), creator(5));
    await write(patchCreators, { pk: 3, city: 'Oakland', state: 'CA' }, { pk: 1, age: 30 });
    await write(deleteCreators, 5);
    await write(upsertCreators, creator(6));
    await untilShown([1, 2, 3, 6]);
    for (const since of [version, before]) {
      expect(await changedSince(since)).toEqual({ pks: [2, 3, 6], removed: [4], removed_total: 1 });
    }
    expect(await changedSince(next)).toEqual({ pks: [3, 6], removed: [5], removed_total: 1 });
    expect(await changedSince(new Date().toISOString())).toEqual({ pks: [], removed: [], removed_total: 0 });
    expect((await changedSince(before, '&city=bay area')).pks).toEqual([3]);
  });

  it('finds what an import changed for a time between its start and its swap', async () => {
    await importRows(creator(1), creator(2));
    await untilShown([1, 2]);
    const next = await importRows(creator(1), creator(2, { age: 60 }), creator(3));
    await untilShown([1, 2, 3]);
    const { startedAt, swappedAt } = await directory.engines.db
      .selectFrom('directoryImports')
      .select(['startedAt', 'swappedAt'])
      .where('indexName', '=', next)
      .executeTakeFirstOrThrow();
    const between = new Date((startedAt.getTime() + (swappedAt?.getTime() ?? 0)) / 2).toISOString();
    expect((await changedSince(between)).pks).toEqual([2, 3]);
    expect((await changedSince(swappedAt?.toISOString() ?? '')).pks).toEqual([]);
  });

  it('is echoed, previewed free of charge and found beside the removed only on the first page', async () => {
    const key = await brand.key('data');
    const since = '2026-01-01';
    const { body } = await search(`changed_since=${since}&fresh_within_days=2&preview=true`, key);
    expect(body.meta.interpretation.filters).toEqual({ changed_since: since, fresh_within_days: 2 });
    expect(body.meta).toHaveProperty('removed_total');
    expect(body.pagination.total).toBe(3);
    expect((await search(`changed_since=${since}&page=2&limit=2`)).body.meta).not.toHaveProperty('removed');
    expect((await ledgerOf(app.context, brand)).remaining).toBe(1_000);
    const unknown = await search('changed_since=creators-20200101-00000000', key);
    expect([unknown.status, unknown.body.details[0].field]).toEqual([422, 'changed_since']);
    expect((await ledgerOf(app.context, brand)).remaining).toBe(1_000);
  });
});

describe('a copy of filtered creators', () => {
  const bay = (pk: number, more = {}) =>
    creator(pk, { city: 'Oakland', state: 'CA', country: 'US', extracted_email: `a${pk}@x.example`, ...more });
  const COPIED = { city: 'Bay Area', has_email: 'true' };
  const filters = new URLSearchParams(COPIED).toString();

  it('is told in meta.left who changed and no longer matches, a thousand a page, free in a preview', async () => {
    const moved = Array.from({ length: 1_003 }, (_, i) => 10 + i);
    await importRows(bay(1), bay(2), bay(3), bay(4), ...moved.map((pk) => bay(pk)));
    await until('the import', async () => (await search(filters)).body.pagination.total === 1_007);
    const since = new Date().toISOString();
    await write(
      patchCreators,
      { pk: 1, city: 'Paris', state: null, country: 'France' },
      { pk: 2, extracted_email: null },
      { pk: 3, age: 40 },
      ...moved.map((pk) => ({ pk, city: 'Austin', state: 'TX' })),
    );
    await write(deleteCreators, 4);
    await write(upsertCreators, bay(5), bay(6, { city: 'Austin', state: 'TX' }));
    const key = await brand.key('data');
    const read = async (more: string) => {
      const { body } = await search(`changed_since=${since}&${filters}${more}`, key);
      return { pks: body.data.map(({ pk }: { pk: number }) => pk).sort(), ...body.meta };
    };
    await until('the writes', async () => (await read('&preview=true')).left_total === 1_005);
    const first = await read('&preview=true');
    expect([first.left.length, first.left.slice(0, 3), first.removed]).toEqual([1_000, [1, 2, 10], [4]]);
    expect((await read('&preview=true&page=2')).left).toEqual(moved.slice(-5));
    expect((await ledgerOf(app.context, brand)).remaining).toBe(1_000);
    expect((await read('')).pks).toEqual([3, 5]);
    const all = (await search(`changed_since=${since}&limit=1`)).body.meta;
    expect(all).toMatchObject({ left: [], left_total: 0 });
    const walked = await fetch(`${app.url}/v1/creators/search?changed_since=${since}&${filters}&walk=true`, {
      headers: { authorization: `Bearer ${nextKey()}` },
    });
    const texts = (await walked.text()).trim().split('\n');
    const lines: { pk?: number; left?: number }[] = texts.map((line) => JSON.parse(line));
    expect(lines.flatMap(({ pk }) => pk ?? []).sort()).toEqual([3, 5]);
    expect(lines.flatMap(({ left }) => left ?? [])).toEqual([1, 2, 4, ...moved]);
  });

  it('is told by a rollback what the earlier version changes back', async () => {
    await importRows(bay(1), bay(2), bay(3));
    await until('the import', async () => (await search(filters)).body.pagination.total === 3);
    await importRows(bay(1, { city: 'Paris', state: null, country: 'FR' }), bay(2), bay(4));
    await until('the bad import', async () => (await search('country=FR')).body.pagination.total === 1);
    const since = new Date().toISOString();
    await rollback(directory.engines, {});
    await until('the rollback', async () => (await search('country=FR')).body.pagination.total === 0);
    expect(await changedSince(since)).toEqual({ pks: [1, 3], removed: [4], removed_total: 1 });
    expect((await changedSince(new Date().toISOString())).pks).toEqual([]);
    const { body } = await call(`${app.url}/v1/creators/1`, nextKey());
    expect(body.meta.changed_at > since).toBe(true);
  });
});

describe('fresh_within_days', () => {
  it('finds creators whose data is at most that old, by the time of the row or else of the import', async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
    await importRows(
      creator(1),
      { ...creator(2), data_as_of: daysAgo(3) },
      { ...creator(3), data_as_of: daysAgo(40) },
      { ...creator(4), data_as_of: daysAgo(400) },
    );
    await untilShown([1, 2, 3, 4]);
    const totals = await Promise.all(
      [1, 7, 60, 3_650].map(async (days) => (await search(`fresh_within_days=${days}`)).body.pagination.total),
    );
    expect(totals).toEqual([1, 2, 3, 4]);
    expect((await search('fresh_within_days=0')).status).toBe(422);
  });
});
