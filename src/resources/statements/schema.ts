import { z } from 'zod';
import { Boundary, endOf, startOf } from '../../figures/schema.ts';
import { fromMinor } from '../../values/money.ts';
import { ListQuery, timestamp } from '../../values/page.ts';
import { besideOthers, type Unchecked } from '../../values/problems.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { toWire } from '../../values/wire.ts';
import { Email } from '../creators/schema.ts';
import type { StatementFacts, StatementSums } from './queries.ts';

const money = z.number().describe('In major units of `currency`.');

export const Statement = z
  .object({
    id: z.string(),
    creator_id: z.string(),
    creator_email: z.string().nullable(),
    creator_name: fromOutside(z.string().nullable()),
    from: z.string(),
    to: z.string().describe('A day is included whole.'),
    ledger_seq: z.number().int().describe('The last ledger entry that it knows.'),
    ledger_hash: z.string().nullable().describe("That entry's hash: with it the statement can be proved later."),
    created_at: timestamp,
  })
  .meta({ id: 'Statement' });

export const CreatorStatementLine = z
  .object({
    type: z.enum(['commission', 'payout']),
    id: z.string().describe("The commission's or the payout's."),
    currency: z.string(),
    occurred_at: timestamp.nullable().describe('When the order was placed, or the payout was paid.'),
    order_id: z.string().nullable().describe("The order's id at its store."),
    customer_email: z.string().nullable().describe('Masked.'),
    code: z.string().nullable(),
    reference: z.string().nullable().describe("The payout's."),
    status: z
      .enum(['pending', 'approved', 'paid', 'rejected'])
      .nullable()
      .describe('Of the commission, at that moment.'),
    sale_amount: money,
    refunded_amount: money,
    commission: money.describe('What the period adds to it; below zero where something came off it.'),
    taken_back: money.describe('By refunds after it was paid.'),
    paid_out: money.describe('Fees are not commissions, and not in it.'),
    fee: money,
  })
  .meta({ id: 'CreatorStatementLine' });

export const StatementDetail = Statement.extend({
  lines: z.array(CreatorStatementLine).describe('Only what the period changed, the oldest first.'),
  totals: z.array(
    z.object({
      currency: z.string(),
      opening: money.describe('Earned before the period and not paid out.'),
      commission: money,
      taken_back: money,
      paid_out: money,
      closing: money.describe('opening + commission - taken_back - paid_out'),
    }),
  ),
}).meta({ id: 'StatementDetail' });

export const StatementMade = Statement.extend({
  url: z.string().describe('Its page for the creator. It opens for 90 days.'),
  email_sent: z.boolean().describe('Whether a mail with the link is on its way.'),
}).meta({ id: 'StatementMade' });

export const StatementCreate = z
  .object({
    creator_email: Email.describe('Of somebody who is or was on the roster.'),
    from: Boundary.describe('The first UTC day, or a time.'),
    to: Boundary.describe('The last UTC day, which is included whole, or a time.'),
    send_email: z.boolean().default(false).describe('Mails the creator the link.'),
  })
  .superRefine(({ from, to }: Unchecked<'from' | 'to'>, context) => {
    if (typeof from !== 'string' || typeof to !== 'string' || startOf(from) < endOf(to)) return;
    context.addIssue({ code: 'custom', path: ['from'], message: 'must not be after `to`', input: from });
  }, besideOthers)
  .meta({ id: 'StatementCreate' });
export type StatementCreate = z.output<typeof StatementCreate>;

export const StatementFilter = z.object({
  creator_email: z.email().max(254).optional().describe('In any case.'),
  ...ListQuery,
});

export const statementOf = ({ ledgerHash, fromText, toText, ...row }: StatementFacts) => ({
  ...toWire(row),
  from: fromText,
  to: toText,
  ledger_hash: ledgerHash?.toString('hex') ?? null,
});

type Line = z.output<typeof CreatorStatementLine>;

function lineOf(row: StatementSums): Line {
  const major = (minor: number) => fromMinor(minor, row.currency);
  return {
    type: row.commissionId === null ? 'payout' : 'commission',
    id: row.commissionId ?? row.payoutId ?? '',
    currency: row.currency,
    occurred_at: row.at?.toISOString() ?? null,
    order_id: row.storeOrderId,
    customer_email: row.customerEmail,
    code: row.code,
    reference: row.reference,
    status: row.commissionId === null ? null : row.status,
    sale_amount: major(row.saleMinor),
    refunded_amount: major(row.refundedMinor),
    commission: major(row.commissionMinor),
    taken_back: major(row.takenBackMinor),
    paid_out: major(row.paidMinor - row.feeMinor),
    fee: major(row.feeMinor),
  };
}

const hasMoved = (row: StatementSums) =>
  [row.saleMinor, row.refundedMinor, row.commissionMinor, row.takenBackMinor, row.paidMinor].some((one) => one !== 0);

function totalOf(currency: string, rows: readonly StatementSums[]) {
  const sum = (of: (row: StatementSums) => number) => rows.reduce((total, row) => total + of(row), 0);
  const opening = sum(({ openingMinor }) => openingMinor);
  const commission = sum(({ commissionMinor }) => commissionMinor);
  const takenBack = sum(({ takenBackMinor }) => takenBackMinor);
  const paidOut = sum(({ paidMinor, feeMinor }) => paidMinor - feeMinor);
  return {
    currency,
    opening: fromMinor(opening, currency),
    commission: fromMinor(commission, currency),
    taken_back: fromMinor(takenBack, currency),
    paid_out: fromMinor(paidOut, currency),
    closing: fromMinor(opening + commission - takenBack - paidOut, currency),
  };
}

/** What the ledger says of the period: its lines, and by currency what they come to. */
export function contentOf(rows: readonly StatementSums[]) {
  const lines = rows.filter(hasMoved).map(lineOf);
  const totals = [...Map.groupBy(rows, ({ currency }) => currency)].map(([currency, own]) => totalOf(currency, own));
  return { lines, totals };
}
