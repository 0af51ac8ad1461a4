import { type Selectable, sql } from 'kysely';
import type { WebhookAttemptsTable, WebhookDeliveriesTable } from '../../../kit/engines/postgres/database.ts';
import { listing } from '../../../kit/engines/postgres/listing.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { notFound } from '../../../kit/values/errors.ts';
import type { ListWindow } from '../../../kit/values/page.ts';
import { omitUndefined } from '../../../kit/values/patch.ts';

export type DeliveryState = WebhookDeliveriesTable['state'];

export type DeliveryRow = Omit<Selectable<WebhookDeliveriesTable>, 'ownData'>;
export type AttemptRow = Selectable<WebhookAttemptsTable>;
export type DetailedDelivery = Awaited<ReturnType<typeof getDelivery>>;

export interface DeliveryWhere extends ListWindow {
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
  time: 'createdAt',
  changed: ['createdAt', 'finishedAt'],
  matching: (db, _brandId, { subscriptionId, state, event }: DeliveryWhere) =>
    db.selectFrom('webhookDeliveries').where((eb) => eb.and(omitUndefined({ subscriptionId, state, event }))),
  rows: (db) => db.selectFrom('webhookDeliveries').select(COLUMNS),
});

/** A delivery with the data of its body. Deliveries of deleted subscriptions are not found. */
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

export interface Queued {
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
export async function insertAgain(db: Db, { now, ...row }: Queued): Promise<DeliveryRow> {
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

/** The number of a brand's tests since then. */
export async function countTests(db: Db, brandId: string, since: Date): Promise<{ count: number; first: Date | null }> {
  return await db
    .selectFrom('webhookDeliveries')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min('createdAt').as('first')])
    .where('brandId', '=', brandId)
    .where('createdAt', '>', since)
    .where('seq', 'is', null)
    .executeTakeFirstOrThrow();
}

export interface Missed {
  id: string;
  seq: number;
  /** The event's name in the outbox. */
  event: string;
  resend: number;
  data: unknown;
  /** JSON text of an earlier delivery with its own data. */
  ownData: string | null;
}

/** Events of a time range without a delivered or pending delivery to the subscription, oldest first. */
export async function listMissed(
  db: Db,
  brandId: string,
  subscriptionId: string,
  { facts, since, until, limit }: { facts: readonly string[]; since: Date; until: Date; limit: number },
): Promise<Missed[]> {
  const { rows } = await sql<Missed>`
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

export async function insertMissed(
  db: Db,
  brandId: string,
  subscriptionId: string,
  missed: readonly (Missed & { deliveryId: string; shown: string })[],
  now: Date,
): Promise<void> {
  const of = <V>(value: (one: (typeof missed)[number]) => V) => missed.map(value);
  await sql`
    insert into webhook_deliveries
      (brand_id, subscription_id, state, next_attempt_at, created_at, id, event_id, seq, event, resend, own_data)
    select ${brandId}, ${subscriptionId}, 'pending', ${now}::timestamptz, ${now}::timestamptz, * from unnest(
      ${of(({ deliveryId }) => deliveryId)}::text[], ${of(({ id }) => id)}::text[], ${of(({ seq }) => seq)}::bigint[],
      ${of(({ shown }) => shown)}::text[], ${of(({ resend }) => resend)}::int[],
      ${of(({ ownData }) => ownData)}::json[])`.execute(db);
}
