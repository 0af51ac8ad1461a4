import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { Period } from '../policy.ts';

/** What was agreed with a creator, or paid as a fee, in a month; `before`: earlier than the period. */
export interface FeeSum {
  creatorId: string;
  campaignId: string | null;
  currency: string;
  /** `YYYY-MM`, or `before`. */
  month: string;
  agreedMinor: number;
  paidMinor: number;
}

const monthOf = (at: string, from: Date) => sql`case when ${sql.ref(at)} < ${from} then 'before'
  else to_char(${sql.ref(at)} at time zone 'UTC', 'YYYY-MM') end`;

/** Fees of signed contracts and payouts of fees, from the first on. */
export async function listFees(db: Db, brandId: string, { from, until }: Period): Promise<FeeSum[]> {
  const { rows } = await sql<FeeSum>`
    select creator_id, campaign_id, currency, month, sum(agreed)::bigint as agreed_minor, sum(paid)::bigint as paid_minor
    from (
      select creator_id, campaign_id, compensation_currency as currency, ${monthOf('signedAt', from)} as month,
        compensation_amount_minor as agreed, 0 as paid
      from contracts
      where brand_id = ${brandId} and status = 'signed' and signed_at < ${until} and compensation_type = 'fixed'
        and compensation_amount_minor is not null
      union all
      select creator_id, null, currency, ${monthOf('paidAt', from)}, 0, amount_minor
      from payouts where brand_id = ${brandId} and is_fee and paid_at < ${until}
    ) as fee
    group by creator_id, campaign_id, currency, month order by month, creator_id, campaign_id, currency`.execute(db);
  return rows;
}

/** Where a figure is missing. */
export interface Unknown {
  creatorId: string;
  campaignId: string | null;
  /** `YYYY-MM`. */
  month: string;
}

/** Contracts with a fixed fee that was not entered, signed in the period. */
export async function listContractsWithoutFee(db: Db, brandId: string, { from, until }: Period): Promise<Unknown[]> {
  const { rows } = await sql<Unknown>`
    select distinct creator_id, campaign_id, ${monthOf('signedAt', from)} as month
    from contracts
    where brand_id = ${brandId} and status = 'signed' and signed_at >= ${from} and signed_at < ${until}
      and compensation_type = 'fixed' and compensation_amount_minor is null`.execute(db);
  return rows;
}

/** Items of a product sent to a creator on a day. */
export interface Gift extends Unknown {
  /** `YYYY-MM-DD`. */
  day: string;
  /** Null: the shipment does not say what it contains. */
  sku: string | null;
  items: number;
}

/** Products shipped in the period; those of returned shipments came back. */
export async function listGifts(db: Db, brandId: string, { from, until }: Period): Promise<Gift[]> {
  const { rows } = await sql<Gift>`
    select creator_id, campaign_id, to_char(shipped_at at time zone 'UTC', 'YYYY-MM') as month,
      to_char(shipped_at at time zone 'UTC', 'YYYY-MM-DD') as day, product.value ->> 'sku' as sku,
      sum(coalesce((product.value ->> 'quantity')::bigint, 1))::bigint as items
    from shipments
    left join lateral json_array_elements(case json_typeof(products) when 'array' then products else '[]'::json end)
      as product on true
    where brand_id = ${brandId} and shipped_at >= ${from} and shipped_at < ${until} and status <> 'returned'
    group by 1, 2, 3, 4, 5 order by 4, 1, 2, 5`.execute(db);
  return rows;
}
