import { sql } from 'kysely';
import { listing } from '../../../kit/engines/postgres/listing.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { ListWindow } from '../../../kit/values/page.ts';
import { omitUndefined } from '../../../kit/values/patch.ts';
import type { Provider } from '../formats/provider.ts';
import type { StoreDeliveryFilter } from './deliveries.shapes.ts';

/** All columns but the body, which no response contains. */
const SHOWN = [
  'id',
  'brandId',
  'integrationId',
  'topic',
  'state',
  'attempts',
  'nextAttemptAt',
  'reason',
  'notes',
  'orderId',
  'receivedAt',
  'finishedAt',
] as const;

type StoreDeliveryQuery = ListWindow & Pick<StoreDeliveryFilter, 'state'> & { integrationId: string };

export const storeDeliveries = listing({
  noun: 'delivery',
  table: 'store_deliveries',
  isCounted: true,
  time: 'receivedAt',
  changed: ['receivedAt', 'triedAt', 'finishedAt'],
  matching: (db, _brandId, { integrationId, state }: StoreDeliveryQuery) =>
    db.selectFrom('storeDeliveries').where((eb) => eb.and(omitUndefined({ integrationId, state }))),
  rows: (db) => db.selectFrom('storeDeliveries').select(SHOWN),
});
export type StoreDeliveryRow = Awaited<ReturnType<typeof storeDeliveries.get>>;

export interface NewDelivery {
  id: string;
  integrationId: string;
  provider: Provider;
  /** The integration's sealed secrets that the delivery was checked against. */
  secrets: Buffer;
  topic: string | null;
  headers: Readonly<Record<string, string>>;
  sealedBody: Buffer;
}

/**
 * Stores deliveries, and returns the ids of those that it stored: none of a store that was disconnected, or given other
 * secrets, since the delivery was checked.
 */
export async function insertDeliveries(db: Db, rows: readonly NewDelivery[], now: Date): Promise<Set<string>> {
  const of = <V>(value: (row: NewDelivery) => V) => rows.map(value);
  // The bytes travel as one parameter, because arrays of bytes travel as hexadecimal text.
  const bytes = Buffer.concat(rows.flatMap(({ secrets, sealedBody }) => [secrets, sealedBody]));
  const { rows: stored } = await sql<{ id: string }>`
    with given as (
      select id, integration_id, provider, topic, headers, secrets_length, body_length,
        sum(secrets_length + body_length) over (order by place) - secrets_length - body_length as start
      from unnest(${of(({ id }) => id)}::text[], ${of(({ integrationId }) => integrationId)}::text[],
        ${of(({ provider }) => provider)}::text[], ${of(({ topic }) => topic)}::text[],
        ${of(({ headers }) => JSON.stringify(headers))}::jsonb[], ${of(({ secrets }) => secrets.length)}::int[],
        ${of(({ sealedBody }) => sealedBody.length)}::int[])
        with ordinality as one (id, integration_id, provider, topic, headers, secrets_length, body_length, place)),
    stored as (
      insert into store_deliveries (id, brand_id, integration_id, topic, headers, body, next_attempt_at, received_at)
      select given.id, store.brand_id, store.id, given.topic, given.headers,
        substring(${bytes}::bytea from (start + secrets_length + 1)::int for body_length), ${now}, ${now}
      from given join integrations as store on store.id = given.integration_id
        and store.provider = given.provider and store.status <> 'disconnected'
        and store.secrets = substring(${bytes}::bytea from (start + 1)::int for secrets_length)
      returning id)
    select id from stored`.execute(db);
  return new Set(stored.map(({ id }) => id));
}

/** Makes a failed or waiting delivery due now. Others stay unchanged. */
export async function updateToRetry(db: Db, { brandId, id }: Pick<StoreDeliveryRow, 'brandId' | 'id'>, now: Date) {
  return await db
    .updateTable('storeDeliveries')
    .set({ state: 'waiting', attempts: 0, nextAttemptAt: now, finishedAt: null })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('state', 'in', ['waiting', 'failed'])
    .returning(SHOWN)
    .executeTakeFirst();
}

/** Makes deliveries due that were tried before their store was reconnected. */
export async function retryOfReconnectedStores(db: Db, after: Date, now: Date): Promise<void> {
  await sql`
    update store_deliveries as delivery set next_attempt_at = ${now}
    from integrations as store
    where store.connected_at > ${after} and store.status = 'connected'
      and delivery.brand_id = store.brand_id and delivery.integration_id = store.id
      and delivery.state = 'waiting' and delivery.next_attempt_at > ${now}
      and delivery.tried_at < store.connected_at`.execute(db);
}

/** Deletes at most `limit` deliveries from before a time. Returns their number. */
export async function deleteDeliveriesBefore(db: Db, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from store_deliveries where id in (
      select id from store_deliveries where received_at < ${before} limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0);
}
