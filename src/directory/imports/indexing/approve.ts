import { addReplicas, deleteIndex, indexBehind, indexExists } from '../../../kit/engines/elastic/indices.ts';
import { finishUnfinished } from '../../opt-out/forget.ts';
import { Comparison } from './comparison.ts';
import { ONE_NODE } from './index-definition.ts';
import type { Judgement } from './judge.ts';
import { NODE_PATIENCE_MS } from './lost-nodes.ts';
import {
  type DirectoryImport,
  type DirectoryWrite,
  findHeld,
  findImport,
  listWrites,
  updateImport,
} from './records.ts';
import { type DifferingPks, swapLive } from './swap.ts';
import { type DirectoryEngines, type WaitOptions, type WriterLock, withWriterLock } from './writer.ts';

/** Makes an index live. Returns the one that was live before, from which it differs in `found` if that is known. */
export async function goLive(
  engines: DirectoryEngines,
  { id }: Pick<DirectoryImport, 'id'>,
  index: string,
  lock: WriterLock,
  differing?: DifferingPks,
): Promise<string | undefined> {
  const { elastic, db, clock, alias } = engines;
  const previous = await indexBehind(elastic, alias);
  await swapLive(engines, { kind: 'import', from: previous, to: index, found: differing }, lock);
  await updateImport(db, id, { progress: 1, failure: null, updatedAt: clock.now() });
  return previous;
}

async function discardRow(engines: DirectoryEngines, row: DirectoryImport, failure: string): Promise<void> {
  const { elastic, db, clock } = engines;
  if (row.indexName) await deleteIndex(elastic, row.indexName);
  await updateImport(db, row.id, { state: 'discarded', failure, updatedAt: clock.now() });
}

/** Holds an import until an operator decides. Returns the import that was held before, which it replaces. */
export async function setAside(
  engines: DirectoryEngines,
  { id }: DirectoryImport,
  { reasons }: Judgement,
): Promise<string | undefined> {
  const { db, clock, alias } = engines;
  const before = await findHeld(db, alias);
  if (before) await discardRow(engines, before, `The import ${id} was held in its place.`);
  const failure = reasons.join(' ');
  await updateImport(db, id, { state: 'held', reasons, failure, progress: 1, updatedAt: clock.now() });
  return before?.id;
}

async function getHeld({ db, alias }: DirectoryEngines, id: string): Promise<DirectoryImport & { indexName: string }> {
  const row = await findImport(db, id);
  if (!row || row.alias !== alias) throw new Error(`There is no import ${id} of ${alias}.`);
  const { state, indexName } = row;
  if (state !== 'held' || indexName === null)
    throw new Error(`The import ${id} is ${state}; only a held import can be approved or discarded.`);
  return { ...row, indexName };
}

export interface ApprovalReport {
  index: string;
  previousIndex: string | undefined;
  /** Upserts and deletes since the import was compared, which its index lacks. */
  lost: DirectoryWrite[];
}

/** Makes a held import live, unless something else went live since it was compared. */
export async function approveImport(
  engines: DirectoryEngines,
  id: string,
  options: WaitOptions,
): Promise<ApprovalReport> {
  return await withWriterLock(engines, 'approve', options, async (lock) => {
    const { elastic, db, alias, layout = ONE_NODE } = engines;
    const row = await getHeld(engines, id);
    const { indexName: index } = row;
    const comparedWith = Comparison.nullish().parse(row.comparison)?.from.index;
    const live = await indexBehind(elastic, alias);
    if (live !== comparedWith) {
      throw new Error(
        `${live ?? 'Nothing'} is live since ${id} was compared with ${comparedWith ?? 'nothing'}; import the files again.`,
      );
    }
    if (!(await indexExists(elastic, index)))
      throw new Error(`The index ${index} of ${id} is gone; import the files again.`);
    const writes = live === undefined ? [] : await listWrites(db, live);
    const lostWrites = writes.filter(({ rows, startedAt }) => rows > 0 && startedAt > row.updatedAt);
    await finishUnfinished(engines);
    const onWait = () => options.signal?.throwIfAborted();
    await addReplicas(elastic, index, layout.replicas, { patienceMs: NODE_PATIENCE_MS, onWait });
    return { index, previousIndex: await goLive(engines, row, index, lock), lost: lostWrites };
  });
}

/** Removes a held import with its index. */
export async function discardImport(engines: DirectoryEngines, id: string, options: WaitOptions): Promise<string> {
  return await withWriterLock(engines, 'discard', options, async () => {
    const row = await getHeld(engines, id);
    await discardRow(engines, row, 'It was discarded.');
    return row.indexName;
  });
}
