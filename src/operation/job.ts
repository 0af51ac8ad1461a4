import type { RunOptions } from '../engines/redis/queue.ts';
import type { Context } from './context.ts';

/** What operators see of a periodic job. */
export interface JobPlan {
  name: string;
  everyMs: number;
  /** The rows or files that it looks for. */
  asksFor: string;
}

/** Periodic work on whatever is due in any brand. One worker runs it per interval, and it is safe to run twice. */
export interface Job extends JobPlan {
  run(context: Context): Promise<unknown>;
}

/** Work on single rows: a queue of their ids, and the job that fills it again from the rows. */
export interface QueuedWork {
  queue: string;
  sweep: JobPlan;
  start(context: Context, redisUrl: string, options: RunOptions): { sweep(): Promise<void>; close(): Promise<void> };
}

/** A loop that keeps up with a stream, in every worker: what it moves must not wait for a schedule. */
export interface Follower {
  name: string;
  everyMs: number;
  /** Returns one pass, which ends when the stream is empty or `stopping` is aborted. */
  open(context: Context, stopping: AbortSignal): () => Promise<unknown>;
}
