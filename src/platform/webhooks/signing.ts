import { randomBytes } from 'node:crypto';
import type { Variant } from '../../kit/outbox/events.ts';
import { hmac, PREFIX, SECRET_BYTES, standardKey } from './health.ts';

/** 46 characters: base64 of 30 bytes needs no padding. */
export const newWebhookSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

/** The shortened secret that lists show, enough to tell two apart. */
export function toSecretHint(secret: string): string {
  if (secret.length < 20) return `…${secret.slice(-2)}`;
  return `${secret.slice(0, 6)}…${secret.slice(-4)}`;
}

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
  const sign = (secret: string) => `${variant === 'legacy' ? '' : 'sha256='}${hmac(secret, body).digest('hex')}`;
  const standardSignatures = secrets.map(
    (secret) => `v1,${hmac(standardKey(secret), `${eventId}.${seconds}.${body}`).digest('base64')}`,
  );
  return {
    'content-type': 'application/json',
    'user-agent': 'Rollcall-Webhooks/1',
    'x-service-signature': sign(oldest),
    ...(secrets.length > 1 ? { 'x-service-signature-next': sign(secrets[0]) } : {}),
    'x-service-event-id': eventId,
    'x-service-delivery-id': deliveryId,
    'x-service-timestamp': seconds,
    'webhook-id': eventId,
    'webhook-timestamp': seconds,
    'webhook-signature': standardSignatures.join(' '),
    ...(isTest ? { 'x-service-test': 'true' } : {}),
  };
}
