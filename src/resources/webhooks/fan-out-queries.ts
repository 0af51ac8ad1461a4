import { sql } from 'kysely';
import type { Db } from '../../engines/postgres/open.ts';
import type { WebhookVariant } from '../../engines/postgres/webhook-tables.ts';

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
