import { type Selectable, sql } from 'kysely';
import type { WebhookAttemptsTable, WebhookDeliveriesTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Work } from '../../kit/operation/work.ts';
import { eventNames, eventsShownTo, type OlderItem, shownAs } from '../../kit/outbox/events.ts';
import { EVENTS_KEPT_MS } from '../../kit/outbox/relay.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { ApiError, notFound, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { lockBrand } from '../brands/brands.ts';
import { sampleData } from './event-catalogue.ts';
import { lockSubscription, type SubscriptionRow } from './webhooks.ts';

export type DeliveryState = WebhookDeliveriesTable['state'];

export type DeliveryRow = Omit<Selectable<WebhookDeliveriesTable>, 'ownData'>;
export type AttemptRow = Selectable<WebhookAttemptsTable>;
export type DetailedDelivery = Awaited<ReturnType<typeof getDelivery>>;

export interface DeliverySelection extends ListWindow {
  subscriptionId: string;
  state?: DeliveryState | undefined;
  event?: string | undefined;
}

const COLUMNS = [
  ...(['id', 'brandId', 'subscriptionId', 'eventId', 'seq', 'event', 'resend', 'state', 'attempts'] as const),
  ...(['lostAttempts', 'nextAttemptAt', 'claimedUntil', 'lastStatusCode', 'lastError'] as const),
  ...(['createdAt', 'finishedAt'] as const),
] as const;

export const deliveries = listing({
  noun: 'delivery',
  table: 'webhook_deliveries',
  isCounted: true,
  time: 'createdAt',
  changed: ['createdAt', 'finishedAt'],
  matching: (db, _brandId, { subscriptionId, state, event }: DeliverySelection) =>
    db.selectFrom('webhookDeliveries').where((eb) => eb.and(omitUndefined({ subscriptionId, state, event }))),
  rows: (db) => db.selectFrom('webhookDeliveries').select(COLUMNS),
});

/** Reads a delivery with the data of its body. Deliveries of deleted subscriptions are not found. */
export async function getDelivery(db: Db, brandId: string, id: string) {
  const row = await db
    .selectFrom('webhookDeliveries as delivery')
    .innerJoin('webhookSubscriptions as webhook', 'webhook.id', 'delivery.subscriptionId')
    .leftJoin('outbox as event', (join) =>
      join.onRef('event.brandId', '=', 'delivery.brandId').onRef('event.seq', '=', 'delivery.seq'),
    )
    .select(COLUMNS.map((column) => `delivery.${column}` as const))
    .select([
      'webhook.variant',
      'webhook.active',
      sql<string | null>`delivery.own_data::text`.as('testText'),
      sql<string | null>`coalesce(delivery.own_data::text, event.data::text)`.as('data'),
      sql<Date>`coalesce(event.created_at, delivery.created_at)`.as('announcedAt'),
    ])
    .where('delivery.brandId', '=', brandId)
    .where('delivery.id', '=', id)
    .where('webhook.deletedAt', 'is', null)
    .executeTakeFirst();
  if (!row) throw notFound('delivery');
  return row;
}

export async function listAttempts(db: Db, deliveryId: string): Promise<AttemptRow[]> {
  return await db.selectFrom('webhookAttempts').selectAll().where('deliveryId', '=', deliveryId).orderBy('n').execute();
}

export interface NewRedelivery {
  id: string;
  brandId: string;
  subscriptionId: string;
  eventId: string;
  seq: number | null;
  event: string;
  ownData: string | null;
  now: Date;
}

