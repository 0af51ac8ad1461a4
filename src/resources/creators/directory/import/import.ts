import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import {
  createQuietIndex,
  deleteIndex,
  endQuiet,
  indexBehind,
  indexExists,
  mergeToOneSegment,
  refreshIndex,
  swapAlias,
} from '../../../../engines/elastic/indices.ts';
import { ignoreFailure } from '../../../../errors.ts';
import { newId } from '../../../../ids.ts';
import { type Built, buildIndex, type Tally } from './build.ts';
import { readDefinition } from './definition.ts';
import { type DirectoryImport, findUnfinished, insertImport, recordLive, updateImport } from './queries.ts';
import { type RejectLimit, readRejectLimit, TooManyRejects } from './rejects.ts';
import type { Source } from './source.ts';
import { VerificationFailed, verifyBuilt } from './verify.ts';
import { asWriter, type DirectoryEngines, type WaitOptions, type WriterLock } from './writer.ts';

export type ImportPhase = 'bulk' | 'merge' | 'verify' | 'swap';

export interface ImportProgress extends Tally {
  phase: ImportPhase;
  /** Of reading, 0 to 1; null when the size is not known. */
  progress: number | null;
}

export interface ImportRequest extends WaitOptions {
  source: Source;
  /** `100` rows or `1%` of them; more, and the import stops before the swap. */
  maxRejects?: string | undefined;
  rejectsFile?: string | undefined;
  /** Starts anew although an import of the same files could go on. */
  restart?: boolean | undefined;
  /** Only goes on with an import on record; ended by another worker meanwhile, it is not begun anew. */
  isEnqueued?: boolean | undefined;
  onProgress?: (progress: ImportProgress) => void;
  /** What an operator should know, as a sentence. */
  onNotice?: (notice: string) => void;
}

export interface ImportReport extends Omit<Built, 'samples' | 'distinct'> {
  id: string;
  index: string;
  previousIndex: string | undefined;
  documents: number;
  /** Accepted rows that a later row with the same `pk` replaced. */
  repeated: number;
  /** Rows read back and compared field by field. */
  compared: number;
  rejectsFile: string | undefined;
  phasesMs: Record<ImportPhase, number>;
}

/** There is nothing left to do of an enqueued import. */
export class ImportEnded extends Error {}

export const DEFAULT_MAX_REJECTS = '1%';

/** The files and the mapping together: a changed mapping needs another index. */
export async function identityOf(source: Source): Promise<string | null> {
  if (source.identity === null) return null;
  const { text } = await readDefinition();
  return createHash('sha256').update(`${source.identity}\n${text}`).digest('hex');
}

export async function newImport(
  { alias, clock }: Pick<DirectoryEngines, 'alias' | 'clock'>,
  request: Pick<ImportRequest, 'source' | 'maxRejects' | 'rejectsFile'>,
): Promise<DirectoryImport> {
  const now = clock.now();
  const id = newId('imp', now.getTime());
  return {
    id,
    alias,
    state: 'queued',
    indexName: null,
    identity: await identityOf(request.source),
    files: request.source.files,
    maxRejects: request.maxRejects ?? DEFAULT_MAX_REJECTS,
    rejectsFile: path.resolve(request.rejectsFile ?? `rejects-${id}.ndjson`),
    enqueued: false,
    position: 0,
    progress: null,
    accepted: 0,
    rejected: 0,
    documents: null,
    failure: null,
    startedAt: now,
    updatedAt: now,
    swappedAt: null,
    retiredAt: null,
  };
}

function newIndexName(alias: string, now: Date): string {
  return `${alias}-${now.toISOString().slice(0, 10).replaceAll('-', '')}-${randomBytes(4).toString('hex')}`;
}

async function startBuilding(engines: DirectoryEngines, row: DirectoryImport): Promise<DirectoryImport> {
  const { elastic, db, clock, alias } = engines;
  const now = clock.now();
  const indexName = newIndexName(alias, now);
  const change = { state: 'building' as const, indexName, position: 0, failure: null, updatedAt: now };
  // The row first: an index that nobody has on record would never be cleared away.
  await updateImport(db, row.id, change);
  await createQuietIndex(elastic, indexName, (await readDefinition()).definition);
  return { ...row, ...change };
}

/** The import to go on with, or a new one. */
async function beginImport(engines: DirectoryEngines, request: ImportRequest): Promise<DirectoryImport> {
  const { elastic, db, clock, alias } = engines;
  const fresh = await newImport(engines, request);
  const found = fresh.identity === null ? undefined : await findUnfinished(db, alias, fresh.identity);
  if (found?.indexName && !request.restart && (await indexExists(elastic, found.indexName))) {
    const maxRejects = request.maxRejects ?? found.maxRejects;
    const name = request.source.files.map((file) => path.basename(file)).join(', ');
    request.onNotice?.(`resuming at row ${(found.position + 1).toLocaleString('en')} of ${name}`);
    await updateImport(db, found.id, { state: 'building', maxRejects, failure: null, updatedAt: clock.now() });
    return { ...found, state: 'building', maxRejects };
  }
  if (request.isEnqueued && !found) throw new ImportEnded('The import has ended meanwhile.');
  if (found && (found.state === 'queued' || !request.restart)) return await startBuilding(engines, found);
  if (found) {
    if (found.indexName) await deleteIndex(elastic, found.indexName);
    await updateImport(db, found.id, { state: 'failed', failure: 'Started anew.', updatedAt: clock.now() });
  }
  await insertImport(db, fresh);
  return await startBuilding(engines, fresh);
}

