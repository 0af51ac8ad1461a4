import { type Selectable, sql } from 'kysely';
import type { z } from 'zod';
import type { PayoutAllocationsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import type { StatementLine } from './due-payouts.shapes.ts';
import { isPaid, type PayoutFacts } from './payouts.ts';

type PayoutLine = z.input<typeof StatementLine>;

const NO_COMMISSION = {
  commission_id: null,
  order_id: null,
  customer_email: null,
  code: null,
  occurred_at: null,
  sale_amount: null,
  refunded_amount: null,
  commission: null,
  order_number: null,
};

function toCommissionLine({ currency, ...row }: StatementLineRow, payout: PayoutFacts): PayoutLine {
  const isSale = row.storeOrderId !== null;
  return {
    type: 'commission',
    commission_id: row.commissionId,
    order_id: row.storeOrderId,
    customer_email: row.customerEmail,
    code: row.discountCode ?? row.affiliateCode,
    occurred_at: row.occurredAt.toISOString(),
    sale_amount: isSale ? fromMinor(row.saleMinor, currency) : null,
    refunded_amount: isSale ? fromMinor(row.refundedMinor, currency) : null,
    commission: fromMinor(row.commissionMinor, currency),
    paid_at: (row.paidAt ?? payout.paidAt)?.toISOString() ?? null,
    amount: fromMinor(row.amountMinor, currency),
    order_number: row.orderNumber,
  };
}

function findRestType(payout: PayoutFacts): PayoutLine['type'] {
  if (payout.status === 'voided') return 'voided';
  if (payout.isFee) return 'fee';
  return isPaid(payout) || payout.undone !== null ? 'unallocated' : 'not_paid';
}

/** Lists the lines of a payout, which add up to its amount, or to nothing if it came back. */
export function toStatementLines(payout: PayoutFacts, rows: readonly StatementLineRow[]): PayoutLine[] {
  const { currency, amountMinor, paidAt, undone } = payout;
  const lines = rows.map((row) => toCommissionLine(row, payout));
  const nettedMinor = undone?.nettedMinor ?? payout.nettedMinor;
  const rest = amountMinor - rows.reduce((sum, row) => sum + row.amountMinor, 0) + nettedMinor;
  const more = (type: PayoutLine['type'], minor: number, at = paidAt): PayoutLine[] =>
    minor === 0
      ? []
      : [{ ...NO_COMMISSION, type, paid_at: at?.toISOString() ?? null, amount: fromMinor(minor, currency) }];
  return [
    ...lines,
    ...more('refunds', -nettedMinor),
    ...more(findRestType(payout), rest),
    ...more('returned', payout.status === 'returned' ? -amountMinor : 0, payout.correctedAt),
  ];
}

export type StatementLineRow = Awaited<ReturnType<typeof listStatementLines>>[number];

/** Lists the commissions that a payout paid, or had paid before it came back, with their orders, oldest sale first. */
export async function listStatementLines(db: Db, brandId: string, payoutId: string) {
  return await db
    .selectFrom(
      sql<Pick<Selectable<PayoutAllocationsTable>, 'commissionId' | 'amountMinor'> & { at: Date | null }>`(
        select commission_id, amount_minor, at from payout_allocations
        where brand_id = ${brandId} and payout_id = ${payoutId}
          and not exists (select from payouts where brand_id = ${brandId} and id = ${payoutId} and undone is not null)
        union all
        select part."commissionId", part."amountMinor", paid_at from payouts
        cross join jsonb_to_recordset(undone -> 'allocations') as part ("commissionId" text, "amountMinor" bigint)
        where brand_id = ${brandId} and id = ${payoutId})`.as('allocation'),
    )
    .innerJoin('commissions as commission', 'commission.id', 'allocation.commissionId')
    .leftJoin('orders', 'orders.id', 'commission.orderId')
    .select([
      'commission.id as commissionId',
      'commission.currency',
      'commission.occurredAt',
      'commission.amountMinor as saleMinor',
      'commission.refundedMinor',
      'commission.commissionMinor',
      'commission.affiliateCode',
      'commission.discountCode',
      'commission.statusNote',
      'orders.orderId as storeOrderId',
      'orders.orderNumber',
      'orders.customerEmail',
      'allocation.amountMinor',
      'allocation.at as paidAt',
    ])
    .where('commission.brandId', '=', brandId)
    .orderBy('commission.occurredAt')
    .orderBy('commission.id')
    .execute();
}
