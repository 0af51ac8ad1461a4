import { isDeepStrictEqual } from 'node:util';
import { type Selectable, sql, type Updateable } from 'kysely';
import { leadsToPrivate } from '../../kit/engines/http/outside.ts';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { WebhookSubscriptionsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../kit/engines/postgres/own.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { Variant } from '../../kit/outbox/events.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { lockBrand } from '../brands/brands.ts';
import { findHead } from '../events/feed.ts';
import { parseEventNames } from './event-catalogue.ts';
import { HEALTHY } from './health.ts';
import { newWebhookSecret, toSecretHint } from './signing.ts';
import type { WebhookPatch, WebhookRotate } from './webhooks.shapes.ts';

export type WebhookVariant = WebhookSubscriptionsTable['variant'];

export type SubscriptionRow = Selectable<WebhookSubscriptionsTable>;
/** Counting further would be wasted: the API shows only whether more than 10,000 wait. */
const COUNTED = 10_001;

const selectSubscriptions = (db: Db) => db.selectFrom('webhookSubscriptions').where('deletedAt', 'is', null);

const withPending = (db: Db) =>
  selectSubscriptions(db)
    .selectAll('webhookSubscriptions')
    .select((eb) =>
      eb
        .selectFrom(
          eb
            .selectFrom('webhookDeliveries as delivery')
            .select(sql`1`.as('one'))
            .whereRef('delivery.subscriptionId', '=', 'webhookSubscriptions.id')
            .where('delivery.state', '=', 'pending')
            .limit(COUNTED)
            .as('waiting'),
        )
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('pending'),
    );

export const webhooks = listing({
  noun: 'webhook',
  table: 'webhook_subscriptions',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, _where: ListWindow) => selectSubscriptions(db),
  rows: withPending,
});
export const { get: getWebhook } = webhooks;
export type ListedSubscription = Awaited<ReturnType<typeof getWebhook>>;

/** Locks the row until the transaction ends. */
export const lockSubscription = (db: Db, brandId: string, id: string): Promise<SubscriptionRow> =>
  lockOwn(selectSubscriptions(db).selectAll(), 'webhook', brandId, id);

export const updateSubscription = (
  db: Db,
  brandId: string,
  id: string,
  change: Updateable<WebhookSubscriptionsTable>,
) => updateOwn(db.updateTable('webhookSubscriptions').set(change).returningAll(), brandId, id);

/** Cancels the pending deliveries. */
export async function cancelPending(db: Db, brandId: string, subscriptionId: string, now: Date): Promise<void> {
  await db
    .updateTable('webhookDeliveries')
    .set({ state: 'cancelled', finishedAt: now, nextAttemptAt: null, claimedUntil: null })
    .where('brandId', '=', brandId)
    .where('subscriptionId', '=', subscriptionId)
    .where('state', '=', 'pending')
    .execute();
}

/** Locks the brand's active subscriptions, so that one being switched off gets all of these events or none. */
export async function lockSubscribers(db: Db, brandId: string) {
  return await db
    .selectFrom('webhookSubscriptions')
    .select(['id', 'variant', 'events', 'fromSeq'])
    .where('brandId', '=', brandId)
    .where('active', '=', true)
    .where('deletedAt', 'is', null)
    .orderBy('id')
    .forShare()
    .execute();
}

export interface Subscriber {
  id: string;
  variant: WebhookVariant;
  events: string[];
  fromSeq: number;
}

export interface NewDelivery {
  id: string;
  subscriptionId: string;
  eventId: string;
  seq: number;
  event: string;
  /** JSON text, if it differs from the event's data. */
  ownData: string | null;
}

/** Deliveries that an earlier run of the relay inserted are left alone. */
export async function insertDeliveries(
  db: Db,
  brandId: string,
  deliveries: readonly NewDelivery[],
  now: Date,
): Promise<void> {
  const of = <V>(value: (delivery: NewDelivery) => V) => deliveries.map(value);
  await sql`
    insert into webhook_deliveries
      (brand_id, state, next_attempt_at, created_at, id, subscription_id, event_id, seq, event, own_data)
    select ${brandId}, 'pending', ${now}::timestamptz, ${now}::timestamptz, * from unnest(
      ${of(({ id }) => id)}::text[], ${of(({ subscriptionId }) => subscriptionId)}::text[],
      ${of(({ eventId }) => eventId)}::text[], ${of(({ seq }) => seq)}::bigint[], ${of(({ event }) => event)}::text[],
      ${of(({ ownData }) => ownData)}::json[])
    on conflict (subscription_id, event_id, resend) do nothing`.execute(db);
}

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
function toAuditValues({ secret, previousSecret, ...row }: SubscriptionRow, old?: SubscriptionRow) {
  const isSecretKept = old?.secret.equals(secret) ?? false;
  return { ...row, secret: isSecretKept ? 'kept' : 'changed', previousSecret: previousSecret === null ? null : 'kept' };
}

export interface NewSubscription {
  variant: Variant;
  url: string;
  events: readonly string[];
  description: string | null;
  /** A secret that the caller chose, if the variant allows it. */
  secret?: string | undefined;
}

