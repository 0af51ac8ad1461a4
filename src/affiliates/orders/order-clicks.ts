import { sql } from 'kysely';
import { z } from 'zod';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { query } from '../../kit/engines/clickhouse/query.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork } from '../../kit/operation/work.ts';
import { sealNoted } from '../../kit/outbox/outbox.ts';
import { HOUR_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { HAS_CLICK } from '../stores/connections/connections.ts';
import type { Provider } from '../stores/formats/provider.ts';
import { reconsiderOrderById } from './record.ts';

/** A click waits this long for its order, which may be this old. */
const WAITS_MS = HOUR_MS;
/** Tolerated difference between the clocks of a store and of this machine. */
const CLOCKS_MS = MINUTE_MS;
/** Limit for each store, so that nobody fills the table. Orders beyond it are still attributed by the cart's click. */
const PER_MINUTE = 300;

interface ReportedClick {
  integrationId: string;
  orderId: string;
  click: string;
  /** The link that was clicked. */
  linkId: string;
}

/** Stores a click for an order if the link belongs to the store's brand and the store is within its rate. */
export async function insertReportedClick(
  db: Db,
  provider: Provider,
  { integrationId, orderId, click, linkId }: ReportedClick,
  now: Date,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ brandId: string }>`
      insert into order_clicks (integration_id, order_id, brand_id, click, received_at)
      select store.id, ${orderId}, store.brand_id, ${click}, ${now}
      from integrations store
      join links on links.brand_id = store.brand_id and links.id = ${linkId}
      where store.id = ${integrationId} and store.provider = ${provider} and store.status <> 'disconnected'
        and (
          select count(*) from order_clicks other
          where other.integration_id = store.id and other.received_at > ${new Date(now.getTime() - MINUTE_MS)}
        ) < ${PER_MINUTE}
      on conflict do nothing returning brand_id`.execute(trx);
    const [row] = rows;
    if (row !== undefined) await sealNoted(trx, row.brandId);
  });
}

interface DueOrder {
  brandId: string;
  integrationId: string;
  provider: Provider;
  orderId: string;
  clicks: string[];
}

/** Lists known orders with the clicks that were reported within an hour of the order. */
async function listDueOrders(db: Db, now: Date, limit: number): Promise<DueOrder[]> {
  const { rows } = await sql<DueOrder>`
    select orders.brand_id, orders.integration_id, store.provider, orders.order_id, array_agg(one.click) as clicks
    from order_clicks one
    join orders on orders.integration_id = one.integration_id and orders.order_id = one.order_id
    join integrations store on store.id = one.integration_id
    where one.used_at is null and one.received_at > ${new Date(now.getTime() - WAITS_MS)}
      and one.received_at > orders.occurred_at - ${CLOCKS_MS} * interval '1 ms'
      and one.received_at < orders.occurred_at + ${WAITS_MS} * interval '1 ms'
    group by orders.brand_id, orders.integration_id, store.provider, orders.order_id
    limit ${limit}
  `.execute(db);
  return rows;
}

async function markClicksUsed(db: Db, { brandId, integrationId, orderId, clicks }: DueOrder, at: Date): Promise<void> {
  await db
    .updateTable('orderClicks')
    .set({ usedAt: at })
    .where('brandId', '=', brandId)
    .where('integrationId', '=', integrationId)
    .where('orderId', '=', orderId)
    .where('click', 'in', clicks)
    .execute();
}

interface ClickStore {
  brandId: string;
  integrationId: string;
}

const LastClick = z.object({ link_id: z.string(), last: z.string() });
/** Number of last clicked links that are searched for one that counts at the store. */
const LAST_LINKS = 100;

/** Finds the last human click on a link that counts at the store: bound to it or to none. */
export async function findLastClick(
  db: Db,
  clickhouse: ClickHouse,
  { brandId, integrationId }: ClickStore,
  since: Date,
): Promise<{ id: string; value: string; at: Date } | undefined> {
  const lastClicks = await query(
    clickhouse,
    LastClick,
    `SELECT link_id, formatDateTime(max(at), '%Y-%m-%dT%H:%i:%S.%fZ') AS last FROM clicks_v1
     WHERE brand_id = {brand:String} AND at >= {since:DateTime64(3, 'UTC')} AND kind IN ('counted', 'repeat')
     GROUP BY link_id ORDER BY max(at) DESC, link_id LIMIT ${LAST_LINKS}`,
    { brand: brandId, since: since.toISOString().replace('T', ' ').slice(0, 23) },
  );
  if (lastClicks.length === 0) return undefined;
  const counting = await db
    .selectFrom('links')
    .select(['id', 'value'])
    .where('brandId', '=', brandId)
    .where(
      'id',
      'in',
      lastClicks.map(({ link_id }) => link_id),
    )
    .where((eb) => eb.or([eb('integrationId', 'is', null), eb('integrationId', '=', integrationId)]))
    .execute();
  const values = new Map(counting.map(({ id, value }) => [id, value]));
  for (const { link_id: id, last } of lastClicks) {
    const value = values.get(id);
    if (value !== undefined) return { id, value, at: new Date(last) };
  }
  return undefined;
}

/** Finds the last order that carried a click on a link of the brand. */
export async function findLastOrder(db: Db, { brandId, integrationId }: ClickStore) {
  return await db
    .selectFrom('orders')
    .select(['orderId', 'orderNumber', 'occurredAt'])
    .where('brandId', '=', brandId)
    .where('integrationId', '=', integrationId)
    .where(HAS_CLICK)
    .orderBy('occurredAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

const AT_ONCE = 200;

/**
 * Reconsiders orders that paid nobody by the clicks that the shop's pixel reported. A failure delays no other order.
 */
export async function applyReportedClicks({ postgres, clock, secrets, failures }: Context): Promise<void> {
  for (const dueOrder of await listDueOrders(postgres.db, clock.now(), AT_ONCE)) {
    const { brandId, integrationId, provider, orderId, clicks } = dueOrder;
    const actor = { brandId, keyId: null, operation: 'use_order_clicks', requestId: null };
    try {
      await inWork(postgres.db, clock, actor, async (work) => {
        const source = { id: integrationId, brandId, provider };
        await reconsiderOrderById(work, secrets, source, orderId, { clickIds: clicks, codes: [] });
        await markClicksUsed(work.db, dueOrder, work.now);
      });
    } catch (error) {
      failures.failed('deciding an order by a reported click', error, { brandId, order: orderId });
    }
  }
}

export const applyOrderClicks: Job = {
  name: 'use-order-clicks',
  everyMs: 5_000,
  asksFor: 'orders for which a pixel reported a click',
  run: applyReportedClicks,
};

export const forgetOrderClicks: Job = {
  name: 'forget-order-clicks',
  everyMs: 600_000,
  asksFor: 'reported clicks that no order can use any more',
  run: async ({ postgres, clock }) => {
    const before = new Date(clock.now().getTime() - 2 * WAITS_MS);
    const brands = postgres.db.selectFrom('orderClicks').select('brandId').distinct().where('receivedAt', '<', before);
    for (const { brandId } of await brands.execute()) {
      await postgres.db.transaction().execute(async (trx) => {
        await trx.deleteFrom('orderClicks').where('brandId', '=', brandId).where('receivedAt', '<', before).execute();
        await sealNoted(trx, brandId);
      });
    }
  },
};
