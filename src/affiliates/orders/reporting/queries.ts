import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';

/** Orders of a shop by their ids there. */
export async function listRecorded(
  db: Db,
  { id, brandId }: { id: string; brandId: string },
  orderIds: readonly string[],
): Promise<{ id: string; order_id: string; attributed: boolean }[]> {
  const rows = await db
    .selectFrom('orders')
    .leftJoin('commissions', 'commissions.orderId', 'orders.id')
    .select(['orders.id', 'orders.orderId', sql<boolean>`commissions.id is not null`.as('attributed')])
    .where('orders.brandId', '=', brandId)
    .where('orders.integrationId', '=', id)
    .where('orders.orderId', '=', sql<string>`any(${orderIds})`)
    .orderBy('orders.orderId')
    .execute();
  return rows.map(({ orderId, ...row }) => ({ ...row, order_id: orderId }));
}
