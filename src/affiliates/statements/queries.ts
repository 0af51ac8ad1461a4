import { type Insertable, sql } from 'kysely';
import type { StatementsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { isOfCreator } from '../../workflow/creators/queries.ts';

/** What a statement comes to in a currency, in minor units. */
export interface StatementTotal {
  currency: string;
  openingMinor: number;
  commissionMinor: number;
  takenBackMinor: number;
  paidOutMinor: number;
}

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'statements.totals': StatementTotal[];
  }
}

export interface StatementWhere extends ListWindow {
  creator_email?: string | undefined;
}

const withCreator = (db: Db) =>
  db
    .selectFrom('statements')
    .innerJoin('creators', 'creators.id', 'statements.creatorId')
    .selectAll('statements')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName']);

export type StatementFacts = Awaited<ReturnType<typeof getStatement>>;

export const statements = listing({
  noun: 'statement',
  table: 'statements',
  time: 'createdAt',
  changed: ['createdAt'],
  matching: (db, brandId, { creator_email }: StatementWhere) =>
    db.selectFrom('statements').where(isOfCreator('statements.creatorId', brandId, creator_email)),
  rows: withCreator,
});
export const { get: getStatement } = statements;

/** Found by id alone, because a visitor with the link has no brand. */
export async function findStatementPage(db: Db, id: string): Promise<StatementFacts | undefined> {
  return await withCreator(db).where('statements.id', '=', id).executeTakeFirst();
}

export async function insertStatement(db: Db, row: Insertable<StatementsTable>): Promise<void> {
  await db.insertInto('statements').values(row).execute();
}

/** What a commission or payout contributed in a currency, computed from the ledger alone, in minor units. */
export interface StatementSums {
  commissionId: string | null;
  payoutId: string | null;
  currency: string;
  /** Commission earned before the period and not paid out by then. */
  openingMinor: number;
  saleMinor: number;
  refundedMinor: number;
  commissionMinor: number;
  takenBackMinor: number;
  paidMinor: number;
  feeMinor: number;
  status: 'pending' | 'approved' | 'paid' | 'rejected';
  at: Date | null;
  storeOrderId: string | null;
  customerEmail: string | null;
  code: string | null;
  reference: string | null;
}

type Period = Pick<StatementFacts, 'brandId' | 'creatorId' | 'fromAt' | 'untilAt' | 'ledgerSeq'>;

/** Every commission and payout of the creator in the ledger, up to the period's end. */
export async function sumStatement(db: Db, period: Period): Promise<StatementSums[]> {
  const { brandId, creatorId, fromAt, untilAt, ledgerSeq } = period;
  const sumOf = (accounts: readonly string[], isBefore: boolean | undefined) => sql`coalesce(sum(posting.amount_minor)
    filter (where posting.account = any(${accounts}::text[])
      and (${isBefore === undefined} or (posting.at collate "C" < ${fromAt.toISOString()}) = ${isBefore ?? true})), 0)`;
  const owed = ['commission_pending', 'commission_approved', 'commission_paid'];
  const { rows } = await sql<StatementSums>`
    with sums as (
      select entry.commission_id, case when entry.commission_id is null then entry.payout_id end as payout_id,
        entry.currency, max(entry.order_id) as own_order_id,
        (-${sumOf([...owed, 'refund_adjustment'], true)} + ${sumOf(['cash', 'fees'], true)})::bigint as opening_minor,
        (-${sumOf(['sales'], false)})::bigint as sale_minor,
        (${sumOf(['sales_refunds'], false)})::bigint as refunded_minor,
        (-${sumOf(owed, false)})::bigint as commission_minor,
        (${sumOf(['refund_adjustment'], false)})::bigint as taken_back_minor,
        (-${sumOf(['cash'], false)})::bigint as paid_minor,
        (${sumOf(['fees'], false)})::bigint as fee_minor,
        case when ${sumOf(['commission_paid'], undefined)} <> 0 then 'paid'
          when ${sumOf(['commission_approved'], undefined)} <> 0 then 'approved'
          when ${sumOf(['commission_pending'], undefined)} <> 0 then 'pending' else 'rejected' end as status,
        min(posting.at) filter (where posting.account in ('cash', 'commission_expense', 'sales'))::timestamptz as at
      from ledger_entries as entry
      cross join lateral jsonb_to_recordset(entry.postings) as posting (account text, amount_minor bigint, at text)
      where entry.brand_id = ${brandId} and entry.creator_id = ${creatorId} and entry.seq <= ${ledgerSeq}
        and posting.at collate "C" < ${untilAt.toISOString()}
      group by 1, 2, 3
    )
    select sums.*, orders.order_id as store_order_id, orders.customer_email,
      coalesce(commission.discount_code, commission.affiliate_code) as code, payout.reference
    from sums
    left join orders on orders.id = sums.own_order_id
    left join commissions as commission on commission.id = sums.commission_id
    left join payouts as payout on payout.id = sums.payout_id
    order by sums.at, coalesce(sums.commission_id, sums.payout_id)`.execute(db);
  return rows;
}
