import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { isPaidOut } from '../payouts/payouts.ts';

/** Most mismatches that are reported of a kind. */
const MOST = 100;

const POSTINGS = sql`jsonb_to_recordset(entry.postings) as posting (account text, amount_minor bigint)`;

const sumAccount = (account: string) =>
  sql`coalesce(sum(posting.amount_minor) filter (where posting.account = ${account}), 0)`;

/**
 * Lists commissions whose status or amounts do not match their ledger entries, each as a sentence. A commission of an
 * unpaid order has no entries, and is compared with its order instead. A test order sold nothing.
 */
export async function listWrongCommissions(db: Db, brandId: string): Promise<string[]> {
  const { rows } = await sql<{ problem: string }>`
    with sums as (
      select entry.commission_id as id, -${sumAccount('sales')} as sales, ${sumAccount('sales_refunds')} as refunds,
        -${sumAccount('commission_pending')} as pending, -${sumAccount('commission_approved')} as approved,
        -${sumAccount('commission_paid')} as paid, ${sumAccount('refund_adjustment')} as adjusted
      from ledger_entries as entry cross join lateral ${POSTINGS}
      where entry.brand_id = ${brandId} and entry.commission_id is not null group by entry.commission_id
    ), rows as (
      select id, status, order_id, paid_at, amount_minor, refunded_minor, commission_minor, commission_rate_ppm, decided_facts,
        coalesce((select sum(amount_minor) from commission_adjustments as one
          where one.brand_id = ${brandId} and one.commission_id = commissions.id), 0) as adjusted,
        coalesce((select sum(amount_minor) from payout_allocations as one
          where one.brand_id = ${brandId} and one.commission_id = commissions.id), 0) as allocated,
        coalesce((select case when is_test then 0 else base_minor end
          from orders where orders.id = commissions.order_id), amount_minor) as base_minor
      from commissions where brand_id = ${brandId}
    )
    select case
      when rows.id is null then format('commission %s is in the ledger and nowhere else', sums.id)
      else format('commission %s is %s with %s of %s, %s refunded; the ledger says pending %s, approved %s, paid %s of %s, %s refunded',
        rows.id, rows.status, rows.commission_minor, rows.amount_minor, rows.refunded_minor,
        coalesce(sums.pending, 0), coalesce(sums.approved, 0), coalesce(sums.paid, 0), coalesce(sums.sales, 0),
        coalesce(sums.refunds, 0))
      end as problem
    from rows full join sums on sums.id = rows.id
    where rows.id is null
      or rows.allocated <> case when rows.status = 'paid' then rows.commission_minor else 0 end
      or rows.base_minor <> rows.amount_minor
      or case when rows.paid_at is null then
          rows.status not in ('pending', 'rejected') or sums.id is not null
          or rows.decided_facts is null and abs(rows.commission_minor * 1000000::numeric
            - (rows.amount_minor - rows.refunded_minor) * rows.commission_rate_ppm::numeric) > 500000
        else
          coalesce(sums.sales, 0) <> rows.amount_minor or coalesce(sums.refunds, 0) <> rows.refunded_minor
          or coalesce(sums.adjusted, 0) <> rows.adjusted
          or coalesce(sums.pending, 0) <> case when rows.status = 'pending' then rows.commission_minor else 0 end
          or coalesce(sums.approved, 0) <> case when rows.status = 'approved' then rows.commission_minor else 0 end
          or coalesce(sums.paid, 0) <> case when rows.status = 'paid' then rows.commission_minor else 0 end
        end
    order by coalesce(rows.id, sums.id) limit ${MOST}`.execute(db);
  return rows.map(({ problem }) => problem);
}

/** Lists payouts whose amounts do not match their ledger entries, each as a sentence. */
export async function listWrongPayouts(db: Db, brandId: string): Promise<string[]> {
  const { rows } = await sql<{ problem: string }>`
    with sums as (
      select entry.payout_id as id, -${sumAccount('cash')} as cash, ${sumAccount('unallocated')} as unallocated,
        ${sumAccount('fees')} as fees, ${sumAccount('commission_settled')} as settled, -${sumAccount('adjustments_netted')} as netted
      from ledger_entries as entry cross join lateral ${POSTINGS}
      where entry.brand_id = ${brandId} and entry.payout_id is not null and entry.commission_id is null
      group by entry.payout_id
    ), rows as (
      select id, is_fee, unallocated_minor, allocated_minor, netted_minor, amount_minor,
        case when ${isPaidOut} then amount_minor else 0 end as paid_minor,
        coalesce((select sum(amount_minor) from payout_allocations as one
          where one.brand_id = ${brandId} and one.payout_id = payouts.id), 0) as allocations
      from payouts where brand_id = ${brandId}
    )
    select case
      when rows.id is null then format('payout %s is in the ledger and nowhere else', sums.id)
      else format('payout %s has paid %s, allocated %s, netted %s, %s left; the ledger says %s, %s, %s, %s',
        rows.id, rows.paid_minor, rows.allocated_minor, rows.netted_minor, rows.unallocated_minor,
        coalesce(sums.cash, 0), coalesce(sums.settled, 0), coalesce(sums.netted, 0), coalesce(sums.unallocated, 0))
      end as problem
    from rows full join sums on sums.id = rows.id
    where rows.id is null or rows.allocations <> rows.allocated_minor
      or coalesce(sums.cash, 0) <> rows.paid_minor
      or coalesce(sums.settled, 0) <> rows.allocated_minor
      or coalesce(sums.netted, 0) <> rows.netted_minor
      or coalesce(sums.unallocated, 0) <> rows.unallocated_minor
      or coalesce(sums.fees, 0) <> case when rows.is_fee then rows.paid_minor else 0 end
    order by coalesce(rows.id, sums.id) limit ${MOST}`.execute(db);
  return rows.map(({ problem }) => problem);
}

/**
 * Lists commissions and payouts whose entries name another creator, currency, order, assignment or payment day, each as
 * a sentence.
 */
export async function listMisposted(db: Db, brandId: string): Promise<string[]> {
  const { rows } = await sql<{ problem: string }>`
    select entry.seq, format('commission %s is of %s in %s, order %s, assignment %s; entry %s says %s, %s, %s, %s', row.id,
      row.creator_id, row.currency, row.order_id, row.link_id, entry.seq, entry.creator_id, entry.currency, entry.order_id,
      entry.link_id) as problem
    from ledger_entries as entry join commissions as row on row.id = entry.commission_id and row.brand_id = entry.brand_id
    where entry.brand_id = ${brandId} and (row.creator_id, row.currency, row.order_id, row.link_id)
      is distinct from (entry.creator_id, entry.currency, entry.order_id, entry.link_id)
    union all
    select entry.seq, format('payout %s is of %s in %s, paid at %s; entry %s says %s, %s, %s', row.id, row.creator_id,
      row.currency, row.paid_at, entry.seq, entry.creator_id, entry.currency, cash.at)
    from ledger_entries as entry join payouts as row on row.id = entry.payout_id and row.brand_id = entry.brand_id
    left join lateral (
      select at from jsonb_to_recordset(entry.postings) as posting (account text, at timestamptz)
      where account = 'cash') as cash on true
    where entry.brand_id = ${brandId} and (row.creator_id <> entry.creator_id or row.currency <> entry.currency
      or cash.at <> coalesce(case entry.kind when 'return' then row.corrected_at else row.paid_at end, row.created_at))
    order by seq limit ${MOST}`.execute(db);
  return rows.map(({ problem }) => problem);
}
