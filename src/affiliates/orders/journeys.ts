import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import type { Provider } from '../stores/formats/provider.ts';
import type { NewOrder } from './orders.ts';

/** An order with a journey to request from the store. */
export interface DueJourney {
  /** Id of the order in Rollcall. */
  orderId: string;
  brandId: string;
  integrationId: string;
  provider: Provider;
  baseUrl: string;
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

/**
 * Claims due journeys until `until`, so that no other worker requests them. Those that no store answered for a day
 * are deleted, because their orders are not decided again.
 */
export async function claimJourneys(db: Db, now: Date, until: Date, limit: number): Promise<DueJourney[]> {
  const { rows } = await sql<DueJourney>`
    with old as (delete from order_journeys where due_at <= ${new Date(now.getTime() - DAY_MS)}),
    due as (
      select journey.order_id from order_journeys as journey
      join integrations as store on store.id = journey.integration_id
      where journey.due_at <= ${now} and journey.due_at > ${new Date(now.getTime() - DAY_MS)}
        and store.status = 'connected'
      order by journey.due_at limit ${limit} for update of journey skip locked
    )
    update order_journeys as journey set due_at = ${until}
    from due, orders, integrations as store
    where journey.order_id = due.order_id and orders.id = journey.order_id and store.id = journey.integration_id
    returning journey.order_id, journey.brand_id, journey.integration_id, store.provider, store.base_url,
      journey.store_order_id, journey.answers, orders.created_at as seen_at`.execute(db);
  return rows;
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
