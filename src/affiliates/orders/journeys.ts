import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import type { Provider } from '../stores/formats/provider.ts';
import type { NewOrder } from './orders.ts';

/** A store with journeys to request. */
export interface JourneyStore {
  id: string;
  brandId: string;
  provider: Provider;
  baseUrl: string;
}

/** An order with a journey to request from the store. */
export interface DueJourney {
  /** Id of the order in Rollcall. */
  orderId: string;
  brandId: string;
  storeOrderId: string;
  answers: number;
  /** Time of the first report. */
  seenAt: Date;
}

export async function insertJourneys(
  db: Db,
  orders: readonly Pick<NewOrder, 'id' | 'brandId' | 'integrationId' | 'orderId'>[],
  dueAt: Date,
): Promise<void> {
  if (orders.length === 0) return;
  const rows = orders.map(({ id, brandId, integrationId, orderId: storeOrderId }) => ({
    orderId: id,
    brandId,
    integrationId,
    storeOrderId,
    dueAt,
  }));
  await db.insertInto('orderJourneys').values(rows).execute();
}

/** No store has answered these for a day; their orders are not decided again. */
const getGiveUpTime = (now: Date) => new Date(now.getTime() - DAY_MS);

/** Connected stores with due journeys. */
export const selectJourneyStores = (now: Date) => sql<JourneyStore>`
  select store.id, store.brand_id, store.provider, store.base_url from (
    select integration_id, min(due_at) as due_at from order_journeys
    where due_at <= ${now} and due_at > ${getGiveUpTime(now)} group by integration_id) as journey
  join integrations as store on store.id = journey.integration_id
  where store.status = 'connected' order by journey.due_at`;

export async function listDueJourneys(
  db: Db,
  { id, brandId }: JourneyStore,
  now: Date,
  limit: number,
): Promise<DueJourney[]> {
  return await db
    .selectFrom('orderJourneys as journey')
    .innerJoin('orders', 'orders.id', 'journey.orderId')
    .select(['journey.orderId', 'journey.brandId', 'journey.storeOrderId', 'journey.answers'])
    .select('orders.createdAt as seenAt')
    .where('journey.brandId', '=', brandId)
    .where('journey.integrationId', '=', id)
    .where('journey.dueAt', '<=', now)
    .where('journey.dueAt', '>', getGiveUpTime(now))
    .orderBy('journey.dueAt')
    .limit(limit)
    .execute();
}

/** Postpones the due journeys of a store that does not answer. */
export async function postponeJourneys(
  db: Db,
  { id, brandId }: JourneyStore,
  { now, dueAt }: { now: Date; dueAt: Date },
): Promise<void> {
  await db
    .updateTable('orderJourneys')
    .set({ dueAt })
    .where('brandId', '=', brandId)
    .where('integrationId', '=', id)
    .where('dueAt', '<=', now)
    .execute();
}

export async function deleteOldJourneys(db: Db, now: Date): Promise<void> {
  await db.deleteFrom('orderJourneys').where('dueAt', '<=', getGiveUpTime(now)).execute();
}

export async function updateJourney(
  db: Db,
  { brandId, orderId }: Pick<DueJourney, 'brandId' | 'orderId'>,
  change: { dueAt: Date; answers?: number },
): Promise<void> {
  await db
    .updateTable('orderJourneys')
    .set(change)
    .where('brandId', '=', brandId)
    .where('orderId', '=', orderId)
    .execute();
}

export async function deleteJourney(
  db: Db,
  { brandId, orderId }: Pick<DueJourney, 'brandId' | 'orderId'>,
): Promise<void> {
  await db.deleteFrom('orderJourneys').where('brandId', '=', brandId).where('orderId', '=', orderId).execute();
}