/** Inserts another delivery of an event. The subscription must be locked. */
async function insertRedelivery(db: Db, { now, ...row }: NewRedelivery): Promise<DeliveryRow> {
  return await db
    .insertInto('webhookDeliveries')
    .values((eb) => ({
      ...row,
      state: 'pending' as const,
      nextAttemptAt: now,
      claimedUntil: null,
      createdAt: now,
      finishedAt: null,
      lastStatusCode: null,
      lastError: null,
      resend: eb
        .selectFrom('webhookDeliveries as before')
        .select(({ fn }) => sql<number>`coalesce(${fn.max('before.resend')} + 1, 0)`.as('resend'))
        .where('before.subscriptionId', '=', row.subscriptionId)
        .where('before.eventId', '=', row.eventId),
    }))
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

/** Counts a brand's tests since a time. */
async function countTests(db: Db, brandId: string, since: Date): Promise<{ count: number; first: Date | null }> {
  return await db
    .selectFrom('webhookDeliveries')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min('createdAt').as('first')])
    .where('brandId', '=', brandId)
    .where('createdAt', '>', since)
    .where('seq', 'is', null)
    .executeTakeFirstOrThrow();
}

export interface MissedEvent {
  id: string;
  seq: number;
  /** The event's name in the outbox. */
  event: string;
  resend: number;
  data: unknown;
  /** JSON text of an earlier delivery with its own data. */
  ownData: string | null;
}

/** Lists events of a time range without a delivered or pending delivery to the subscription, oldest first. */
async function listMissed(
  db: Db,
  brandId: string,
  subscriptionId: string,
  { facts, since, until, limit }: { facts: readonly string[]; since: Date; until: Date; limit: number },
): Promise<MissedEvent[]> {
  const { rows } = await sql<MissedEvent>`
    select missed.*, event.data from (
    select event.id, event.seq, event.event, coalesce(max(delivery.resend) + 1, 0) as resend,
      max(delivery.own_data::text) as own_data
    from outbox event
    left join webhook_deliveries delivery
      on delivery.subscription_id = ${subscriptionId} and delivery.event_id = event.id
    where event.brand_id = ${brandId} and event.created_at between ${since} and ${until}
      and event.event = any(${facts}::text[])
    group by event.id, event.seq, event.event
    having not coalesce(bool_or(delivery.state in ('delivered', 'pending')), false)
    order by event.seq limit ${limit}) missed
    join outbox event on event.brand_id = ${brandId} and event.seq = missed.seq
    order by missed.seq`.execute(db);
  return rows;
}

async function insertMissed(
  db: Db,
  brandId: string,
  subscriptionId: string,
  missed: readonly (MissedEvent & { deliveryId: string; eventName: string })[],
  now: Date,
): Promise<void> {
  const of = <V>(value: (one: (typeof missed)[number]) => V) => missed.map(value);
  await sql`
    insert into webhook_deliveries
      (brand_id, subscription_id, state, next_attempt_at, created_at, id, event_id, seq, event, resend, own_data)
    select ${brandId}, ${subscriptionId}, 'pending', ${now}::timestamptz, ${now}::timestamptz, * from unnest(
      ${of(({ deliveryId }) => deliveryId)}::text[], ${of(({ id }) => id)}::text[], ${of(({ seq }) => seq)}::bigint[],
      ${of(({ eventName }) => eventName)}::text[], ${of(({ resend }) => resend)}::int[],
      ${of(({ ownData }) => ownData)}::json[])`.execute(db);
}

const MAX_TESTS_PER_MINUTE = 10;
const MAX_RECOVERED = 10_000;

/** Inactive webhooks receive nothing, not even on request. */
async function lockActive({ db, brandId }: Work, id: string): Promise<SubscriptionRow> {
  const row = await lockSubscription(db, brandId, id);
  if (row.active) return row;
  throw new ApiError('INVALID_STATE_TRANSITION', 'The webhook is not active; set `active` to true first.', {
    facts: { current_status: 'disabled', allowed: ['active'] },
  });
}

async function assertTestLimit({ db, brandId, now }: Work): Promise<void> {
  await lockBrand(db, brandId);
  const { count, first } = await countTests(db, brandId, new Date(now.getTime() - MINUTE_MS));
  if (count < MAX_TESTS_PER_MINUTE) return;
  const waitMs = (first ?? now).getTime() + MINUTE_MS - now.getTime();
  throw new ApiError('RATE_LIMITED', `A brand may send ${MAX_TESTS_PER_MINUTE} test events a minute.`, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
  });
}

