import {
  addReplicas,
  assertNodes,
  deleteIndex,
  endQuiet,
  indexBehind,
  mergeToOneSegment,
  refreshIndex,
  ShardsLost,
} from '../../../kit/engines/elastic/indices.ts';
import { ignoreFailure } from '../../../kit/values/errors.ts';
import { takeOutForgotten } from '../../opt-out/forget.ts';
import { type ForgottenSet, openForgotten } from '../../opt-out/forgotten.ts';
import { storeCuts } from '../../search/cuts.ts';
import { goLive, setAside } from './approve.ts';
import type { Bounds } from './bounds.ts';
import { type BuildResult, buildIndex, Interrupted, type Tally } from './build.ts';
import type { Comparison } from './comparison.ts';
import { BrokenTable } from './csv.ts';
import type { Example } from './identity.ts';
import { ONE_NODE, readDefinition } from './index-definition.ts';
import { judge } from './judge.ts';
import { type LiveCreators, readLiveCreators } from './live-creators.ts';
import { awaitShards, NODE_PATIENCE_MS, type Persistence, retryThroughNodeLoss } from './lost-nodes.ts';
import type { DirectoryMapping } from './mapping.ts';
import { type DirectoryImport, updateImport } from './records.ts';
import { type RejectLimit, readRejectLimit, TooManyRejects } from './rejects.ts';
import type { Source } from './source.ts';
import { beginImport, DEFAULT_MAX_REJECTS, startBuilding } from './start-import.ts';
import { VerificationFailed, verifyBuilt } from './verify.ts';
import { type DirectoryEngines, type WaitOptions, type WriterLock, withWriterLock } from './writer.ts';

export type ImportPhase = 'bulk' | 'merge' | 'verify' | 'compare' | 'replicas' | 'swap';

export interface ImportProgress extends Tally {
  phase: ImportPhase;
  /** Progress of reading, or of copying to other nodes, from 0 to 1; null if the size is unknown. */
  progress: number | null;
}

export interface ImportRequest extends WaitOptions {
  source: Source;
  /** `100` rows, or `1%` of them. With more rejects, the import stops before the swap. */
  maxRejects?: string | undefined;
  rejectsFile?: string | undefined;
  /** The operator's name for the source of the rows. */
  sourceName?: string | undefined;
  /** The mapping by which the files are read; omitted if their columns are called like our fields. */
  mapping?: DirectoryMapping | undefined;
  /** Limits on the difference between the new index and the live one; omitted bounds have their defaults. */
  bounds?: Partial<Bounds> | undefined;
  /** Starts over even if an import of the same files could be resumed. */
  restart?: boolean | undefined;
  /** Only resumes a recorded import; if another worker has ended it in the meantime, it is not started again. */
  isEnqueued?: boolean | undefined;
  /** The import waits this long for a lost node before it continues without it. */
  nodePatienceMs?: number | undefined;
  onProgress?: (progress: ImportProgress) => void;
  /** Reports something that an operator should know, in a sentence. */
  onNotice?: (notice: string) => void;
}

export interface ImportReport extends Omit<BuildResult, 'samples' | 'distinct' | 'fill' | 'leftOut' | 'guarded'> {
  id: string;
  index: string;
  /** Why it is held, a sentence each; empty if it is live. */
  held: string[];
  /** Values before and after, in the fields for which it is held. */
  examples: Example[];
  /** The differences from the index that was live; undefined for a first import. */
  comparison: Comparison | undefined;
  previousIndex: string | undefined;
  documents: number;
  /** Accepted rows that a later row with the same `pk` replaced. */
  repeated: number;
  /** Rows read back and compared field by field. */
  compared: number;
  rejectsFile: string | undefined;
  phasesMs: Record<ImportPhase, number>;
}

function parseRejectLimit(text: string): RejectLimit {
  const limit = readRejectLimit(text);
  if (!limit) throw new Error(`${text} is neither a number of rows nor a percentage.`);
  return limit;
}

interface Build {
  engines: DirectoryEngines;
  request: ImportRequest;
  row: DirectoryImport;
  index: string;
}

