import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendChanges } from '../../src/directory/changes/changes.jobs.ts';
import { appendChanges, type CHANGE_TYPES, listChangedFields } from '../../src/directory/changes/changes.ts';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { generateCreators } from '../../src/directory/imports/indexing/sample.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { readStored } from '../../src/directory/imports/indexing/stored-creators.ts';
import { rollback } from '../../src/directory/imports/indexing/versions.ts';
import { deleteCreators, patchCreators, upsertCreators } from '../../src/directory/imports/indexing/writes.ts';
import { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { readHashes } from '../../src/kit/engines/elastic/hashes.ts';
import { indexBehind } from '../../src/kit/engines/elastic/indices.ts';
import { call, keysInTurn, makeBrand, startApp, type TestApp } from '../harness/app.ts';
import { creator } from '../harness/directory/directory.ts';
import { FORCED, makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';

type Creators = Map<number, DirectoryCreatorDetail>;
interface Change {
  pk: number;
  type: (typeof CHANGE_TYPES)[number];
  changed: string[];
}

const ndjson = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

let directory: TestDirectory;
let app: TestApp;
let nextKey: () => string;
beforeAll(async () => {
  directory = await makeDirectory();
  const { alias } = directory.engines;
  app = await startApp({ alias, urls: { postgres: directory.env.DATABASE_URL ?? '' } });
  nextKey = await keysInTurn(await makeBrand(app.context), 20);
});
afterAll(async () => {
  await app.close();
  await directory.close();
});

const sourceOf = async (rows: unknown[]) => await openFiles([await directory.file('rows.ndjson', ndjson(rows))]);
const rejectsFile = () => `${directory.folder}/rejects.ndjson`;

async function importRows(creators: Creators): Promise<string> {
  const source = await sourceOf([...creators.values()]);
  return (await importDirectory(directory.engines, { source, ...FORCED, restart: true })).index;
}

async function write(how: typeof upsertCreators, ...rows: unknown[]): Promise<void> {
  await how(directory.engines, { source: await sourceOf(rows), rejectsFile: rejectsFile() });
}

/** Everything after a point, page by page, once it is on its way. */
async function readFeed(query: string, limit = 70): Promise<{ changes: Change[]; next: string }> {
  await sendChanges(app.context);
  const changes: Change[] = [];
  for (let after = ''; ; ) {
    const { status, body } = await call(`${app.url}/v1/creators/changes?limit=${limit}&${after || query}`, nextKey());
    expect(status).toBe(200);
    for (const { pk, type, changed } of body.data) changes.push({ pk, type, changed });
    if (!body.has_more) return { changes, next: body.next_after };
    after = `after=${body.next_after}`;
  }
}

/** The live directory as it is stored. */
async function readLive(): Promise<Creators> {
  const { elastic, alias } = directory.engines;
  const index = (await indexBehind(elastic, alias)) ?? '';
  await elastic.client.indices.refresh({ index });
  const live: Creators = new Map();
  for await (const { pks } of readHashes(elastic, index)) {
    for (const [pk, { row }] of await readStored(elastic, index, pks))
      live.set(pk, DirectoryCreatorDetail.parse({ ...NOTHING, ...row }));
  }
  return live;
}
const NOTHING = { following_count: null, media_count: null, gender: null, age: null };

/** What a mirror of `before` becomes that follows the feed and reads what it names from the directory of now. */
function applied(before: Creators, changes: readonly Change[], now: Creators): Creators {
  const [mirror, whole, fields] = [new Map(before), new Set<number>(), new Map<number, Set<string>>()];
  for (const { pk, type, changed } of changes) {
    if (type === 'added') whole.add(pk);
    else if (type === 'updated') fields.set(pk, new Set([...(fields.get(pk) ?? []), ...changed]));
    else {
      for (const set of [mirror, whole, fields]) set.delete(pk);
    }
  }
  for (const [pk, names] of fields) {
    const [old, fresh] = [mirror.get(pk), now.get(pk)];
    const read = Object.entries(fresh ?? {}).filter(([name]) => names.has(name));
    if (old) mirror.set(pk, creator(pk, { ...old, ...Object.fromEntries(read) }));
  }
  for (const pk of whole) {
    const fresh = now.get(pk);
    if (fresh) mirror.set(pk, fresh);
  }
  return mirror;
}

const inOrder = (creators: Creators) => [...creators.values()].sort((a, b) => a.pk - b.pk);
const sorted = (changes: Change[]) => changes.map((change) => JSON.stringify(change)).sort();

/** What an import of `after` changes in `before`. */
function differences(before: Creators, after: Creators): Change[] {
  const gone = [...before.keys()].filter((pk) => !after.has(pk));
  return [
    ...gone.map((pk): Change => ({ pk, type: 'removed', changed: [] })),
    ...[...after].flatMap(([pk, row]): Change[] => {
      const old = before.get(pk);
      if (!old) return [{ pk, type: 'added', changed: [] }];
      const changed = listChangedFields(old, row);
      return changed.length === 0 ? [] : [{ pk, type: 'updated', changed }];
    }),
  ];
}

const sample = (count: number, seed: number): Creators =>
  new Map([...generateCreators(count, seed)].map((row) => [row.pk, creator(row.pk, row)]));

/** A next file of the source: some creators are gone, some new, some changed in a field or two. */
function nextOf(creators: Creators, seed: number): Creators {
  const next: Creators = new Map(sample(20, 1_000 + seed));
  for (const [i, row] of inOrder(creators).entries()) {
    if ((i + seed) % 11 === 0) continue;
    const isGrown = (i + seed) % 3 === 0 && { follower_count: (row.follower_count ?? 0) + seed };
    const isMoved = (i + seed) % 7 === 0 && { city: i % 2 ? null : 'Oakland', biography: `moved ${seed}` };
    next.set(row.pk, { ...row, ...(isGrown || {}), ...(isMoved || {}) });
  }
  return next;
}

describe('the feed of changes', () => {
  it('from version A to B turns A into B for imports, upserts, patches, deletes and a rollback, and contains nothing else', async () => {
    let model = sample(300, 1);
    const version = await importRows(model);
    const first = new Map(model);
    const expected: Change[] = [];
    async function importNext(seed: number): Promise<void> {
      const next = nextOf(model, seed);
      expected.push(...differences(model, next));
      model = next;
      await importRows(model);
    }
    async function writeSome(seed: number): Promise<void> {
      const [one, two, three, four, ...others] = inOrder(model).slice(seed);
      if (!one || !two || !three || !four) throw new Error('There are too few creators.');
      const [same, other, fresh] = [one, { ...two, age: 33, niches: null }, creator(90_000 + seed)];
      await write(upsertCreators, same, other, fresh, { ...fresh, username: 'again' });
      await write(patchCreators, { pk: three.pk, country: null, is_verified: true }, { pk: three.pk, age: three.age });
      await write(deleteCreators, four.pk, 424_242);
      const patched = { ...three, country: null, is_verified: true };
      expected.push(
        { pk: two.pk, type: 'updated', changed: listChangedFields(two, other) },
        { pk: fresh.pk, type: 'added', changed: [] },
        { pk: fresh.pk, type: 'updated', changed: ['username'] },
        { pk: three.pk, type: 'updated', changed: listChangedFields(three, patched) },
        { pk: four.pk, type: 'removed', changed: [] },
      );
      for (const row of [other, { ...fresh, username: 'again' }, patched]) model.set(row.pk, row);
      model.delete(four.pk);
      expect(others.length).toBeGreaterThan(100);
    }
    await writeSome(3);
    await importNext(1);
    await writeSome(8);
    const kept = new Map(model);
    await importNext(2);
    await writeSome(13);
    expected.push(...differences(model, kept));
    model = kept;
    await rollback(directory.engines, {});
    await importNext(3);
    const live = await readLive();
    expect(inOrder(live)).toEqual(inOrder(model));
    const { changes, next } = await readFeed(`since=${version}`);
    expect(sorted(changes)).toEqual(sorted(expected));
    expect(inOrder(applied(first, changes, live))).toEqual(inOrder(live));
    expect((await readFeed(`after=${next}`)).changes).toEqual([]);
  });

  it('is in the order of time, narrows by type and by field, and repeats nothing after a batch is sent twice', async () => {
    const version = await importRows(new Map([1, 2, 3].map((pk) => [pk, creator(pk)])));
    await write(patchCreators, { pk: 1, age: 41 }, { pk: 2, city: 'Oakland' });
    await write(deleteCreators, 3);
    await sendChanges(app.context);
    const { db } = directory.engines;
    const { rows } = { rows: await db.selectFrom('directoryChanges').selectAll().orderBy('seq').execute() };
    const last = rows.at(-1);
    await db
      .updateTable('directoryChanges')
      .set({ lines: '3\tremoved\t\t0\n' })
      .where('id', '=', last?.id ?? 0)
      .execute();
    const { changes } = await readFeed(`since=${version}`);
    expect(changes).toEqual([
      { pk: 1, type: 'updated', changed: ['age'] },
      { pk: 2, type: 'updated', changed: ['city'] },
      { pk: 3, type: 'removed', changed: [] },
    ]);
    expect((await readFeed(`since=${version}&type=removed`)).changes.map(({ pk }) => pk)).toEqual([3]);
    expect((await readFeed(`since=${version}&fields=city,state`)).changes.map(({ pk }) => pk)).toEqual([2, 3]);
    await appendChanges(db, { alias: directory.engines.alias, kind: 'forget', version }, new Date(), [
      { pk: 2, type: 'opted_out', fields: [], version: 0 },
    ]);
    expect((await readFeed(`since=${version}&type=opted_out`)).changes.map(({ pk }) => pk)).toEqual([2]);
  });

  it('refuses a start that it does not know, contradictions and data keys', async () => {
    const url = `${app.url}/v1/creators/changes`;
    for (const [query, field] of [
      ['since=creators-20200101-00000000', 'since'],
      ['since=2026-11-01&after=1.1', 'after'],
      ['after=x', 'after'],
      ['type=renamed', 'type'],
      ['fields=age,shoe_size', 'fields'],
    ]) {
      const { status, body } = await call(`${url}?${query}`, nextKey());
      expect([status, body.details?.[0]?.field]).toEqual([422, field]);
    }
    const data = await (await makeBrand(app.context, { credits: 100 })).key('data');
    expect((await call(url, data)).status).toBe(403);
  });
});

it('a start that is older than what is kept is refused with 409, and the feed without a start begins with what is kept', async () => {
  const { db, alias } = directory.engines;
  const age = (at: Date) => new Date(at.getTime() - 91 * 86_400_000);
  const [last] = await db
    .selectFrom('directoryChanges')
    .selectAll()
    .where('alias', '=', alias)
    .orderBy('seq', 'desc')
    .limit(1)
    .execute();
  const at = age(last?.at ?? new Date());
  await db.updateTable('directoryChanges').set({ at }).where('alias', '=', alias).execute();
  const version = await importRows(new Map([[9, creator(9)]]));
  await write(patchCreators, { pk: 9, age: 50 });
  await sendChanges(app.context);
  const { status, body } = await call(`${app.url}/v1/creators/changes?since=2020-01-01`, nextKey());
  expect([status, body.code]).toEqual([409, 'CONFLICT']);
  expect((await readFeed('type=updated')).changes).toEqual([{ pk: 9, type: 'updated', changed: ['age'] }]);
  expect((await readFeed(`since=${version}`)).changes).toHaveLength(1);
});
