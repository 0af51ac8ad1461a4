import { type ConnectionOptions, Queue, Worker } from 'bullmq';
import { describeAddress, isReplica, readAddress } from './address.ts';
import { openWaitingCluster } from './clients.ts';

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

/** BullMQ's usual prefix. On a cluster it is a hash tag, because its scripts use several keys of a queue. */
export const toPrefix = (isCluster: boolean, prefix = 'bull'): string => (isCluster ? `{${prefix}}` : prefix);

interface QueueConnection {
  connection: ConnectionOptions;
  prefix: string;
  /** Closes what BullMQ does not: a connection that it was given. */
  close(): Promise<void>;
}

/** A dedicated connection for a queue or a worker. Without `retries`, a command waits until Redis is back. */
export function toConnection(url: string, prefix: string | undefined, retries: number | null = null): QueueConnection {
  const address = readAddress(url);
  const options = { connectTimeout: 2_000, maxRetriesPerRequest: retries };
  if (address.kind === 'cluster') {
    const cluster = openWaitingCluster(address, options);
    return { connection: cluster, prefix: toPrefix(true, prefix), close: async () => cluster.disconnect() };
  }
  // The failed command is sent again on the new connection.
  const reconnectOnError = (error: Error) => (isReplica(error) ? (2 as const) : false);
  const connection = {
    ...options,
    reconnectOnError,
    ...describeAddress(address),
    ...(address.kind === 'server' && { url: address.url }),
  };
  return { connection, prefix: toPrefix(false, prefix), close: async () => undefined };
}

export function openQueue(url: string, name: string, { prefix }: QueueOptions = {}): JobQueue {
  const { close, ...options } = toConnection(url, prefix, 1);
  const queue = new Queue(name, options);
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
    close: async () => {
      await queue.close();
      await close();
    },
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
  const { lostAfterMs, onError, onRun, prefix } = options;
  const { close, ...connection } = toConnection(url, prefix);
  const runMetered = async ({ data }: { data: { rowId: string } }) => {
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
  const worker = new Worker<{ rowId: string }>(name, runMetered, {
    ...connection,
    concurrency: 1,
    lockDuration: lostAfterMs,
    stalledInterval: lostAfterMs,
    // The row decides when to give up; a job dropped here would only be recreated from it.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
  });
  worker.on('error', onError);
  return {
    close: async () => {
      await worker.close();
      await close();
    },
  };
}
