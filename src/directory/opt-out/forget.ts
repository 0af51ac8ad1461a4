import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { indexBehind } from '../../kit/engines/elastic/indices.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { toAsciiAddress } from '../../kit/values/email.ts';
import { newId } from '../../kit/values/ids.ts';
import { appendChanges, type Change } from '../changes/changes.ts';
import { highestVersion } from '../imports/indexing/records.ts';
import type { DirectoryEngines } from '../imports/indexing/writer.ts';
import { removeFromSaved } from '../saved-searches/matches.ts';
import { type ForgottenSet, KEY_CONTEXT, openForgotten } from './forgotten.ts';
import { type Hashes, type Name, type NameFields, openHashes } from './hashes.ts';
import {
  addHashes,
  type Forgotten,
  findForgotten,
  findKey,
  finishForgotten,
  type HashRow,
  insertForgotten,
  insertKeyOnce,
  listForgotten,
  listKept,
  listUnfinishedForgotten,
  takeBack,
} from './opt-out.ts';
import { findNamed, isGone, listVersions, scan, takeOut } from './removal.ts';

const Removed = z.array(z.object({ index: z.string(), creators: z.number() }));
const Kept = z.array(z.object({ brand_id: z.string(), creator_id: z.string() }));
const Pks = z.array(z.number());

/** The result of an opt-out, without the data that it removed. */
export interface ForgottenRecord extends Omit<Forgotten, 'pks' | 'removed' | 'kept'> {
  /** For operators only. */
  pks: number[];
  removed: z.infer<typeof Removed>;
  /** Records that brands keep themselves; they were not touched. */
  kept: z.infer<typeof Kept>;
}

const sealingContext = (id: string) => `forgotten ${id}`;

function toRecord({ secrets }: Pick<DirectoryEngines, 'secrets'>, row: Forgotten): ForgottenRecord {
  const pks = row.pks === null ? [] : Pks.parse(JSON.parse(secrets().open(row.pks, sealingContext(row.id))));
  return { ...row, pks, removed: Removed.parse(row.removed), kept: Kept.parse(row.kept) };
}

export async function getForgotten(
  engines: Pick<DirectoryEngines, 'db' | 'secrets'>,
  id: string,
): Promise<ForgottenRecord> {
  const row = await findForgotten(engines.db, id);
  if (!row) throw new Error(`There is no opt-out ${id}.`);
  return toRecord(engines, row);
}

export async function listOptOuts(
  engines: Pick<DirectoryEngines, 'db' | 'secrets'>,
  limit: number,
): Promise<ForgottenRecord[]> {
  return (await listForgotten(engines.db, limit)).map((row) => toRecord(engines, row));
}

/** The key of all hashes, made by the first opt-out. */
async function makeHashes({ db, secrets }: DirectoryEngines): Promise<Hashes> {
  const sealedKey = (await findKey(db)) ?? (await insertKeyOnce(db, secrets().seal(randomBytes(32), KEY_CONTEXT)));
  return openHashes(secrets().openBytes(sealedKey, KEY_CONTEXT));
}

const toHashRow = (hashes: Hashes, name: Name): HashRow => ({
  kind: name.kind,
  hash: hashes.hashName(name),
  tag: hashes.tagName(name),
});

/** The pk and username, which identify each creator from now on: the email address may be an agency's. */
const listNames = (people: readonly NameFields[]): Name[] =>
  people.flatMap(({ pk, username }): Name[] => [
    { kind: 'pk', value: pk },
    { kind: 'username', value: username },
  ]);

/** The most changes in one entry of the feed. */
const CHANGES = 5_000;

/** The longest that an opt-out takes in another process. */
const UNDER_WAY_MS = MINUTE_MS;

type Find = (index: string) => Promise<NameFields[]>;

/** A version that was removed in the meantime contains no one. */
const unlessGone =
  (find: Find): Find =>
  (index) =>
    find(index).catch((error: unknown) => {
      if (isGone(error)) return [];
      throw error;
    });

function addCount(before: ForgottenRecord['removed'], index: string, creators: number): ForgottenRecord['removed'] {
  const countBefore = before.find((entry) => entry.index === index)?.creators ?? 0;
  const others = before.filter((entry) => entry.index !== index);
  return creators === 0 ? before : [...others, { index, creators: countBefore + creators }];
}

/**
 * Removes the creators of an opt-out from every version. The newest version that has any identifies them: their pks and
 * usernames are hashed too, so that no version brings them back under another email.
 */
