import { isDeepStrictEqual } from 'node:util';
import { leadsToPrivate } from '../../kit/engines/http/outside.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { Variant } from '../../kit/outbox/events.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { lockBrand } from '../brands/queries.ts';
import { GOOD_STANDING, hintOf, newWebhookSecret } from './health.ts';
import {
  cancelPending,
  countSubscriptions,
  findHead,
  insertSubscription,
  lockSubscription,
  type SubscriptionRow,
  updateSubscription,
} from './queries.ts';
import { knownEvents, type WebhookPatch, type WebhookRotate } from './webhooks.shapes.ts';

const MAX_SUBSCRIPTIONS = 10;

/**
 * Refuses a private address before the transaction opens. A host that does not resolve yet is accepted: it may be set up
 * later, and every delivery is checked again.
 */
export async function assertPublic(url: string | undefined, allow: readonly string[]): Promise<void> {
  if (url === undefined || !(await leadsToPrivate(new URL(url), allow))) return;
  const message = 'leads to a private or reserved address; a receiver must be reachable on the public internet.';
  throw validationError([{ field: 'url', code: 'private_address', message }]);
}

/** The row for the audit log, which shows whether secrets changed but never the secrets. */
function audited({ secret, previousSecret, ...row }: SubscriptionRow, old?: SubscriptionRow) {
  const kept = old?.secret.equals(secret) ?? false;
  return { ...row, secret: kept ? 'kept' : 'changed', previousSecret: previousSecret === null ? null : 'kept' };
}

export interface NewSubscription {
  variant: Variant;
  url: string;
  events: readonly string[];
  description: string | null;
  /** Chosen by the caller, where the variant allows it. */
  secret?: string | undefined;
}

async function assertRoom({ db, brandId }: Work): Promise<void> {
  // The lock makes concurrent calls count each other's webhooks.
  await lockBrand(db, brandId);
  const current = await countSubscriptions(db, brandId);
  if (current < MAX_SUBSCRIPTIONS) return;
  const message = `A brand has at most ${MAX_SUBSCRIPTIONS} webhooks; delete one first.`;
  throw new ApiError('WEBHOOK_LIMIT_REACHED', message, { facts: { limit: MAX_SUBSCRIPTIONS, current } });
}

/** Creates a subscription of either variant. Only this response contains the full secret. */
export async function createSubscription(
  work: Work,
  secrets: Secrets,
  input: NewSubscription,
): Promise<{ row: SubscriptionRow; secret: string }> {
  const { db, now, brandId } = work;
  const events = knownEvents(input.variant, input.events);
  await assertRoom(work);
  const id = newId('whk', now.getTime());
  const secret = input.secret ?? newWebhookSecret();
  const row = await insertSubscription(db, {
    id,
    brandId,
    variant: input.variant,
    url: input.url,
    events,
    description: input.description,
    secret: secrets.seal(secret, id),
    secretHint: hintOf(secret),
    previousSecret: null,
    previousSecretExpiresAt: null,
    disabledReason: null,
    failingSince: null,
    firstFailedAt: null,
    lastTriggeredAt: null,
    lastStatusCode: null,
    fromSeq: await findHead(db, brandId),
    createdAt: now,
    updatedAt: null,
    deletedAt: null,
  });
  work.audit({ resourceId: id, old: null, new: audited(row), generated: ['secretHint', 'fromSeq'] });
  return { row, secret };
}

const RECOVERED = { ...GOOD_STANDING, active: true, disabledReason: null };

async function activityColumns({ db, brandId, now }: Work, old: SubscriptionRow, active: boolean | undefined) {
  if (active === undefined) return {};
  if (active) return { ...RECOVERED, ...(old.active ? {} : { fromSeq: await findHead(db, brandId), isSlow: false }) };
  if (old.active) await cancelPending(db, brandId, old.id, now);
  return { active: false, ...(old.active ? { disabledReason: 'brand' as const } : {}) };
}

/** Pending deliveries go to the new URL too; new event names apply from now on. */
export async function patchSubscription(work: Work, id: string, patch: WebhookPatch): Promise<SubscriptionRow> {
  const { db, now, brandId } = work;
  const old = await lockSubscription(db, brandId, id);
  const events = patch.events && knownEvents(old.variant, patch.events);
  const change = {
    ...omitUndefined({ url: patch.url, events, description: patch.description }),
    ...(await activityColumns(work, old, patch.active)),
  };
  if (isDeepStrictEqual({ ...old, ...change }, old)) return old;
  const row = await updateSubscription(db, brandId, id, { ...change, updatedAt: now });
  work.audit({ resourceId: id, old: audited(old, old), new: audited(row, old), generated: ['fromSeq'] });
  return row;
}

export async function deleteSubscription(work: Work, id: string): Promise<void> {
  const { db, now, brandId } = work;
  const old = await lockSubscription(db, brandId, id);
  await cancelPending(db, brandId, id, now);
  await updateSubscription(db, brandId, id, { active: false, deletedAt: now, updatedAt: now });
  work.audit({ resourceId: id, old: audited(old, old), new: null });
}

function assertNoOverlap({ previousSecret, previousSecretExpiresAt }: SubscriptionRow, now: Date): void {
  if (previousSecret === null || previousSecretExpiresAt === null || previousSecretExpiresAt <= now) return;
  const until = previousSecretExpiresAt.toISOString();
  throw new ApiError('CONFLICT', `The previous rotation overlaps until ${until}; finish it, or send \`force\`.`, {
    facts: { previous_secret_expires_at: until },
  });
}

/** Sets a new secret; the old one also signs during the overlap. */
export async function rotateSecret(work: Work, secrets: Secrets, id: string, rotate: WebhookRotate) {
  const { db, now, brandId } = work;
  const old = await lockSubscription(db, brandId, id);
  if (rotate.finish) {
    const row = await updateSubscription(db, brandId, id, {
      previousSecret: null,
      previousSecretExpiresAt: null,
      updatedAt: now,
    });
    work.audit({ resourceId: id, old: audited(old, old), new: audited(row, old) });
    return { id, secret: row.secretHint, previous_secret_expires_at: null };
  }
  if (!rotate.force) assertNoOverlap(old, now);
  const secret = newWebhookSecret();
  const expiresAt = rotate.overlap_hours === 0 ? null : new Date(now.getTime() + rotate.overlap_hours * 3_600_000);
  const row = await updateSubscription(db, brandId, id, {
    secret: secrets.seal(secret, id),
    secretHint: hintOf(secret),
    previousSecret: expiresAt && old.secret,
    previousSecretExpiresAt: expiresAt,
    updatedAt: now,
  });
  work.audit({ resourceId: id, old: audited(old, old), new: audited(row, old), generated: ['secretHint'] });
  return { id, secret, previous_secret_expires_at: expiresAt?.toISOString() ?? null };
}
