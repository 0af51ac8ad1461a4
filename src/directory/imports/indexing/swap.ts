import { readHashes } from '../../../kit/engines/elastic/hashes.ts';
import { swapAlias } from '../../../kit/engines/elastic/indices.ts';
import { type Change, listChangedFields, stageChanges } from '../../changes/changes.ts';
import { mergeVersions } from './merge-versions.ts';
import { recordLive } from './records.ts';
import { readStored } from './stored-creators.ts';
import type { DirectoryEngines, WriterLock } from './writer.ts';

const FIRST_SIZE = 1_024;

/** A list of `pk`s, 8 bytes each. */
export interface PkList extends Iterable<number> {
  add(pk: number): void;
}

function createPkList(): PkList {
  let pks = new Float64Array(FIRST_SIZE);
  let count = 0;
  return {
    add: (pk) => {
      if (count === pks.length) {
        const larger = new Float64Array(pks.length * 2);
        larger.set(pks);
        pks = larger;
      }
      pks[count] = pk;
      count += 1;
    },
    [Symbol.iterator]: () => pks.subarray(0, count).values(),
  };
}

/** The creators that distinguish two versions. */
export interface DifferingPks {
  added: PkList;
  removed: PkList;
  /** In both, with another hash or without one. */
  differing: PkList;
}

export const createDifferingPks = (): DifferingPks => ({
  added: createPkList(),
  removed: createPkList(),
  differing: createPkList(),
});

const BATCH = 5_000;
/** Documents read at once, of each version. */
const READ = 1_000;

function* splitBatches<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function findDifferences({ elastic }: DirectoryEngines, from: string, to: string): Promise<DifferingPks> {
  const found = createDifferingPks();
  await mergeVersions(readHashes(elastic, from), readHashes(elastic, to), {
    added: found.added.add,
    removed: found.removed.add,
    same: () => undefined,
    differing: found.differing.add,
  });
  return found;
}

/** Reads the changes in creators that both versions have. */
async function readUpdates({ elastic }: DirectoryEngines, from: string, to: string, pks: number[]): Promise<Change[]> {
  const [before, after] = await Promise.all([readStored(elastic, from, pks), readStored(elastic, to, pks)]);
  return pks.flatMap((pk) => {
    const fields = listChangedFields(before.get(pk)?.row ?? {}, after.get(pk)?.row ?? {});
    return fields.length === 0 ? [] : [{ pk, type: 'updated' as const, fields, version: 0 }];
  });
}

export interface Swap {
  kind: 'import' | 'rollback';
  /** The live index; undefined if there is none. */
  from: string | undefined;
  to: string;
  /** The creators that differ, if they are known. */
  found?: DifferingPks | undefined;
}

async function stageSwap(engines: DirectoryEngines, { kind, from, to, found: known }: Swap): Promise<void> {
  const { db, alias } = engines;
  const stage = (changes: Change[]) => stageChanges(db, { alias, kind, version: to }, changes);
  // Marks the swap in the feed, even if nothing differs.
  await stage([]);
  if (from === undefined || from === to) return;
  const found = known ?? (await findDifferences(engines, from, to));
  for (const type of ['added', 'removed'] as const) {
    for (const pks of splitBatches(found[type], BATCH)) {
      await stage(pks.map((pk) => ({ pk, type, fields: [], version: 0 })));
    }
  }
  let updates: Change[] = [];
  for (const pks of splitBatches(found.differing, READ)) {
    updates.push(...(await readUpdates(engines, from, to, pks)));
    if (updates.length < BATCH) continue;
    await stage(updates);
    updates = [];
  }
  if (updates.length > 0) await stage(updates);
}

/** Moves the alias in one step, and reports what that changed. */
export async function swapLive(engines: DirectoryEngines, swap: Swap, lock: WriterLock): Promise<void> {
  const { elastic, db, clock, alias } = engines;
  await stageSwap(engines, swap);
  await lock.assertLocked();
  await swapAlias(elastic, alias, swap.from, swap.to);
  await recordLive(db, alias, swap.to, clock.now(), swap.kind === 'rollback' ? 'rolled_back' : 'superseded');
}