async function fillIndex(
  { engines, request, row, index }: Build,
  live: LiveCreators | undefined,
  forgotten: ForgottenSet,
): Promise<BuildResult> {
  const { elastic, db, clock } = engines;
  const { source } = request;
  const buildResult = await buildIndex({
    elastic,
    index,
    source,
    acknowledged: row.position,
    importedAt: row.startedAt.getTime(),
    forgotten,
    sourceName: row.source ?? undefined,
    findChangedAt: (pk, hash) => live?.findChangedAt(pk, hash),
    rejectLimit: parseRejectLimit(row.maxRejects),
    rejectsFile: row.rejectsFile,
    signal: request.signal,
    patienceMs: request.nodePatienceMs,
    onProgress: (tally) => request.onProgress?.({ phase: 'bulk', progress: source.progress(), ...tally }),
    onRetry: (reason) => request.onNotice?.(`Elasticsearch did not accept a batch, trying again: ${reason}`),
    onCheckpoint: async (position, { accepted, rejected }) => {
      const progress = source.progress();
      await updateImport(db, row.id, { position, progress, accepted, rejected, updatedAt: clock.now() });
    },
  });
  if (buildResult.accepted === 0)
    throw new TooManyRejects('There are no rows to import; an empty directory is never swapped in.');
  return buildResult;
}

/** An import can be stopped until the swap; the same command then resumes from here. */
function assertNotStopped({ signal }: ImportRequest, { rows }: Tally): void {
  if (signal?.aborted) throw new Interrupted(rows);
}

function toPersistence({ engines, request, index }: Build, onWait: () => void): Persistence {
  return {
    elastic: engines.elastic,
    index,
    onWait,
    patienceMs: request.nodePatienceMs ?? NODE_PATIENCE_MS,
    onNotice: (notice) => request.onNotice?.(notice),
  };
}

/** Prepares the index for searches: refreshed, one segment per shard, with its own refresh interval and cuts. */
async function settleIndex(build: Build, tally: Tally): Promise<void> {
  const { engines, request, index } = build;
  const { elastic, layout = ONE_NODE } = engines;
  const { definition } = await readDefinition(layout);
  function report(): void {
    // Elasticsearch continues merging, which is harmless.
    assertNotStopped(request, tally);
    request.onProgress?.({ phase: 'merge', progress: 1, ...tally });
  }
  report();
  await retryThroughNodeLoss(toPersistence(build, report), async () => {
    await refreshIndex(elastic, index);
    await mergeToOneSegment(elastic, index, report);
    await endQuiet(elastic, index, definition);
    await refreshIndex(elastic, index);
    await storeCuts(elastic, index);
  });
}

/** Copies the index to other nodes. The alias moves only when each shard has all copies that the nodes can hold. */
async function copyIndex(build: Build, tally: Tally): Promise<void> {
  const { engines, request, index } = build;
  const { elastic, layout = ONE_NODE } = engines;
  const report = (progress: number) => {
    assertNotStopped(request, tally);
    request.onProgress?.({ phase: 'replicas', progress, ...tally });
  };
  const persistence = toPersistence(build, () => report(0));
  const { patienceMs } = persistence;
  const missing = await retryThroughNodeLoss(persistence, () =>
    addReplicas(elastic, index, layout.replicas, { patienceMs, onWait: report }),
  );
  if (missing === 0) return;
  request.onNotice?.(
    `${missing} replicas are missing because there are too few nodes; Elasticsearch adds them when nodes join.`,
  );
}

function isLasting(error: unknown): boolean {
  if (error instanceof TooManyRejects || error instanceof VerificationFailed) return true;
  return error instanceof Error && error.cause instanceof BrokenTable;
}

/** An error that a retry cannot fix ends the import and its index; any other keeps the checkpoint to resume from. */
async function recordFailure({ engines, row, index }: Build, error: unknown): Promise<void> {
  const { elastic, db, clock } = engines;
  const failure = error instanceof Interrupted ? null : error instanceof Error ? error.message : String(error);
  const isFinal = isLasting(error) || row.identity === null;
  if (isFinal) await deleteIndex(elastic, index);
  await updateImport(db, row.id, { ...(isFinal ? { state: 'failed' } : {}), failure, updatedAt: clock.now() });
}

