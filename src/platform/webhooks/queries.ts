import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { WebhookSubscriptionsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../kit/engines/postgres/own.ts';
import { selectNumbers } from '../../kit/outbox/queries.ts';
import type { ListWindow } from '../../kit/values/page.ts';

export type WebhookVariant = WebhookSubscriptionsTable['variant'];

export type SubscriptionRow = Selectable<WebhookSubscriptionsTable>;
/** The count stops where the display does. */
const COUNTED = 10_001;

const standing = (db: Db) => db.selectFrom('webhookSubscriptions').where('deletedAt', 'is', null);

const withPending = (db: Db) =>
  standing(db)
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
  matching: (db, _brandId, _where: ListWindow) => standing(db),
  rows: withPending,
});
export const { get: getListed } = webhooks;
export type ListedSubscription = Awaited<ReturnType<typeof getListed>>;

/** Counts towards the brand's limit of ten: both variants, including inactive webhooks. */
export const countSubscriptions = (db: Db, brandId: string): Promise<number> =>
  countRows(standing(db).where('brandId', '=', brandId).select(COUNT));

export async function insertSubscription(db: Db, row: Insertable<WebhookSubscriptionsTable>): Promise<SubscriptionRow> {
  return await db.insertInto('webhookSubscriptions').values(row).returningAll().executeTakeFirstOrThrow();
}

/** The row, locked until the transaction ends. */
export const lockSubscription = (db: Db, brandId: string, id: string): Promise<SubscriptionRow> =>
  lockOwn(standing(db).selectAll(), 'webhook', brandId, id);

export const updateSubscription = (
  db: Db,
  brandId: string,
  id: string,
  change: Updateable<WebhookSubscriptionsTable>,
) => updateOwn(db.updateTable('webhookSubscriptions').set(change).returningAll(), brandId, id);

/** The brand's newest event; later ones count as new. */
export async function findHead(db: Db, brandId: string): Promise<number> {
  const row = await selectNumbers(db, brandId).select('seq').executeTakeFirst();
  return row?.seq ?? 0;
}

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

/** The brand's active subscriptions, locked so that one being switched off gets all of these events or none. */
export async function lockListening(db: Db, brandId: string) {
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

export interface Listening {
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
