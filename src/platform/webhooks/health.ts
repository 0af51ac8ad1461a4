import { createHmac } from 'node:crypto';
import type { Variant } from '../../kit/outbox/events.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import type { AttemptOutcome } from './claims.ts';

/** The timeout of an attempt, and the delays between failed attempts. */
export const RETRY_POLICY: Readonly<Record<Variant, { timeoutMs: number; retryAfterMs: readonly number[] }>> = {
  current: { timeoutMs: 5_000, retryAfterMs: [2_000] },
  legacy: { timeoutMs: 30_000, retryAfterMs: [60_000, 300_000, 1_800_000, 7_200_000, 86_400_000] },
};

/** Limits the repetitions of attempts whose process died. */
export const MAX_LOST_ATTEMPTS = 3;

/** Failures in a row after which an older subscription is failing, and how long it may stay so. */
const FAILING_AFTER = 5;
const DISABLED_AFTER_MS = 3 * DAY_MS;

export interface AttemptSummary {
  outcome: AttemptOutcome;
  statusCode: number | null;
}

/** True if the receiver accepted the delivery. */
export const isSuccess = ({ statusCode }: Pick<AttemptSummary, 'statusCode'>): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

/** True without a response or after a server error. Refused deliveries were never sent. */
const isRetryable = ({ outcome, statusCode }: AttemptSummary) =>
  outcome === 'timeout' || outcome === 'network' || outcome === 'tls' || (statusCode !== null && statusCode >= 500);

/** True if the subscription should not share slots with responsive ones. */
export const isSlow = isRetryable;

export type DeliveryOutcome = { state: 'delivered' | 'failed' } | { state: 'pending'; nextAttemptAt: Date };

/** The next state of a delivery whose `tries`-th attempt ended at `endedAt`. */
export function nextDeliveryState(
  variant: Variant,
  attempt: AttemptSummary,
  tries: number,
  endedAt: Date,
): DeliveryOutcome {
  if (isSuccess(attempt)) return { state: 'delivered' };
  const delayMs = isRetryable(attempt) ? RETRY_POLICY[variant].retryAfterMs[tries - 1] : undefined;
  if (delayMs === undefined) return { state: 'failed' };
  return { state: 'pending', nextAttemptAt: new Date(endedAt.getTime() + delayMs) };
}

/** The health of a subscription of the older interface. */
export interface EndpointHealth {
  failuresInRow: number;
  failingSince: Date | null;
  firstFailedAt: Date | null;
}

export interface HealthChange extends EndpointHealth {
  /** The notification that is due now. */
  notice: 'failing' | 'disabled' | null;
}

export const HEALTHY: EndpointHealth = { failuresInRow: 0, failingSince: null, firstFailedAt: null };

/** The health after another attempt. The brand is notified once that it is failing and once that it was disabled. */
export function nextHealth(before: EndpointHealth, isDelivered: boolean, at: Date): HealthChange {
  if (isDelivered) return { ...HEALTHY, notice: null };
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

export const PREFIX = 'whsec_';
export const SECRET_BYTES = 30;

/** The key of the Standard Webhooks signature: what follows `whsec_` decoded; a caller's secret unchanged. */
export const standardKey = (secret: string) =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret, 'utf8');

export const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text, 'utf8');