function limitOf(text: string): RejectLimit {
  const limit = readRejectLimit(text);
  if (!limit) throw new Error(`${text} is not a number of rows or a percentage.`);
  return limit;
}

interface Build {
  engines: DirectoryEngines;
  request: ImportRequest;
  row: DirectoryImport;
  index: string;
}

async function fillIndex({ engines, request, row, index }: Build): Promise<Built> {
  const { elastic, db, clock } = engines;
  const { source } = request;
  const built = await buildIndex({
    elastic,
    index,
    source,
    acknowledged: row.position,
    rejectLimit: limitOf(row.maxRejects),
    rejectsFile: row.rejectsFile,
    signal: request.signal,
    onProgress: (tally) => request.onProgress?.({ phase: 'bulk', progress: source.progress(), ...tally }),
    onRetry: (reason) => request.onNotice?.(`Elasticsearch did not take a batch, trying again: ${reason}`),
    onCheckpoint: async (position, { accepted, rejected }) => {
      const progress = source.progress();
      await updateImport(db, row.id, { position, progress, accepted, rejected, updatedAt: clock.now() });
    },
  });
  if (built.accepted === 0)
    throw new TooManyRejects('There is no row to import; an empty directory is never swapped in.');
  return built;
}

/** After this the index is as a search wants it: refreshed, one segment, its own refresh interval again. */
async function settleIndex({ engines: { elastic }, request, index }: Build, tally: Tally): Promise<void> {
  const { definition } = await readDefinition();
  await refreshIndex(elastic, index);
  await mergeToOneSegment(elastic, index, () => request.onProgress?.({ phase: 'merge', progress: 1, ...tally }));
  await endQuiet(elastic, index, definition);
  await refreshIndex(elastic, index);
}

async function goLive({ engines, row, index }: Build, lock: WriterLock): Promise<string | undefined> {
  const { elastic, db, clock, alias } = engines;
  const previous = await indexBehind(elastic, alias);
  await lock.assertHeld();
  await swapAlias(elastic, alias, previous, index);
  await recordLive(db, alias, index, clock.now());
  await updateImport(db, row.id, { progress: 1, updatedAt: clock.now() });
  return previous;
}

/** What no second try would change ends the import and its index; anything else leaves the checkpoint to go on from. */
async function recordFailure({ engines, row, index }: Build, error: unknown): Promise<void> {
  const { elastic, db, clock } = engines;
  const failure = error instanceof Error ? error.message : String(error);
  const isFinal = error instanceof TooManyRejects || error instanceof VerificationFailed || row.identity === null;
  if (isFinal) await deleteIndex(elastic, index);
  await updateImport(db, row.id, { ...(isFinal ? { state: 'failed' } : {}), failure, updatedAt: clock.now() });
}

async function run(build: Build, lock: WriterLock): Promise<ImportReport> {
  const { engines, request, row, index } = build;
  const phasesMs: Record<ImportPhase, number> = { bulk: 0, merge: 0, verify: 0, swap: 0 };
  async function timed<T>(phase: ImportPhase, work: Promise<T>): Promise<T> {
    const from = performance.now();
    const result = await work;
    phasesMs[phase] = Math.round(performance.now() - from);
    return result;
  }
  const built = await timed('bulk', fillIndex(build));
  const { rows, accepted, rejected, unknownFields } = built;
  const tally = { rows, accepted, rejected };
  await timed('merge', settleIndex(build, tally));
  request.onProgress?.({ phase: 'verify', progress: 1, ...tally });
  const { documents, compared } = await timed('verify', verifyBuilt(engines.elastic, index, built));
  await updateImport(engines.db, row.id, { state: 'verified', documents, updatedAt: engines.clock.now() });
  request.onProgress?.({ phase: 'swap', progress: 1, ...tally });
  const previousIndex = await timed('swap', goLive(build, lock));
  return {
    id: row.id,
    index,
    previousIndex,
    ...tally,
    unknownFields,
    documents,
    repeated: accepted - documents,
    compared,
    rejectsFile: rejected > 0 ? row.rejectsFile : undefined,
    phasesMs,
  };
}

/**
 * Replaces the whole directory: builds a new index beside the live one, verifies it, and moves the alias in one step.
 * Searches see the old directory until then. Killed, it goes on from its checkpoint when called with the same files.
 */
export async function importDirectory(engines: DirectoryEngines, request: ImportRequest): Promise<ImportReport> {
  limitOf(request.maxRejects ?? DEFAULT_MAX_REJECTS);
  return await asWriter(engines, 'import', request, async (lock) => {
    const row = await beginImport(engines, request);
    if (row.indexName === null) throw new Error(`The import ${row.id} has no index.`);
    const build: Build = { engines, request, row, index: row.indexName };
    try {
      return await run(build, lock);
    } catch (error) {
      await recordFailure(build, error).catch(ignoreFailure('the error that led here is the one to tell'));
      throw error;
    }
  });
}
