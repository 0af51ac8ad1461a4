import type { RunOptions } from '../engines/redis/queue.ts';
import type { Context } from './context.ts';

/** The description of a periodic job for operators. */
export interface JobPlan {
  name: string;
  everyMs: number;
  /** The rows or files that the job looks for. */
  asksFor: string;
  /** Calls others, or changes files in a storage. A restored copy, which may share it, does neither before it is live. */
  leaves?: true;
}

/** Periodic work on due rows of all brands. One worker runs it per interval, and it is safe to run twice. */
export interface Job extends JobPlan {
  run(context: Context): Promise<unknown>;
  /** For work whose turns outlast a run: each worker starts it, and a run wakes it. */
  start?(context: Context): { wake(): Promise<void>; close(): Promise<void> };
}

/** Work on single rows: a queue of their ids, and the job that refills it from the rows. */
export interface QueuedWork {
  queue: string;
  sweep: JobPlan;
  start(context: Context, redisUrl: string, options: RunOptions): { sweep(): Promise<void>; close(): Promise<void> };
}

/** A loop in every worker that keeps up with a stream, for work that must not wait for a schedule. */
export interface Follower {
  name: string;
  everyMs: number;
  /** Returns a function that makes one pass. The pass ends when the stream is empty or `stopping` is aborted. */
  open(context: Context, stopping: AbortSignal): () => Promise<unknown>;
}