async function removeEverywhere(
  engines: DirectoryEngines,
  hashes: Hashes,
  record: ForgottenRecord,
  { find, email }: { find: Find; email: string | undefined },
): Promise<ForgottenRecord> {
  const { db, elastic, clock, alias } = engines;
  const live = await indexBehind(elastic, alias);
  const indices = await listVersions(engines);
  const matches = new Map<string, NameFields[]>();
  for (const index of indices) matches.set(index, await unlessGone(find)(index));
  const people = [...matches.values()].find((rows) => rows.length > 0) ?? [];
  const names = listNames(people);
  await addHashes(
    db,
    record.id,
    names.map((name) => toHashRow(hashes, name)),
  );
  const forgotten = await openForgotten(engines, [record.id]);
  const leastVersion = await highestVersion(db, alias);
  let { removed } = record;
  const everyone: number[] = [];
  for (const index of indices) {
    const also = names.length > 0 ? await unlessGone((one) => findNamed(elastic, one, names, forgotten))(index) : [];
    const rowsByPk = new Map([...(matches.get(index) ?? []), ...also].map((row) => [row.pk, row]));
    // Also before: if this process dies, the versions no longer tell who it was.
    await removeFromSaved(db, [...rowsByPk.keys()]);
    await takeOut(engines, index, [...rowsByPk.values()], leastVersion);
    removed = addCount(removed, index, rowsByPk.size);
    everyone.push(...rowsByPk.keys());
    if (index !== live || rowsByPk.size === 0) continue;
    const changes = [...rowsByPk.keys()].map((pk): Change => ({ pk, type: 'opted_out', fields: [], version: 0 }));
    for (const some of toChunks(changes, CHANGES)) {
      await appendChanges(db, { alias, kind: 'forget', version: index }, clock.now(), some);
    }
  }
  const pks = [...new Set([...record.pks, ...people.map(({ pk }) => pk)])];
  await removeFromSaved(db, [...new Set([...pks, ...everyone])]);
  const usernames = people.map(({ username }) => username.toLowerCase());
  const keptCopies = await listKept(db, { usernames, email: email && toAsciiAddress(email).toLowerCase() });
  const finishedAt = clock.now();
  await finishForgotten(db, record.id, {
    pks: engines.secrets().seal(JSON.stringify(pks), sealingContext(record.id)),
    removed: JSON.stringify(removed),
    kept: JSON.stringify(keptCopies.length > 0 ? keptCopies : record.kept),
    finishedAt,
  });
  return { ...record, pks, removed, kept: keptCopies, finishedAt };
}

/**
 * Removes a creator from the directory for good, or everyone with an email address. The hash is recorded first: from then on no
 * import brings them back, even if this process dies before every version has lost them. It does not wait for other writers.
 */
export async function forget(
  engines: DirectoryEngines,
  name: Name,
  { reason, by }: { reason: string; by: Forgotten['requestedBy'] },
): Promise<ForgottenRecord> {
  const { db, elastic, clock } = engines;
  const hashes = await makeHashes(engines);
  const now = clock.now();
  const row = { id: newId('fgt', now.getTime()), named: name.kind, reason, requestedBy: by, createdAt: now };
  const { id } = await insertForgotten(db, row, toHashRow(hashes, name));
  const forgotten = await openForgotten(engines, [id]);
  // Saved searches may know a creator whom the directory has lost.
  if (name.kind === 'pk') await removeFromSaved(db, [name.value]);
  return await removeEverywhere(engines, hashes, await getForgotten(engines, id), {
    find: (index) => findNamed(elastic, index, [name], forgotten),
    email: name.kind === 'email' ? name.value : undefined,
  });
}

/** Lets imports bring the creator in again; nothing is restored. */
export async function remember(engines: Pick<DirectoryEngines, 'db' | 'secrets' | 'clock'>, id: string) {
  const before = await getForgotten(engines, id);
  if (!(await takeBack(engines.db, id, engines.clock.now()))) {
    throw new Error(`The opt-out ${id} was withdrawn on ${before.rememberedAt?.toISOString() ?? 'an earlier day'}.`);
  }
  return await getForgotten(engines, id);
}

/** Completes opt-outs whose process died or could not reach Elasticsearch. Only their hashes are known, so versions are read. */
export async function finishUnfinished(engines: DirectoryEngines): Promise<void> {
  const { db, elastic, clock } = engines;
  const before = new Date(clock.now().getTime() - UNDER_WAY_MS);
  for (const row of await listUnfinishedForgotten(db, before)) {
    const forgotten = await openForgotten(engines, [row.id]);
    await removeEverywhere(engines, await makeHashes(engines), toRecord(engines, row), {
      find: (index) => scan(elastic, index, forgotten),
      email: undefined,
    });
  }
}

/** Removes everyone who opted out from one index, which it reads completely. Returns how many. */
export async function takeOutForgotten(
  engines: DirectoryEngines,
  index: string,
  forgotten: ForgottenSet,
): Promise<number> {
  const matches = await scan(engines.elastic, index, forgotten);
  await takeOut(engines, index, matches, await highestVersion(engines.db, engines.alias));
  return matches.length;
}