/** Queues a sample. It is not an event, so no feed lists it. */
export async function sendTest(
  work: Work,
  olderItem: OlderItem,
  { id, event }: { id: string; event: string | undefined },
): Promise<DeliveryRow> {
  const { db, now, brandId } = work;
  const webhook = await lockActive(work, id);
  await assertTestLimit(work);
  const name = event ?? webhook.events[0] ?? '';
  const ownData = sampleData(webhook.variant, name, olderItem);
  if (ownData === undefined) {
    const message = `${JSON.stringify(name.slice(0, 60))} is not an event; see \`allowed\`.`;
    throw new ApiError('VALIDATION_ERROR', `event: ${message}`, {
      details: [{ field: 'event', code: 'unknown_event', message }],
      facts: { allowed: eventNames(webhook.variant) },
    });
  }
  const [deliveryId, eventId] = [newId('whd', now.getTime()), newId('evt_test', now.getTime())];
  const row = { id: deliveryId, brandId, subscriptionId: id, eventId, seq: null, event: name, ownData, now };
  const delivery = await insertRedelivery(db, row);
  work.audit({ resourceId: id, old: null, new: { test: deliveryId, event: name }, generated: ['test'] });
  return delivery;
}

/** Sends the same event id and body again, to the current URL of the webhook. */
export async function resendDelivery(work: Work, id: string): Promise<DeliveryRow> {
  const { db, now, brandId } = work;
  const old = await getDelivery(db, brandId, id);
  await lockActive(work, old.subscriptionId);
  if (old.data === null) throw notFound('event: it is older than 30 days');
  const { subscriptionId, eventId, seq, event, testText } = old;
  const row = { id: newId('whd', now.getTime()), brandId, subscriptionId, eventId, seq, event, ownData: testText };
  const delivery = await insertRedelivery(db, { ...row, now });
  const generated = ['delivery'];
  work.audit({ resourceId: subscriptionId, old: null, new: { resent: id, delivery: delivery.id }, generated });
  return delivery;
}

/** Queues the events of a time range that were not delivered and are not pending. */
export async function recoverMissed(
  work: Work,
  olderItem: OlderItem,
  { id, since, until }: { id: string; since: Date; until: Date },
): Promise<number> {
  const { db, now, brandId } = work;
  const { variant, events } = await lockActive(work, id);
  if (since > until) {
    throw validationError([{ field: 'since', code: 'invalid', message: 'must not be after `until`.' }]);
  }
  const facts = eventsShownTo(variant).flatMap(({ name, shownAs: eventName }) =>
    events.includes(eventName) ? [name] : [],
  );
  const missed = await listMissed(db, brandId, id, { facts, since, until, limit: MAX_RECOVERED });
  if (missed.length === 0) return 0;
  const redeliveries = missed.map((one) => ({
    ...one,
    deliveryId: newId('whd', now.getTime()),
    eventName: shownAs(variant, one.event) ?? one.event,
    ownData: variant === 'legacy' ? (one.ownData ?? JSON.stringify(olderItem(one.event, one.data))) : null,
  }));
  await insertMissed(db, brandId, id, redeliveries, now);
  work.audit({ resourceId: id, old: null, new: { recovered: missed.length } });
  return missed.length;
}

const DELETE_BATCH = 5_000;

/** Deletes deliveries as old as forgotten events, and deleted subscriptions once nothing refers to them. */
export async function forgetDeliveries({ postgres, clock }: Pick<Context, 'postgres' | 'clock'>): Promise<void> {
  const before = new Date(clock.now().getTime() - EVENTS_KEPT_MS);
  for (let count = DELETE_BATCH; count === DELETE_BATCH; ) {
    const { numAffectedRows } = await sql`
      delete from webhook_deliveries where id in (
        select id from webhook_deliveries where finished_at < ${before} limit ${DELETE_BATCH})`.execute(postgres.db);
    count = Number(numAffectedRows ?? 0);
  }
  await sql`
    delete from webhook_subscriptions webhook where deleted_at < ${before}
      and not exists (select from webhook_deliveries delivery where delivery.subscription_id = webhook.id)`.execute(
    postgres.db,
  );
}