async function assertBelowLimit({ db, brandId }: Work): Promise<void> {
  // The lock makes concurrent calls count each other's webhooks.
  await lockBrand(db, brandId);
  const current = await countRows(selectSubscriptions(db).where('brandId', '=', brandId).select(COUNT));
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
  const events = parseEventNames(input.variant, input.events);
  await assertBelowLimit(work);
  const id = newId('whk', now.getTime());
  const secret = input.secret ?? newWebhookSecret();
  const row = await db
    .insertInto('webhookSubscriptions')
    .values({
      id,
      brandId,
      variant: input.variant,
      url: input.url,
      events,
      description: input.description,
      secret: secrets.seal(secret, id),
      secretHint: toSecretHint(secret),
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
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  work.audit({ resourceId: id, old: null, new: toAuditValues(row), generated: ['secretHint', 'fromSeq'] });
  return { row, secret };
}

const RECOVERY = { ...HEALTHY, active: true, disabledReason: null };

async function activityColumns({ db, brandId, now }: Work, old: SubscriptionRow, active: boolean | undefined) {
  if (active === undefined) return {};
  if (active) return { ...RECOVERY, ...(old.active ? {} : { fromSeq: await findHead(db, brandId), isSlow: false }) };
  if (old.active) await cancelPending(db, brandId, old.id, now);
  return { active: false, ...(old.active ? { disabledReason: 'brand' as const } : {}) };
}

/** Pending deliveries go to the new URL too; new event names apply from now on. */
export async function patchSubscription(work: Work, id: string, patch: WebhookPatch): Promise<SubscriptionRow> {
  const { db, now, brandId } = work;
  const old = await lockSubscription(db, brandId, id);
  const events = patch.events && parseEventNames(old.variant, patch.events);
  const change = {
    ...omitUndefined({ url: patch.url, events, description: patch.description }),
    ...(await activityColumns(work, old, patch.active)),
  };
  if (isDeepStrictEqual({ ...old, ...change }, old)) return old;
  const row = await updateSubscription(db, brandId, id, { ...change, updatedAt: now });
  work.audit({ resourceId: id, old: toAuditValues(old, old), new: toAuditValues(row, old), generated: ['fromSeq'] });
  return row;
}

export async function deleteSubscription(work: Work, id: string): Promise<void> {
  const { db, now, brandId } = work;
  const old = await lockSubscription(db, brandId, id);
  await cancelPending(db, brandId, id, now);
  await updateSubscription(db, brandId, id, { active: false, deletedAt: now, updatedAt: now });
  work.audit({ resourceId: id, old: toAuditValues(old, old), new: null });
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
    work.audit({ resourceId: id, old: toAuditValues(old, old), new: toAuditValues(row, old) });
    return { id, secret: row.secretHint, previous_secret_expires_at: null };
  }
  const overlapEnd = old.previousSecret === null ? null : old.previousSecretExpiresAt;
  if (!rotate.force && overlapEnd !== null && overlapEnd > now) {
    const until = overlapEnd.toISOString();
    throw new ApiError('CONFLICT', `The previous rotation overlaps until ${until}; finish it, or send \`force\`.`, {
      facts: { previous_secret_expires_at: until },
    });
  }
  const secret = newWebhookSecret();
  const expiresAt = rotate.overlap_hours === 0 ? null : new Date(now.getTime() + rotate.overlap_hours * 3_600_000);
  const row = await updateSubscription(db, brandId, id, {
    secret: secrets.seal(secret, id),
    secretHint: toSecretHint(secret),
    previousSecret: expiresAt && old.secret,
    previousSecretExpiresAt: expiresAt,
    updatedAt: now,
  });
  work.audit({ resourceId: id, old: toAuditValues(old, old), new: toAuditValues(row, old), generated: ['secretHint'] });
  return { id, secret, previous_secret_expires_at: expiresAt?.toISOString() ?? null };
}

export interface WebhookFigures {
  pending: { pool: string; count: number }[];
  oldestDueAt: Date | null;
  subscriptions: { state: string; count: number }[];
  attempts: { variant: string; outcome: string; count: number; seconds: number }[];
}

/** Webhook metrics over all brands; attempts since `since`. */
export async function readWebhookFigures(db: Db, now: Date, since: Date): Promise<WebhookFigures> {
  const pending = await sql<{ pool: string; count: number }>`
    select case when is_slow then 'slow' else 'fast' end as pool, count(*) as count
    from webhook_deliveries delivery join webhook_subscriptions webhook on webhook.id = delivery.subscription_id
    where state = 'pending' group by 1`.execute(db);
  const oldestDue = await sql<{ at: Date | null }>`
    select min(next_attempt_at) as at from webhook_deliveries
    where state = 'pending' and next_attempt_at <= ${now}`.execute(db);
  const subscriptions = await sql<{ state: string; count: number }>`
    select case when not active then 'disabled' when failing_since is not null then 'failing' else 'active' end as state,
      count(*) as count
    from webhook_subscriptions where deleted_at is null group by 1`.execute(db);
  const attempts = await sql<{ variant: string; outcome: string; count: number; seconds: number }>`
    select variant, outcome, count(*) as count, (percentile_cont(0.99) within group (order by duration_ms) / 1000) as seconds
    from webhook_attempts attempt
    join webhook_deliveries delivery on delivery.id = attempt.delivery_id
    join webhook_subscriptions webhook on webhook.id = delivery.subscription_id
    where attempt.started_at > ${since} group by 1, 2`.execute(db);
  const oldestDueAt = oldestDue.rows[0]?.at ?? null;
  return { pending: pending.rows, oldestDueAt, subscriptions: subscriptions.rows, attempts: attempts.rows };
}
