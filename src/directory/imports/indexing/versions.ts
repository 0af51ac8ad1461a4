import { deleteIndex, indexBehind, indexExists, listIndices, wereLive } from '../../../kit/engines/elastic/indices.ts';
import { finishUnfinished } from '../../opt-out/forget.ts';
import {
  type DirectoryWrite,
  findHeld,
  findImportByIndex,
  findVersionRow,
  listRetired,
  listUnfinished,
  listWrites,
  updateImport,
} from './records.ts';
import { swapLive } from './swap.ts';
import { type DirectoryEngines, type WaitOptions, withWriterLock } from './writer.ts';

/** A previously live index is always kept this long, for clients paging through it and for rollbacks. */
const KEPT_MS = 3_600_000;

/** `creators-20261121-3f9a0c2e` for the alias `creators`. */
export function isIndexName(alias: string, name: string): boolean {
  return name.startsWith(`${alias}-`) && /^\d{8}-[0-9a-z]{6,}$/.test(name.slice(alias.length + 1));
}

/** A name that is no version's never reaches Elasticsearch, which has words of its own for it. */
export async function assertVersion({ elastic, alias }: DirectoryEngines, index: string): Promise<void> {
  if (isIndexName(alias, index) && (await indexExists(elastic, index))) return;
  throw new Error(`${index} is not a version that is kept; \`status\` lists them.`);
}

export interface RollbackReport {
  from: string;
  to: string;
  /** Upserts and deletes of the previously live index, which the other one lacks. */
  forgotten: DirectoryWrite[];
}

/** The version that is named by its index or its import; without a name, the one that was live before. */
async function findVersion({ db, elastic, alias }: DirectoryEngines, from: string, name: string | undefined) {
  const retiredVersions = await listRetired(db, alias);
  if (name === undefined) {
    for (const { state, indexName } of retiredVersions)
      if (state === 'superseded' && indexName && indexName !== from && (await indexExists(elastic, indexName)))
        return indexName;
    throw new Error(`No previous index is kept; ${from} stays live.`);
  }
  const { id, state, indexName } = (await findVersionRow(db, alias, name)) ?? {};
  if (indexName === from) throw new Error(`${name} is live already.`);
  if (state === 'held') throw new Error(`${name} is held; \`approve ${id}\` makes it live.`);
  const isKept = indexName && retiredVersions.some((one) => one.indexName === indexName);
  if (!isKept || !(await indexExists(elastic, indexName)))
    throw new Error(`${name} is not a version that can be made live; \`status\` lists them.`);
  return indexName;
}

/**
 * Makes the previously live index live again, or the version that is named; the version that it leaves can be named to undo
 * it. Without a name, a second call goes back one more.
 */
export async function rollback(
  engines: DirectoryEngines,
  options: WaitOptions & { version?: string | undefined },
): Promise<RollbackReport> {
  return await withWriterLock(engines, 'rollback', options, async (lock) => {
    const { elastic, db, alias } = engines;
    const from = await indexBehind(elastic, alias);
    if (from === undefined) throw new Error(`The alias ${alias} has no index.`);
    const to = await findVersion(engines, from, options.version);
    const forgotten = (await listWrites(db, from)).filter(({ rows }) => rows > 0);
    await finishUnfinished(engines);
    await swapLive(engines, { kind: 'rollback', from, to, isForward: await isNewer(db, to, from) }, lock);
    return { from, to, forgotten };
  });
}

/** A version that an older import built is one to return to, and not one that was taken back. */
async function isNewer(db: DirectoryEngines['db'], to: string, from: string): Promise<boolean> {
  const [one, other] = [await findImportByIndex(db, to), await findImportByIndex(db, from)];
  return one !== undefined && other !== undefined && one.startedAt > other.startedAt;
}

export interface PruneReport {
  removed: string[];
  /** Previous indices still kept, latest first. */
  kept: string[];
}

/**
 * Removes previous indices except the latest `keep`, and unfinished ones, but never the live one, a held one or one that
 * was live within the last hour. It holds the write lock, so no build is running.
 */
export async function prune(engines: DirectoryEngines, keep: number, options: WaitOptions): Promise<PruneReport> {
  return await withWriterLock(engines, 'prune', options, async () => {
    const { elastic, db, clock, alias } = engines;
    const now = clock.now();
    const [live, heldIndex, indices, onceLive, retiredVersions] = [
      await indexBehind(elastic, alias),
      (await findHeld(db, alias))?.indexName,
      await listIndices(elastic, `${alias}-`),
      await wereLive(elastic, alias),
      await listRetired(db, alias),
    ];
    const retiredAt = new Map(retiredVersions.map((row) => [row.indexName, row.retiredAt?.getTime() ?? 0]));
    const candidates = indices.filter(({ name }) => isIndexName(alias, name) && name !== live && name !== heldIndex);
    const previous = candidates
      .filter(({ name }) => onceLive.has(name))
      .map(({ name, createdAt }) => ({ name, leftAt: retiredAt.get(name) ?? createdAt.getTime() }))
      .sort((a, b) => b.leftAt - a.leftAt);
    const keptNames = previous
      .filter(({ leftAt }, i) => i < keep || now.getTime() - leftAt < KEPT_MS)
      .map(({ name }) => name);
    const removedNames = candidates.map(({ name }) => name).filter((name) => !keptNames.includes(name));
    for (const name of removedNames) await deleteIndex(elastic, name);
    for (const { id, indexName } of await listUnfinished(db, alias)) {
      if (!indexName || !removedNames.includes(indexName)) continue;
      await updateImport(db, id, { state: 'failed', failure: 'Its unfinished index was pruned.', updatedAt: now });
    }
    return { removed: removedNames, kept: keptNames };
  });
}
