import type { AttemptOutcome } from '../../engines/postgres/webhook-tables.ts';
import type { Variant } from '../../outbox/events.ts';
import { DAY_MS } from '../../values/duration.ts';

/** The timeout of an attempt, and the delays between failed attempts. */
export const TERMS: Readonly<Record<Variant, { timeoutMs: number; retryAfterMs: readonly number[] }>> = {
  current: { timeoutMs: 5_000, retryAfterMs: [2_000] },
  legacy: { timeoutMs: 30_000, retryAfterMs: [60_000, 300_000, 1_800_000, 7_200_000, 86_400_000] },
};

/** Attempts whose process died are repeated at most this often. */
export const MAX_LOST_ATTEMPTS = 3;

/** Failures in a row after which an older subscription is failing, and how long it may stay so. */
const FAILING_AFTER = 5;
const DISABLED_AFTER_MS = 3 * DAY_MS;

export interface Attempted {
  outcome: AttemptOutcome;
  statusCode: number | null;
}

/** Whether the receiver accepted the delivery. */
export const isSuccess = ({ statusCode }: Pick<Attempted, 'statusCode'>): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

/** No response, or a server error. Refused deliveries were never sent. */
const isWorthARetry = ({ outcome, statusCode }: Attempted) =>
  outcome === 'timeout' || outcome === 'network' || outcome === 'tls' || (statusCode !== null && statusCode >= 500);

/** Whether the subscription should not share slots with responsive ones. */
export const isSlow = isWorthARetry;

export type Outcome = { state: 'delivered' | 'failed' } | { state: 'pending'; nextAttemptAt: Date };

/** The next state of a delivery whose `tries`-th attempt ended at `endedAt`. */
export function outcomeOf(variant: Variant, attempted: Attempted, tries: number, endedAt: Date): Outcome {
  if (isSuccess(attempted)) return { state: 'delivered' };
  const delayMs = isWorthARetry(attempted) ? TERMS[variant].retryAfterMs[tries - 1] : undefined;
  if (delayMs === undefined) return { state: 'failed' };
  return { state: 'pending', nextAttemptAt: new Date(endedAt.getTime() + delayMs) };
}

/** The health of a subscription of the older interface. */
export interface Standing {
  failuresInRow: number;
  failingSince: Date | null;
  firstFailedAt: Date | null;
}

export interface Judged extends Standing {
  /** The notification that is due now. */
  notice: 'failing' | 'disabled' | null;
}

export const GOOD_STANDING: Standing = { failuresInRow: 0, failingSince: null, firstFailedAt: null };

/** The health after another attempt. The brand is notified once that it is failing and once that it was disabled. */
export function judged(before: Standing, isDelivered: boolean, at: Date): Judged {
  if (isDelivered) return { ...GOOD_STANDING, notice: null };
  const failuresInRow = before.failuresInRow + 1;
  const firstFailedAt = before.firstFailedAt ?? at;
  const isDisabled = at.getTime() - firstFailedAt.getTime() >= DISABLED_AFTER_MS;
  const startsFailing = before.failingSince === null && failuresInRow >= FAILING_AFTER;
  return {
    failuresInRow,
    firstFailedAt,
    failingSince: startsFailing ? at : before.failingSince,
    notice: isDisabled ? 'disabled' : startsFailing ? 'failing' : null,
  };
}
