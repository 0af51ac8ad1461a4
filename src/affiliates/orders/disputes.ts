import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { BankDispute } from '../stores/formats/facts.ts';
import type { OrderKey } from './orders.ts';

/**
 * Records a report of a dispute. The newer report wins, and a loss wins over others of the same time; an open one never
 * reopens what was decided. The result does not depend on the order of arrival.
 */
export async function insertDispute(db: Db, key: OrderKey, dispute: BankDispute, now: Date): Promise<void> {
  const { disputeId, status, at: toldAt } = dispute;
  const lostAt = status === 'lost' ? toldAt : null;
  const isDecided = (row: string) => sql`${sql.ref(`${row}.status`)} <> 'open'`;
  const counts = sql`case when (${isDecided('excluded')}) <> (${isDecided('orderDisputes')}) then ${isDecided('excluded')}
    else excluded.told_at > order_disputes.told_at
      or excluded.told_at = order_disputes.told_at and excluded.status = 'lost' end`;
  await db
    .insertInto('orderDisputes')
    .values({ ...key, disputeId, status, toldAt, lostAt, createdAt: now })
    .onConflict((conflict) =>
      conflict.columns(['integrationId', 'orderId', 'disputeId']).doUpdateSet({
        status: sql`case when ${counts} then excluded.status else order_disputes.status end`,
        toldAt: sql`case when ${counts} then excluded.told_at else order_disputes.told_at end`,
        lostAt: sql`least(order_disputes.lost_at, excluded.lost_at)`,
      }),
    )
    .execute();
}

export async function listDisputes(db: Db, key: OrderKey) {
  return await db
    .selectFrom('orderDisputes')
    .select(['disputeId', 'status', 'toldAt', 'lostAt'])
    .where('brandId', '=', key.brandId)
    .where('integrationId', '=', key.integrationId)
    .where('orderId', '=', key.orderId)
    .orderBy('toldAt')
    .orderBy('disputeId')
    .execute();
}

/** Finds the time of the first lost dispute; null if none is lost. */
export async function findDisputeLostAt(db: Db, key: OrderKey): Promise<Date | null> {
  const lostDisputes = (await listDisputes(db, key)).filter(({ status }) => status === 'lost');
  return lostDisputes.reduce<Date | null>(
    (first, { lostAt }) => (first && lostAt && first <= lostAt ? first : lostAt),
    null,
  );
}
