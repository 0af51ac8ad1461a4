import type { z } from 'zod';
import { fromMinor } from '../../values/money.ts';
import type { StatementLineRow } from './due-queries.ts';
import type { StatementLine } from './due-schema.ts';
import type { PayoutFacts } from './queries.ts';

type Line = z.input<typeof StatementLine>;

const NOTHING = {
  ...{ commission_id: null, order_id: null, customer_email: null, code: null, occurred_at: null },
  ...{ sale_amount: null, refunded_amount: null, commission: null },
};

function commissionLine({ currency, ...row }: StatementLineRow, payout: PayoutFacts): Line {
  const major = (minor: number) => fromMinor(minor, currency);
  const isSale = row.storeOrderId !== null;
  return {
    type: 'commission',
    commission_id: row.commissionId,
    order_id: row.storeOrderId,
    customer_email: row.customerEmail,
    code: row.discountCode ?? row.affiliateCode,
    occurred_at: row.occurredAt.toISOString(),
    sale_amount: isSale ? major(row.saleMinor) : null,
    refunded_amount: isSale ? major(row.refundedMinor) : null,
    commission: major(row.commissionMinor),
    paid_at: (row.paidAt ?? payout.paidAt)?.toISOString() ?? null,
    amount: major(row.amountMinor),
  };
}

/** The lines of a payout, which add up to its amount. */
export function statementLines(payout: PayoutFacts, rows: readonly StatementLineRow[]): Line[] {
  const { currency, amountMinor, allocatedMinor, nettedMinor, paidAt } = payout;
  const lines = rows.map((row) => commissionLine(row, payout));
  const at = paidAt?.toISOString() ?? null;
  const rest = amountMinor - (allocatedMinor - nettedMinor);
  const more = (type: Line['type'], minor: number): Line[] =>
    minor === 0 ? [] : [{ ...NOTHING, type, paid_at: at, amount: fromMinor(minor, currency) }];
  const isPaid = payout.status === 'paid' || payout.method === 'wallet';
  const kind = payout.isFee ? 'fee' : isPaid ? 'unallocated' : 'not_paid';
  return [...lines, ...more('refunds', -nettedMinor), ...more(kind, rest)];
}
