import { type Insertable, type RawBuilder, sql } from 'kysely';
import type { OrderRefundsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { ReceivedRefunds } from '../stores/formats/facts.ts';
import type { OrderKey } from './orders.ts';
import type { KnownRefund } from './recompute.ts';

/** A report of a known refund is in the stored currency. */
const isSameCurrency = sql<boolean>`order_refunds.currency = excluded.currency`;

const isStoreCurrency = sql<boolean>`excluded.currency =
  (select store.currency from integrations as store where store.id = excluded.integration_id)`;

const mergeSameCurrency = <T>(mergedValue: RawBuilder<T>, column: string) =>
  sql<T>`case when ${isSameCurrency} then ${mergedValue} else ${sql.ref(`excluded.${column}`)} end`;

/**
 * Records refunds by their ids. Of two reports of one refund, the larger amount and the earlier time count, whichever
 * came first; what is reported before its commission is paid is prorated. Of reports in two currencies the one in the
 * order's counts, or in the store's while that is not known, and the other is ignored.
 */
export async function insertRefunds(
  db: Db,
  key: OrderKey,
  { refunds, currency, updatedAt }: ReceivedRefunds,
  { now, isPaid, isOfOrder }: { now: Date; isPaid: boolean; isOfOrder: boolean },
): Promise<void> {
  const byId = new Map<string, Insertable<OrderRefundsTable>>();
  for (const { refundId, amountMinor, at } of refunds) {
    const earlier = byId.get(refundId);
    const largest = Math.max(amountMinor, earlier?.amountMinor ?? 0);
    byId.set(refundId, {
      ...key,
      refundId,
      amountMinor: largest,
      at: earlier && earlier.at < at ? earlier.at : at,
      proratedMinor: isPaid ? 0 : largest,
      // Clocks of one store may differ: a refund is reported no sooner than it is made.
      toldAt: at > updatedAt ? at : updatedAt,
      currency,
      createdAt: now,
    });
  }
  if (byId.size === 0) return;
  await db
    .insertInto('orderRefunds')
    .values([...byId.values()])
    .onConflict((conflict) =>
      conflict
        .columns(['integrationId', 'orderId', 'refundId'])
        .doUpdateSet({
          amountMinor: mergeSameCurrency(
            sql`greatest(order_refunds.amount_minor, excluded.amount_minor)`,
            'amount_minor',
          ),
          at: mergeSameCurrency(sql`least(order_refunds.at, excluded.at)`, 'at'),
          proratedMinor: mergeSameCurrency(
            sql`greatest(order_refunds.prorated_minor, excluded.prorated_minor)`,
            'prorated_minor',
          ),
          toldAt: mergeSameCurrency(sql`greatest(order_refunds.told_at, excluded.told_at)`, 'told_at'),
          currency: sql<string>`excluded.currency`,
        })
        .where(sql<boolean>`case when ${isSameCurrency} then order_refunds.amount_minor < excluded.amount_minor
          or order_refunds.at > excluded.at or order_refunds.told_at < excluded.told_at
          else ${isOfOrder ? sql`true` : isStoreCurrency} end`),
    )
    .execute();
}

/** Selects refunds that their store has not taken back. */
const selectCurrentRefunds = (db: Db, brandId: string) =>
  db
    .selectFrom('orderRefunds as refunds')
    .innerJoin('orderHeads as heads', (join) =>
      join
        .onRef('heads.integrationId', '=', 'refunds.integrationId')
        .onRef('heads.orderId', '=', 'refunds.orderId')
        .onRef('heads.brandId', '=', 'refunds.brandId'),
    )
    .select(['refunds.refundId', 'refunds.amountMinor', 'refunds.at', 'refunds.proratedMinor'])
    .where('refunds.brandId', '=', brandId)
    .where((eb) =>
      eb.or([eb('heads.refundsListedAt', 'is', null), eb('refunds.toldAt', '>=', eb.ref('heads.refundsListedAt'))]),
    );

/** Lists the refunds of an order in its currency. */
export async function listRefunds(db: Db, key: OrderKey, currency: string): Promise<KnownRefund[]> {
  return await selectCurrentRefunds(db, key.brandId)
    .where('refunds.integrationId', '=', key.integrationId)
    .where('refunds.orderId', '=', key.orderId)
    .where('refunds.currency', '=', currency)
    .execute();
}

/** Lists the refunds of several orders, each in its order's currency, unordered. */
export async function listRefundsByOrder(
  db: Db,
  brandId: string,
  orders: readonly { integrationId: string; orderId: string; currency: string }[],
) {
  if (orders.length === 0) return [];
  return await selectCurrentRefunds(db, brandId)
    .select(['refunds.integrationId', 'refunds.orderId'])
    .where(
      sql<boolean>`(refunds.integration_id, refunds.order_id, refunds.currency) in (select * from unnest(
        ${orders.map(({ integrationId }) => integrationId)}::text[], ${orders.map(({ orderId }) => orderId)}::text[],
        ${orders.map(({ currency }) => currency)}::text[]))`,
    )
    .execute();
}
