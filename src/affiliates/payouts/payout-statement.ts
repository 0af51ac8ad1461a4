import type { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { fromMinor } from '../../kit/values/money.ts';
import type { StatementLine } from './due-payouts.shapes.ts';
import type { PayoutFacts } from './payouts.ts';

type Line = z.input<typeof StatementLine>;

const NO_COMMISSION = {
  commission_id: null,
  order_id: null,
  customer_email: null,
  code: null,
  occurred_at: null,
  sale_amount: null,
  refunded_amount: null,
  commission: null,
};

function toCommissionLine({ currency, ...row }: StatementLineRow, payout: PayoutFacts): Line {
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
  };
}

/** Lists the lines of a payout, which add up to its amount. */
export function toStatementLines(payout: PayoutFacts, rows: readonly StatementLineRow[]): Line[] {
  const { currency, amountMinor, allocatedMinor, nettedMinor, paidAt } = payout;
  const lines = rows.map((row) => toCommissionLine(row, payout));
  const at = paidAt?.toISOString() ?? null;
  const rest = amountMinor - (allocatedMinor - nettedMinor);
  const more = (type: Line['type'], minor: number): Line[] =>
    minor === 0 ? [] : [{ ...NO_COMMISSION, type, paid_at: at, amount: fromMinor(minor, currency) }];
  const isPaid = payout.status === 'paid' || payout.method === 'wallet';
  const kind = payout.isFee ? 'fee' : isPaid ? 'unallocated' : 'not_paid';
  return [...lines, ...more('refunds', -nettedMinor), ...more(kind, rest)];
}

export type StatementLineRow = Awaited<ReturnType<typeof listStatementLines>>[number];

/** Lists the commissions that a payout paid, with their orders, oldest sale first. */
export async function listStatementLines(db: Db, brandId: string, payoutId: string) {
  return await db
    .selectFrom('payoutAllocations as allocation')
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
      'orders.customerEmail',
      'allocation.amountMinor',
      'allocation.at as paidAt',
    ])
    .where('allocation.brandId', '=', brandId)
    .where('allocation.payoutId', '=', payoutId)
    .orderBy('commission.occurredAt')
    .orderBy('commission.id')
    .execute();
}
