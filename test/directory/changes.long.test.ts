import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { finishChanges, sendChanges } from '../../src/directory/changes/changes.jobs.ts';
import { type CHANGE_TYPES, hasStaged, listChangedFields } from '../../src/directory/changes/changes.ts';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { generateCreators } from '../../src/directory/imports/indexing/sample.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { readStored } from '../../src/directory/imports/indexing/stored-creators.ts';
import { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { readHashes } from '../../src/kit/engines/elastic/hashes.ts';
import { indexBehind } from '../../src/kit/engines/elastic/indices.ts';
import { call, keysInTurn, makeBrand, startApp, type TestApp, until } from '../harness/app.ts';
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

async function importRows(creators: Creators): Promise<string> {
  const source = await sourceOf([...creators.values()]);
  return (await importDirectory(directory.engines, { source, ...FORCED, restart: true })).index;
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

describe('a writer that is killed', () => {
  it('leaves a feed that still leads to the directory, without another writer', async () => {
    const version = await importRows(sample(50, 7));
    const before = await readLive();
    const rows = [...generateCreators(30_000, 8)].map((row, i) => (i % 2 ? row : { ...row, pk: row.pk + 1 }));
    const file = await directory.file('many.ndjson', ndjson(rows));
    const upsert = directory.start('upsert', file);
    await until('some rows to be written', async () => {
      const found = await directory.engines.db
        .selectFrom('directoryWrites')
        .select('rows')
        .orderBy('startedAt', 'desc')
        .executeTakeFirst();
      return (found?.rows ?? 0) >= 2_000;
    });
    upsert.child.kill('SIGKILL');
    await upsert.finished;
    await until('the changes to be finished', async () => {
      await finishChanges(app.context);
      return !(await hasStaged(directory.engines.db, directory.engines.alias));
    });
    const live = await readLive();
    expect(live.size).toBeLessThan(30_000);
    const { changes } = await readFeed(`since=${version}`, 1_000);
    expect(inOrder(applied(before, changes, live))).toEqual(inOrder(live));
    expect(sorted(changes)).toEqual(sorted(differences(before, live)));
  });
});