async function run(build: Build, lock: WriterLock): Promise<ImportReport> {
  const { engines, request, row, index } = build;
  const phasesMs: Record<ImportPhase, number> = { bulk: 0, merge: 0, verify: 0, compare: 0, replicas: 0, swap: 0 };
  async function timed<T>(phase: ImportPhase, work: Promise<T>): Promise<T> {
    const from = performance.now();
    const result = await work;
    phasesMs[phase] = Math.round(performance.now() - from);
    return result;
  }
  const forgotten = await openForgotten(engines);
  const before = await indexBehind(engines.elastic, engines.alias);
  const live = before === undefined ? undefined : await readLiveCreators(engines.elastic, before);
  const buildResult = await timed('bulk', fillIndex(build, live, forgotten));
  const { rows, accepted, rejected, unknownFields } = buildResult;
  const tally = { rows, accepted, rejected };
  await timed('merge', settleIndex(build, tally));
  assertNotStopped(request, tally);
  request.onProgress?.({ phase: 'verify', progress: 1, ...tally });
  const persistence = toPersistence(build, () => assertNotStopped(request, tally));
  const verifying = retryThroughNodeLoss(persistence, () => verifyBuilt(engines.elastic, index, buildResult));
  const { documents, compared } = await timed('verify', verifying);
  const { db, clock } = engines;
  await updateImport(db, row.id, { state: 'verified', documents, fill: buildResult.fill, updatedAt: clock.now() });
  // From here on, an opt-out removes its creators from this index itself; earlier ones are applied now.
  const takenOut = (await forgotten.refresh())
    ? await retryThroughNodeLoss(persistence, () => takeOutForgotten(engines, index, forgotten))
    : 0;
  request.onProgress?.({ phase: 'compare', progress: 1, ...tally });
  const judging = retryThroughNodeLoss(persistence, () => judge(engines, row, index, live, buildResult.guarded));
  const judgement = await timed('compare', judging);
  const { comparison, reasons: held } = judgement;
  await updateImport(db, row.id, { comparison: comparison ?? null, updatedAt: clock.now() });
  assertNotStopped(request, tally);
  let previousIndex: string | undefined;
  if (held.length > 0) {
    const replacedId = await setAside(engines, row, judgement);
    if (replacedId) request.onNotice?.(`The import ${replacedId} was held before; this one replaces it.`);
  } else {
    await timed('replicas', copyIndex(build, tally));
    assertNotStopped(request, tally);
    request.onProgress?.({ phase: 'swap', progress: 1, ...tally });
    previousIndex = await timed('swap', goLive(engines, row, index, lock, judgement.found));
  }
  return {
    id: row.id,
    index,
    held,
    examples: judgement.examples,
    comparison,
    previousIndex,
    ...tally,
    unknownFields,
    forgotten: buildResult.forgotten + takenOut,
    documents: documents - takenOut,
    repeated: accepted - documents,
    compared,
    rejectsFile: rejected > 0 ? row.rejectsFile : undefined,
    reasons: buildResult.reasons,
    phasesMs,
  };
}

/** An index that lost shards for good is built again this often. */
const REBUILDS = 3;

/** Runs the import; if its index loses shards with a node that stays away, builds it again from the first row. */
async function runToEnd(first: Build, lock: WriterLock): Promise<ImportReport> {
  const { engines, request } = first;
  let build = first;
  for (let rebuilds = 0; ; rebuilds += 1) {
    try {
      return await run(build, lock).catch(async (error: unknown) => {
        await awaitShards(
          toPersistence(build, () => request.signal?.throwIfAborted()),
          error,
        );
        throw error;
      });
    } catch (error) {
      if (error instanceof ShardsLost && build.row.identity !== null && rebuilds < REBUILDS) {
        request.onNotice?.(`${error.message} The import starts again from the first row.`);
        build = toBuild(engines, request, await startBuilding(engines, build.row));
        continue;
      }
      await recordFailure(build, error).catch(ignoreFailure('the original error is the one to report'));
      throw error;
    }
  }
}

function toBuild(engines: DirectoryEngines, request: ImportRequest, row: DirectoryImport): Build {
  if (row.indexName === null) throw new Error(`The import ${row.id} has no index.`);
  return { engines, request, row, index: row.indexName };
}

/**
 * Replaces the whole directory: builds a new index next to the live one, verifies it, and moves the alias in one step.
 * Searches see the old directory until then. If it is killed, the same call resumes from the checkpoint.
 */
export async function importDirectory(engines: DirectoryEngines, request: ImportRequest): Promise<ImportReport> {
  parseRejectLimit(request.maxRejects ?? DEFAULT_MAX_REJECTS);
  await assertNodes(engines.elastic, engines.layout?.replicas ?? 0);
  return await withWriterLock(engines, 'import', request, async (lock) => {
    const row = await beginImport(engines, request);
    return await runToEnd(toBuild(engines, request, row), lock);
  });
}
