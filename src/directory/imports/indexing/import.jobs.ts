import { openQueue, openWorker, type QueueOptions, type RunOptions } from '../../../kit/engines/redis/queue.ts';
import type { Context } from '../../../kit/operation/context.ts';
import type { QueuedWork } from '../../../kit/operation/job.ts';
import { absolute, MissingFile } from './files.ts';
import { importDirectory } from './import.ts';
import { isTransient } from './lost-nodes.ts';
import {
  type DirectoryImport,
  findImport,
  findUnfinished,
  insertImport,
  isRun,
  listUnfinished,
  updateImport,
} from './records.ts';
import { assertRejectsPlace } from './rejects.ts';
import { openFiles } from './source.ts';
import { ImportEnded, type ImportOptions, identifySource, newImport, toImportOptions } from './start-import.ts';
import { type DirectoryEngines, findRunningWriter } from './writer.ts';

const IMPORTS = 'directory-import';

export interface EnqueueRequest extends ImportOptions {
  files: string[];
  /** Lets the worker start over even if an import of the same files could be resumed. */
  restart?: boolean | undefined;
  onNotice?: (notice: string) => void;
}

/** Lets a worker resume a recorded import with this command's options. */
async function enqueueAgain(
  { db, alias }: Pick<DirectoryEngines, 'db' | 'alias'>,
  unfinished: DirectoryImport,
  files: string[],
  request: EnqueueRequest,
): Promise<void> {
  const wish = toImportOptions(request, unfinished);
  const isOther = wish.source !== undefined && wish.source !== unfinished.source;
  const restart =
    request.restart || isOther ? { state: 'queued' as const, position: 0, progress: null, failure: null } : {};
  const writer = await findRunningWriter(db, alias);
  if (writer && isRun(unfinished, writer) && Object.keys({ ...wish, ...restart }).length > 0) {
    throw new Error(`${writer.holder} is already importing these files; stop it first.`);
  }
  if (wish.rejectsFile) await assertRejectsPlace(wish.rejectsFile, files);
  // The time of the last progress stays, because it shows which import is running.
  await updateImport(db, unfinished.id, {
    ...wish,
    ...restart,
    enqueued: true,
    files,
    updatedAt: unfinished.updatedAt,
  });
}

/** Records an import for a worker to run, and notifies the workers. Returns its id. */
export async function enqueueImport(
  engines: Pick<DirectoryEngines, 'db' | 'alias' | 'clock'>,
  redisUrl: string,
  request: EnqueueRequest,
  options: QueueOptions = {},
): Promise<string> {
  const { db, alias } = engines;
  const files = request.files.map(absolute);
  const { mapping, sourceName = '' } = request;
  const source = await openFiles(files, 'creators', mapping && { mapping, source: sourceName });
  if (source.identity === null)
    throw new Error('Standard input cannot be enqueued: the worker reads the files itself.');
  const unfinishedImport = await findUnfinished(db, alias, (await identifySource(source)) ?? '');
  if (unfinishedImport) await enqueueAgain(engines, unfinishedImport, files, request);
  const row = unfinishedImport ?? { ...(await newImport(engines, { ...request, source })), enqueued: true };
  if (!unfinishedImport) await insertImport(db, row);
  const queue = openQueue(redisUrl, IMPORTS, options);
  try {
    await queue.add(row.id);
  } finally {
    await queue.close();
  }
  return row.id;
}

interface Worker {
  engines: Omit<DirectoryEngines, 'alias'>;
  log: Context['log'];
  failures: Context['failures'];
  signal: AbortSignal;
}

const isDue = ({ enqueued, state }: DirectoryImport) =>
  enqueued && (state === 'queued' || state === 'building' || state === 'verified');

/** An enqueued import waits this long for a worker that has its files. */
const ELSEWHERE_MS = 600_000;
const ELSEWHERE = 'Waiting for a worker that has the file: ';

