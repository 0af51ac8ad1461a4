import { sql } from 'kysely';
import { COUNT, countOf, isFound } from '../../../kit/engines/postgres/count.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { LinkRow } from '../../links/queries.ts';
import type { Standing } from '../policy.ts';
import type { OrderRow } from '../queries.ts';

export interface Period {
  from: Date;
  /** Inclusive. */
  to: Date;
}

const inPeriod = (brandId: string, { from, to }: Period) => sql<boolean>`(orders.brand_id = ${brandId}
  and orders.occurred_at >= ${from} and orders.occurred_at <= ${to}
  and orders.paid_at is not null and orders.is_test is not true
  and orders.attribution ->> 'reason' is distinct from 'history')`;

export const hasMoreThan = (db: Db, brandId: string, period: Period, orders: number): Promise<boolean> =>
  isFound(
    db
      .selectFrom('orders')
      .select('id')
      .where(inPeriod(brandId, period))
      .orderBy('occurredAt', 'desc')
      .orderBy('id', 'desc')
      .offset(orders)
      .limit(1),
  );

export const countPaidOrders = (db: Db, brandId: string, period: Period): Promise<number> =>
  countOf(db.selectFrom('orders').select(COUNT).where(inPeriod(brandId, period)));

type Facts = Pick<
  OrderRow,
  | 'id'
  | 'orderId'
  | 'integrationId'
  | 'currency'
  | 'baseMinor'
  | 'occurredAt'
  | 'paidAt'
  | 'cancelledAt'
  | 'firstCancelledAt'
  | 'storeUpdatedAt'
  | 'isTest'
  | 'isRenewal'
  | 'disputeLostAt'
  | 'attribution'
>;

/** A paid order with its commission, whose columns are null when it has none. */
export interface SimulatedOrder extends Facts, Standing {
  linkId: string | null;
  creatorId: string;
  holdEndsAt: Date | null;
  takenBackMinor: number;
}

/** Paid orders of a period, without tests, newest first. */
export async function listPaidOrders(
  db: Db,
  brandId: string,
  period: Period,
  after: Pick<SimulatedOrder, 'occurredAt' | 'id'> | undefined,
  limit: number,
): Promise<SimulatedOrder[]> {
  const isAfter = after ? sql`(orders.occurred_at, orders.id) < (${after.occurredAt}, ${after.id})` : sql`true`;
  const { rows } = await sql<SimulatedOrder>`
    select orders.id, orders.order_id, orders.integration_id, orders.currency, orders.base_minor, orders.occurred_at,
      orders.paid_at, orders.cancelled_at, orders.first_cancelled_at, orders.store_updated_at, orders.is_test,
      orders.is_renewal, orders.dispute_lost_at, orders.attribution,
      commission.link_id, commission.creator_id, commission.commission_rate_ppm as rate_ppm, commission.hold_days,
      commission.status, commission.status_note, commission.rejected_from, commission.note_before_rejection,
      commission.commission_minor, commission.hold_ends_at,
      coalesce((select sum(back.amount_minor) from commission_adjustments as back
        where back.brand_id = orders.brand_id and back.commission_id = commission.id), 0)::bigint as taken_back_minor
    from orders left join commissions as commission on commission.order_id = orders.id
    where ${inPeriod(brandId, period)} and ${isAfter}
    order by orders.occurred_at desc, orders.id desc limit ${limit}`.execute(db);
  return rows;
}

/** The terms of codes and links as they are today. */
export async function listTerms(db: Db, brandId: string, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return await db
    .selectFrom('links')
    .select(['id', 'creatorId', 'commissionRatePpm', 'holdDays', 'paysRenewals'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`id = any(${[...ids]}::text[])`)
    .execute();
}
export type TermsOfLink = Pick<LinkRow, 'id' | 'creatorId' | 'commissionRatePpm' | 'holdDays' | 'paysRenewals'>;

export async function listPeople(db: Db, brandId: string, ids: readonly string[]) {
  return await db
    .selectFrom('creators')
    .select(['id', 'email', 'name'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`id = any(${[...ids]}::text[])`)
    .execute();
}
