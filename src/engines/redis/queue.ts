import { Queue, Worker } from 'bullmq';

export interface QueueOptions {
  /** Separates the queues of several installations on one Redis. */
  prefix?: string;
}

/** Jobs carry the id of a row and nothing else: the row is the truth, and a lost job is made again from it. */
export interface JobQueue {
  /** Adds a job for this row; a second one while the first is waiting or running is not added. */
  add(rowId: string): Promise<void>;
  close(): Promise<void>;
}

/** For `jobs list` and `jobs retry`. */
export const KEPT_FAILED = { count: 200 };

export const connectionOf = (url: string) => ({ url, maxRetriesPerRequest: null, connectTimeout: 2_000 });

export function openQueue(url: string, name: string, { prefix }: QueueOptions = {}): JobQueue {
  const connection = { ...connectionOf(url), maxRetriesPerRequest: 1 };
  const queue = new Queue(name, { connection, ...(prefix === undefined ? {} : { prefix }) });
  // Every command fails by itself when Redis is away; the event would end the process.
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
  /** Takes no more jobs and resolves when the running one has ended. */
  close(): Promise<void>;
}

export interface RunOptions extends QueueOptions {
  /** After each job that was run. */
  onRun?(outcome: { error?: unknown }, seconds: number): void;
}

export interface WorkerOptions extends RunOptions {
  /** A worker that is silent for so long has lost its job; checking takes as long again. */
  lostAfterMs: number;
  onError(error: Error): void;
}

/** Runs jobs one at a time. A job whose worker died is given to another; `run` must be safe to run twice. */
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
    // The row says when to give up; a job dropped here would only be made again from it.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
    ...rest,
  });
  worker.on('error', onError);
  return { close: () => worker.close() };
}
