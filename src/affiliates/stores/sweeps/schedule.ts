import { DAY_MS, MINUTE_MS } from '../../../kit/values/duration.ts';
import type { OrderFacts } from '../formats/facts.ts';

/** The operation that has a store read again: a plan names it. */
export const READ_AGAIN = 'read_store_again';

export const SWEEP_EVERY_MS = 10 * MINUTE_MS;
/** Of the first sweep of a store. Shopify shows no older orders without a further permission. */
export const FIRST_BACK_MS = 60 * DAY_MS;
/** Each sweep begins this long before the latest change that the one before it read: lists are a little late. */
export const OVERLAP_MS = 15 * MINUTE_MS;
/** Whether a store that lists no orders has begun to. */
export const UNSERVED_EVERY_MS = DAY_MS;
/** A webhook may arrive this long after its change, and may be slightly older than the order's latest state. */
const GRACE_MS = 3 * MINUTE_MS;

const FIRST_AGAIN_MS = 15_000;

/** After a failure: soon at first, so that orders come in at once when an outage ends. */
export const againAfterMs = (failures: number): number => Math.min(FIRST_AGAIN_MS * 2 ** failures, SWEEP_EVERY_MS);

export interface Sight {
  /** `reported`: by a webhook. `awaited`: its webhook may still arrive. `old`: from before the store was connected. */
  sight: 'reported' | 'awaited' | 'missed' | 'old';
  /** When an awaited one is looked at again. */
  againAt: Date;
}

/** Compares a listed order with what is recorded. */
export function sightOf(
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
