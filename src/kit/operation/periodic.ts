import type { PeriodicRows } from '../engines/postgres/periodic.ts';
import { MINUTE_MS } from '../values/duration.ts';
import { toApiError } from '../values/errors.ts';
import { type Context, later } from './context.ts';
import type { Job, JobPlan } from './job.ts';

const AT_ONCE = 100;
const TRIES_AGAIN_MS = 5 * MINUTE_MS;
/** A mail waits this long for events that have not reached the figures. */
const WAITS_MS = 6 * 60 * MINUTE_MS;

/**
 * A job that runs each row that is due, once in a pass, so that none waits for the past of another. `run` takes the row or
 * postpones it. If it throws, the row is tried again in five minutes, and says why.
 */
export function periodicJob<Row extends { brandId: string }>({
  rows,
  doing,
  run,
  ...plan
}: JobPlan & {
  rows: PeriodicRows<Row>;
  /** For the log of failures, such as `mailing a report`. */
  doing: string;
  run: (context: Context, row: Row) => Promise<void>;
}): Job {
  async function attempt(context: Context, row: Row): Promise<void> {
    try {
      await run(context, row);
    } catch (error) {
      context.failures.failed(doing, error, { brandId: row.brandId });
      await rows.postpone(context.postgres.db, row, later(context, TRIES_AGAIN_MS), toApiError(error).message);
    }
  }
  async function runDue(context: Context): Promise<void> {
    const { postgres, clock, stopping } = context;
    for (;;) {
      const dueRows = await rows.listDue(postgres.db, clock.now(), AT_ONCE);
      for (const row of dueRows) await attempt(context, row);
      if (dueRows.length === 0 || stopping.signal.aborted) return;
    }
  }
  return { ...plan, run: runDue };
}

/** Postpones a row by a minute while figures up to `since` are incomplete, for up to 6 hours. Whether it did. */
export async function waitForEvents<Row>(
  context: Context,
  rows: PeriodicRows<Row>,
  row: Row,
  { isWhole, since }: { isWhole: boolean; since: Date },
): Promise<boolean> {
  if (isWhole || context.clock.now().getTime() >= since.getTime() + WAITS_MS) return false;
  await rows.postpone(context.postgres.db, row, later(context, MINUTE_MS), null);
  return true;
}
