import { sql } from 'kysely';
import type { Db } from '../../../engines/postgres/open.ts';
import { COUNTS, IS_FIRST, refundsOf, SALE, WORTH } from '../customers/queries.ts';
import type { Period } from '../policy.ts';
import type { CohortsQuery } from './schema.ts';

export interface CohortSums {
  /** The first UTC day of the cohort's month or week. */
  cohort: string;
  /** The first UTC day of the month or week of the orders. */
  bucket: string;
  currency: string;
  customers: number;
  /** How many customers the cohort has. */
  size: number;
  orders: number;
  worthMinor: number;
}

/** What customers bought later whose first order is in the period, by month or week. `currency` is empty unless money counts. */
export async function listCohortSums(
  db: Db,
  brandId: string,
  { by, of, metric }: Pick<CohortsQuery, 'by' | 'of' | 'metric'>,
  { from, until }: Period,
): Promise<CohortSums[]> {
  const bucketOf = (at: string) => sql`date_trunc(${by}, ${sql.ref(at)} at time zone 'UTC')`;
  const refunds = sql`left join (${refundsOf('bought')}) as refunded using (id)`;
  const money =
    metric === 'revenue'
      ? { currency: sql`currency`, worth: sql`sum(${WORTH})`, refunds }
      : { currency: sql`''`, worth: sql`0`, refunds: sql`` };
  const isWon = of === 'attributed' ? sql`commissions.id is not null` : sql`commissions.creator_id = ${of}`;
  const { rows } = await sql<CohortSums>`
    with firsts as materialized (
      select orders.customer_hash, ${bucketOf('orders.occurredAt')} as cohort
      from orders left join commissions on commissions.order_id = orders.id
      where orders.brand_id = ${brandId} and ${COUNTS} and orders.occurred_at >= ${from} and orders.occurred_at < ${until}
        and ${IS_FIRST} and ${of === 'all' ? sql`true` : isWon}
    ), bought as (
      select firsts.cohort, firsts.customer_hash, ${bucketOf('orders.occurredAt')} as bucket, orders.currency, orders.id,
        orders.integration_id, orders.order_id, ${SALE} as sale
      from firsts
      join orders on orders.brand_id = ${brandId} and orders.customer_hash = firsts.customer_hash and ${COUNTS}
    )
    select to_char(cohort, 'YYYY-MM-DD') as cohort, to_char(bucket, 'YYYY-MM-DD') as bucket, currency, size,
      count(*) as customers, sum(orders)::bigint as orders, sum(worth)::bigint as worth_minor
    from (
      select cohort, bucket, ${money.currency} as currency, count(*) as orders, ${money.worth} as worth
      from bought as own ${money.refunds}
      group by 1, 2, 3, customer_hash
    ) as one
    join (select cohort, count(*) as size from firsts group by cohort) as whole using (cohort)
    group by one.cohort, one.bucket, currency, size order by one.cohort, currency, one.bucket`.execute(db);
  return rows;
}
