import { postBulk } from '../../../kit/engines/elastic/bulk.ts';
import { readHashes } from '../../../kit/engines/elastic/hashes.ts';
import { getMappingVersion, readDocuments, refreshIndex, swapAlias } from '../../../kit/engines/elastic/indices.ts';
import { type Change, listChangedFields, stageChanges } from '../../changes/changes.ts';
import { takeOutForgotten } from '../../opt-out/forget.ts';
import { openForgotten } from '../../opt-out/forgotten.ts';
import { documentFor, toDocument } from '../../search/document.ts';
import { actionLine } from './action-line.ts';
import { mergeVersions } from './merge-versions.ts';
import { recordLive } from './records.ts';
import { parseStoredCreator, readStored } from './stored-creators.ts';
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
  const differing = createDifferingPks();
  await mergeVersions(readHashes(elastic, from), readHashes(elastic, to), {
    added: differing.added.add,
    removed: differing.removed.add,
    same: () => undefined,
    differing: differing.differing.add,
  });
  return differing;
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
  /** A rollback to a newer version, which undoes one: the version that it leaves was not taken back. */
  isForward?: boolean;
}

/**
 * Creators that a rollback changes back have changed for whoever reads by `changed_since`, although the older index had them
 * so before: their `changed_at` becomes that of the rollback.
 */
async function openTouch(engines: DirectoryEngines, index: string) {
  const { elastic, clock } = engines;
  const changedAt = clock.now().getTime();
  const mapping = await getMappingVersion(elastic, index);
  const optedOut = await openForgotten(engines);
  return {
    touch: async (pks: readonly number[]): Promise<void> => {
      for (const some of splitBatches(pks, READ)) {
        const lines = (await readDocuments(elastic, index, some.map(String))).map(({ version, source }) => {
          const { row, facts } = parseStoredCreator(source);
          const document = JSON.stringify(documentFor(mapping, toDocument(row, { ...facts, changedAt })));
          return `${actionLine('index', row.pk, version)}${document}\n`;
        });
        if (lines.length > 0) await postBulk(elastic, index, lines.join(''));
      }
    },
    end: async (): Promise<void> => {
      await refreshIndex(elastic, index);
      // Creators who opted out while their rows were written again.
      if (await optedOut.refresh()) await takeOutForgotten(engines, index, optedOut);
    },
  };
}

async function stageSwap(engines: DirectoryEngines, { kind, from, to, found: known }: Swap): Promise<void> {
  const { db, alias } = engines;
  const stage = (changes: Change[]) => stageChanges(db, { alias, kind, version: to }, changes);
  // Marks the swap in the feed, even if nothing differs.
  await stage([]);
  if (from === undefined || from === to) return;
  const differing = known ?? (await findDifferences(engines, from, to));
  const back = kind === 'rollback' ? await openTouch(engines, to) : undefined;
  for (const type of ['added', 'removed'] as const) {
    for (const pks of splitBatches(differing[type], BATCH)) {
      await stage(pks.map((pk) => ({ pk, type, fields: [], version: 0 })));
      if (type === 'added') await back?.touch(pks);
    }
  }
  let updates: Change[] = [];
  for (const pks of splitBatches(differing.differing, READ)) {
    const changes = await readUpdates(engines, from, to, pks);
    await back?.touch(changes.map(({ pk }) => pk));
    updates.push(...changes);
    if (updates.length < BATCH) continue;
    await stage(updates);
    updates = [];
  }
  if (updates.length > 0) await stage(updates);
  await back?.end();
}

/** Moves the alias in one step, and reports what that changed. */
export async function swapLive(engines: DirectoryEngines, swap: Swap, lock: WriterLock): Promise<void> {
  const { elastic, db, clock, alias } = engines;
  await stageSwap(engines, swap);
  await lock.assertLocked();
  await swapAlias(elastic, alias, swap.from, swap.to);
  await recordLive(
    db,
    alias,
    swap.to,
    clock.now(),
    swap.kind === 'rollback' && !swap.isForward ? 'rolled_back' : 'superseded',
  );
}
