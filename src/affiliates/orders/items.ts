import { sql } from 'kysely';
import { z } from 'zod';
import { StoredLine, StoredRefundedLine } from '../../analytics/pricing/stored-facts.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { toInsert } from '../../kit/engines/postgres/rows.ts';
import type { ItemFacts, RefundedItem, RefundFacts } from '../stores/formats/facts.ts';
import type { OrderKey } from './orders.ts';

/** Lines of an order in one report. */
interface ReportedItems extends OrderKey {
  items?: readonly ItemFacts[] | undefined;
  refunds: readonly RefundFacts[];
  updatedAt: Date;
}

/** Records lines of orders and refunds. The newer of two reports wins, whichever arrives first. */
export async function insertItems(db: Db, reported: readonly ReportedItems[]): Promise<void> {
  const rows = reported.flatMap(({ items, refunds, updatedAt: reportedAt, brandId, integrationId, orderId }) => {
    const key = { brandId, integrationId, orderId };
    const own = items === undefined || items.length === 0 ? [] : [{ ...key, refundId: '', items, reportedAt }];
    const byRefund = new Map(
      refunds.flatMap(({ refundId, items: lines = [] }) => (lines.length > 0 ? [[refundId, lines] as const] : [])),
    );
    return [...own, ...[...byRefund].map(([refundId, lines]) => ({ ...key, refundId, items: lines, reportedAt }))];
  });
  if (rows.length === 0) return;
  await sql`${toInsert('order_items', rows)} on conflict (integration_id, order_id, refund_id) do update
    set items = keep_product_facts(order_items.items, excluded.items), reported_at = excluded.reported_at
    where (excluded.reported_at, excluded.items::text) > (order_items.reported_at, order_items.items::text)`.execute(
    db,
  );
}

/** True if the lines of an order have the categories or the sale of their products already. */
export async function hasProductFacts(db: Db, { brandId, integrationId, orderId }: OrderKey): Promise<boolean> {
  const row = await db
    .selectFrom('orderItems')
    .select('orderId')
    .where('brandId', '=', brandId)
    .where('integrationId', '=', integrationId)
    .where('orderId', '=', orderId)
    .where('refundId', '=', '')
    .where(sql<boolean>`jsonb_path_exists(items, '$[*] ? (exists(@.categories) || exists(@.onSale))')`)
    .executeTakeFirst();
  return row !== undefined;
}

/** Lines of an order, and those that its refunds name, by refund. */
export interface StoredItems {
  items: z.output<typeof StoredLine>[];
  refunded: Map<string, RefundedItem[]>;
}

/** Lists the lines of orders of one store, by the ids of the orders there. */
async function listItems(
  db: Db,
  { brandId, integrationId }: Pick<OrderKey, 'brandId' | 'integrationId'>,
  orderIds: readonly string[],
): Promise<Map<string, StoredItems>> {
  const byOrder = new Map<string, StoredItems>(orderIds.map((id) => [id, { items: [], refunded: new Map() }]));
  if (orderIds.length === 0) return byOrder;
  const rows = await db
    .selectFrom('orderItems')
    .select(['orderId', 'refundId', 'items'])
    .where('brandId', '=', brandId)
    .where('integrationId', '=', integrationId)
    .where(sql<boolean>`order_id = any(${[...orderIds]}::text[])`)
    .execute();
  for (const { orderId, refundId, items } of rows) {
    const orderItems = byOrder.get(orderId);
    if (refundId !== '') orderItems?.refunded.set(refundId, z.array(StoredRefundedLine).parse(items));
    else if (orderItems) orderItems.items = z.array(StoredLine).parse(items);
  }
  return byOrder;
}

/** Lists the lines of orders of any store, by the ids of the orders here. */
export async function listItemsById(
  db: Db,
  brandId: string,
  orders: readonly { id: string; integrationId: string; orderId: string }[],
): Promise<Map<string, StoredItems>> {
  const byId = new Map<string, StoredItems>();
  for (const [integrationId, own] of Map.groupBy(orders, (order) => order.integrationId)) {
    const orderIds = own.map(({ orderId }) => orderId);
    const items = await listItems(db, { brandId, integrationId }, orderIds);
    for (const { id, orderId } of own) byId.set(id, items.get(orderId) ?? { items: [], refunded: new Map() });
  }
  return byId;
}

/** Finds the lines of an order and the refunded lines, by refund. */
export async function findItems(db: Db, key: OrderKey): Promise<StoredItems> {
  return (await listItems(db, key, [key.orderId])).get(key.orderId) ?? { items: [], refunded: new Map() };
}
