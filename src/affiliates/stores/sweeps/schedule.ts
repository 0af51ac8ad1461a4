import { DAY_MS, MINUTE_MS } from '../../../kit/values/duration.ts';
import type { OrderFacts } from '../formats/facts.ts';

/** Id of the operation that reads a store again; plans refer to it. */
export const READ_AGAIN = 'read_store_again';

/** The name of the work on stores' recent orders. */
export const SWEEPS = 'sweep-stores';

export const SWEEP_EVERY_MS = 10 * MINUTE_MS;
/** The first sweep of a store goes back this far. Shopify shows older orders only with a further permission. */
export const FIRST_BACK_MS = 60 * DAY_MS;
/** Each sweep begins this long before the latest change that the previous one read, because lists are a little late. */
export const OVERLAP_MS = 15 * MINUTE_MS;
/** Interval of checking whether a store that does not list its orders has begun to. */
export const UNSERVED_EVERY_MS = DAY_MS;
/** A webhook may arrive this late, and may be this much older than the order's latest state. */
const GRACE_MS = 3 * MINUTE_MS;

const FIRST_AGAIN_MS = 15_000;

/** Computes the pause after failures: short at first, so that orders arrive soon after an outage. */
export const computeRetryMs = (failures: number): number => Math.min(FIRST_AGAIN_MS * 2 ** failures, SWEEP_EVERY_MS);

/** A store with many orders yields to others after so many pages, or so long. */
const PAGES_AT_ONCE = 10;
const TURN_MS = 20_000;
/** A page of a store that answers fast takes less. */
const FAST_MS = 2_000;

/** Limits a turn at a store, which pays for slow answers with its own time: it rests for as long as it took. */
export function openBudget(signal: AbortSignal) {
  const startedMs = performance.now();
  let pages = 0;
  const tookMs = () => performance.now() - startedMs;
  return {
    /** True if another page may be read, which is counted. */
    takePage: () => {
      pages += 1;
      return pages <= PAGES_AT_ONCE && tookMs() < TURN_MS && !signal.aborted;
    },
    restMs: () => (tookMs() / pages > FAST_MS ? tookMs() : 0),
  };
}

export interface Sight {
  /** `reported`: by a webhook. `awaited`: its webhook may still arrive. `old`: from before the store was connected. */
  sight: 'reported' | 'awaited' | 'missed' | 'old';
  /** Next check of an awaited order. */
  againAt: Date;
}

/** Compares a listed order with its recorded state. */
export function compareWithRecorded(
  { updatedAt }: Pick<OrderFacts, 'updatedAt'>,
  { recordedAt, connectedAt, now }: { recordedAt: Date | undefined; connectedAt: Date; now: Date },
): Sight {
  const againAt = new Date(updatedAt.getTime() + GRACE_MS);
  const isReported = recordedAt !== undefined && updatedAt.getTime() - recordedAt.getTime() <= GRACE_MS;
  if (isReported) return { sight: 'reported', againAt };
  if (updatedAt <= connectedAt) return { sight: 'old', againAt };
  // A later time comes from a store whose clock is wrong, and does not mean that a webhook is coming.
  const isFresh = Math.abs(now.getTime() - updatedAt.getTime()) < GRACE_MS;
  return { sight: isFresh ? 'awaited' : 'missed', againAt };
}
