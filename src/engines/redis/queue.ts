import { Queue, Worker } from 'bullmq';
import { isReplica } from './open.ts';

export interface QueueOptions {
  /** Separates the queues of several installations on one Redis. */
  prefix?: string;
}

/** Jobs carry only the id of a row. The row is the truth, and a lost job is recreated from it. */
export interface JobQueue {
  /** Adds a job for this row, unless one is already waiting or running. */
  add(rowId: string): Promise<void>;
  close(): Promise<void>;
}

/** Failed jobs kept for `jobs list` and `jobs retry`. */
export const KEPT_FAILED = { count: 200 };

export const connectionOf = (url: string) => ({
  ...{ url, maxRetriesPerRequest: null, connectTimeout: 2_000 },
  // The failed command is sent again on the new connection.
  reconnectOnError: (error: Error) => (isReplica(error) ? (2 as const) : false),
});

export function openQueue(url: string, name: string, { prefix }: QueueOptions = {}): JobQueue {
  const connection = { ...connectionOf(url), maxRetriesPerRequest: 1 };
  const queue = new Queue(name, { connection, ...(prefix === undefined ? {} : { prefix }) });
  // Commands report failures themselves; an unhandled error event would end the process.
  queue.on('error', () => undefined);
  return {
    add: async (rowId) => {
      await queue.add(
        name,
        { rowId },
        { deduplication: { id: rowId }, removeOnComplete: true, removeOnFail: KEPT_FAILED },
      );
    },
    close: () => queue.close(),
  };
}

export interface JobWorker {
  /** Accepts no more jobs and resolves when the running one has ended. */
  close(): Promise<void>;
}

export interface RunOptions extends QueueOptions {
  /** Called after each job. */
  onRun?(outcome: { error?: unknown }, seconds: number): void;
}

export interface WorkerOptions extends RunOptions {
  /** A worker that is silent for this long loses its job. Detecting it takes as long again. */
  lostAfterMs: number;
  onError(error: Error): void;
}

/** Runs jobs one at a time. Another worker takes over the job of a dead one, so `run` must be safe to run twice. */
export function openWorker(
  url: string,
  name: string,
  run: (rowId: string) => Promise<void>,
  options: WorkerOptions,
): JobWorker {
  const { lostAfterMs, onError, onRun, ...rest } = options;
  const metered = async ({ data }: { data: { rowId: string } }) => {
    const from = performance.now();
    const report = (outcome: { error?: unknown }) => onRun?.(outcome, (performance.now() - from) / 1_000);
    try {
      await run(data.rowId);
    } catch (error) {
      report({ error });
      throw error;
    }
    report({});
  };
  const worker = new Worker<{ rowId: string }>(name, metered, {
    connection: connectionOf(url),
    concurrency: 1,
    lockDuration: lostAfterMs,
    stalledInterval: lostAfterMs,
    // The row decides when to give up; a job dropped here would only be recreated from it.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
    ...rest,
  });
  worker.on('error', onError);
  return { close: () => worker.close() };
}
