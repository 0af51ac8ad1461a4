import type { AttemptOutcome } from '../../engines/postgres/webhook-tables.ts';
import type { Variant } from '../../outbox/events.ts';
import { DAY_MS } from '../../values/duration.ts';

/** How long an attempt may take, and how long after the end of each failed one the next begins. */
export const TERMS: Readonly<Record<Variant, { timeoutMs: number; retryAfterMs: readonly number[] }>> = {
  current: { timeoutMs: 5_000, retryAfterMs: [2_000] },
  legacy: { timeoutMs: 30_000, retryAfterMs: [60_000, 300_000, 1_800_000, 7_200_000, 86_400_000] },
};

/** Attempts whose process died are made again, but not for ever. */
export const MAX_LOST_ATTEMPTS = 3;

/** Failed attempts in a row that make an older subscription failing, and how long they may go on. */
const FAILING_AFTER = 5;
const DISABLED_AFTER_MS = 3 * DAY_MS;

export interface Attempted {
  outcome: AttemptOutcome;
  statusCode: number | null;
}

/** Whether the receiver took what it was sent. */
export const isSuccess = ({ statusCode }: Pick<Attempted, 'statusCode'>): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

/** No answer, or one that says that the receiver is at fault. What was refused was never sent. */
const isWorthARetry = ({ outcome, statusCode }: Attempted) =>
  outcome === 'timeout' || outcome === 'network' || outcome === 'tls' || (statusCode !== null && statusCode >= 500);

/** Whether others should not wait in a line with this subscription. */
export const isSlow = isWorthARetry;

export type Outcome = { state: 'delivered' | 'failed' } | { state: 'pending'; nextAttemptAt: Date };

/** What becomes of a delivery whose `tries`-th attempt ended at `endedAt`. */
export function outcomeOf(variant: Variant, attempted: Attempted, tries: number, endedAt: Date): Outcome {
  if (isSuccess(attempted)) return { state: 'delivered' };
  const delayMs = isWorthARetry(attempted) ? TERMS[variant].retryAfterMs[tries - 1] : undefined;
  if (delayMs === undefined) return { state: 'failed' };
  return { state: 'pending', nextAttemptAt: new Date(endedAt.getTime() + delayMs) };
}

/** How a subscription of the older interface fares. */
export interface Standing {
  failuresInRow: number;
  failingSince: Date | null;
  firstFailedAt: Date | null;
}

export interface Judged extends Standing {
  /** What the brand is to be notified of now. */
  notice: 'failing' | 'disabled' | null;
}

export const GOOD_STANDING: Standing = { failuresInRow: 0, failingSince: null, firstFailedAt: null };

/** How it fares after one more attempt. Told once that it is failing, and once that it was disabled. */
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
