import { createHmac, randomBytes } from 'node:crypto';
import type { Variant } from '../../kit/outbox/events.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import type { AttemptOutcome } from './claims.ts';

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

const PREFIX = 'whsec_';
const SECRET_BYTES = 30;

/** 46 characters: base64 of 30 bytes needs no padding. */
export const newWebhookSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

/** The shortened secret that lists show, enough to tell two apart. */
export function hintOf(secret: string): string {
  if (secret.length < 20) return `…${secret.slice(-2)}`;
  return `${secret.slice(0, 6)}…${secret.slice(-4)}`;
}

/** The key of the Standard Webhooks signature: what follows `whsec_` decoded; a caller's secret unchanged. */
const standardKey = (secret: string) =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret, 'utf8');

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text, 'utf8');

export interface Announcement {
  variant: Variant;
  eventId: string;
  /** The event name of the variant. */
  event: string;
  createdAt: Date;
  /** JSON text from the outbox. */
  data: string;
}

/** The body, the same bytes in every attempt. `data` is already JSON. */
export function renderBody({ variant, eventId, event, createdAt, data }: Announcement): string {
  const at = createdAt.toISOString();
  return variant === 'legacy'
    ? `{"id":${JSON.stringify(eventId)},"type":${JSON.stringify(event)},"created_at":"${at}","data":${data}}`
    : `{"event":${JSON.stringify(event)},"createdAt":"${at}","data":${data}}`;
}

export interface Signing {
  variant: Variant;
  eventId: string;
  deliveryId: string;
  /** Newest first; two while a rotation overlaps. The oldest signs the header that holds one digest. */
  secrets: readonly [string, ...string[]];
  at: Date;
  isTest: boolean;
}

/** The headers of one attempt. */
export function renderHeaders(signing: Signing, body: string): Record<string, string> {
  const { variant, eventId, deliveryId, secrets, at, isTest } = signing;
  const seconds = String(Math.floor(at.getTime() / 1_000));
  const oldest = secrets.at(-1) ?? secrets[0];
  const digestOf = (secret: string) => `${variant === 'legacy' ? '' : 'sha256='}${hmac(secret, body).digest('hex')}`;
  const standard = secrets.map(
    (secret) => `v1,${hmac(standardKey(secret), `${eventId}.${seconds}.${body}`).digest('base64')}`,
  );
  return {
    'content-type': 'application/json',
    'user-agent': 'Rollcall-Webhooks/1',
    'x-service-signature': digestOf(oldest),
    ...(secrets.length > 1 ? { 'x-service-signature-next': digestOf(secrets[0]) } : {}),
    'x-service-event-id': eventId,
    'x-service-delivery-id': deliveryId,
    'x-service-timestamp': seconds,
    'webhook-id': eventId,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.join(' '),
    ...(isTest ? { 'x-service-test': 'true' } : {}),
  };
}