/** Leaves an import whose files are on another machine to that machine's worker, for ten minutes from the first look. */
async function leaveToOthers({ engines, log }: Worker, row: DirectoryImport, error: MissingFile): Promise<void> {
  const { db, clock } = engines;
  const updatedAt = clock.now();
  if (!row.failure?.startsWith(ELSEWHERE)) {
    log.info({ import: row.id }, error.message);
    return await updateImport(db, row.id, { failure: `${ELSEWHERE}${error.message}`, updatedAt });
  }
  if (updatedAt.getTime() - row.updatedAt.getTime() < ELSEWHERE_MS) return;
  const failure =
    `No worker had the file for ten minutes: ${error.message} ` +
    'Put it into S3 (s3://bucket/key) or into a folder that every worker can read, and import it again.';
  log.error({ import: row.id }, failure);
  await updateImport(db, row.id, { state: 'failed', failure, updatedAt });
}

async function runImport(worker: Worker, row: DirectoryImport): Promise<void> {
  const { engines, log, signal } = worker;
  const mappedSource = row.mapping === null ? undefined : { mapping: row.mapping, source: row.source ?? '' };
  const source = await openFiles(row.files, 'creators', mappedSource);
  if ((await identifySource(source)) !== row.identity)
    throw new Error('The files have changed since they were enqueued.');
  const report = await importDirectory(
    { ...engines, alias: row.alias },
    {
      source,
      // Its limit and its rejects file are recorded, and may have changed while it waited.
      isEnqueued: true,
      signal,
      onWait: (message) => log.info({ import: row.id }, message),
      onNotice: (notice) => log.info({ import: row.id }, notice),
    },
  );
  const facts = { import: row.id, index: report.index, documents: report.documents };
  if (report.held.length > 0) log.warn({ ...facts, reasons: report.held }, 'directory import held');
  else log.info(facts, 'directory imported');
}

async function runJob(worker: Worker, id: string): Promise<void> {
  const { engines, log, failures, signal } = worker;
  const row = await findImport(engines.db, id);
  if (!row || !isDue(row) || signal.aborted) return;
  try {
    await runImport(worker, row);
  } catch (error) {
    if (signal.aborted || error instanceof ImportEnded) return;
    if (error instanceof MissingFile) return await leaveToOthers(worker, row, error);
    if (isTransient(error)) return failures.failed('importing the directory', error, { import: id });
    log.error({ err: error, import: id }, 'directory import failed');
    const failure = error instanceof Error ? error.message : String(error);
    await updateImport(engines.db, id, { state: 'failed', failure, updatedAt: engines.clock.now() });
  }
}

export interface ImportWorker {
  /** Creates a job for every enqueued import. Rows are the truth; the queue may be lost. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** Runs enqueued imports, one at a time. */
export function startImportWorker(
  context: Pick<Context, 'elastic' | 'postgres' | 'clock' | 'log' | 'failures' | 'config' | 'secrets'>,
  redisUrl: string,
  options: RunOptions = {},
): ImportWorker {
  const { elastic, postgres, clock, log, failures, config, secrets } = context;
  const stopping = new AbortController();
  const engines = { elastic, db: postgres.db, clock, layout: config.directoryLayout, secrets: () => secrets };
  const job: Worker = { engines, log, failures, signal: stopping.signal };
  const queue = openQueue(redisUrl, IMPORTS, options);
  const worker = openWorker(redisUrl, IMPORTS, (id) => runJob(job, id), {
    ...options,
    lostAfterMs: config.workerLostAfterMs,
    onError: (error) => failures.failed('waiting for imports', error),
  });

  return {
    sweep: async () => {
      for (const row of await listUnfinished(engines.db, config.directoryAlias)) {
        if (isDue(row)) await queue.add(row.id);
      }
    },
    close: async () => {
      stopping.abort();
      await Promise.all([worker.close(), queue.close()]);
    },
  };
}

export const importWork: QueuedWork = {
  queue: IMPORTS,
  sweep: {
    name: 'sweep-imports',
    everyMs: 10_000,
    asksFor: 'enqueued imports of the directory that have not ended',
  },
  start: startImportWorker,
};
