import { z } from 'zod';
import { Boundary, checkOrder } from '../../analytics/figures/sums.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { Email } from '../../kit/values/email.ts';
import { createdAt, creatorEmail, currencyField, idField } from '../../kit/values/fields.ts';
import { booleanParameter, ListQuery, timestamp, timeZoneInput } from '../../kit/values/page.ts';
import { besideOthers } from '../../kit/values/problems.ts';
import { toWire } from '../../kit/values/wire.ts';
import { OrderKind } from '../../workflow/terms/terms.shapes.ts';
import { maskedCustomer, storeOrderId } from '../commissions/commissions.shapes.ts';
import { orderNumber } from '../orders/order-names.ts';
import { payeeName } from '../payouts/payouts.shapes.ts';
import type { StatementFacts, StatementSums, StatementTotal } from './statements.ts';

/** An amount in major units of the adjacent `currency`. */
const money = z.number();

const statementId = idField('stm', 'Id of the statement.');

const Total = z.object({
  currency: currencyField,
  opening: money
    .describe('Commission earned before the period and not paid out by then, in major units.')
    .meta({ example: 30 }),
  commission: money
    .describe('Sum of `commission` over all lines of this currency, in major units.')
    .meta({ example: 12.55 }),
  taken_back: money
    .describe('Sum of `taken_back` over all lines of this currency, in major units.')
    .meta({ example: 0 }),
  paid_out: money.describe('Sum of `paid_out` over all lines of this currency, in major units.').meta({ example: 30 }),
  closing: money
    .describe('Owed at the end of the period: opening + commission - taken_back - paid_out.')
    .meta({ example: 12.55 }),
});

export const Statement = z
  .object({
    id: statementId,
    creator_id: idField('crt', 'Creator that the statement is for, in `/v1/creators`.'),
    creator_email: creatorEmail,
    creator_name: payeeName,
    from: z.string().describe('Start of the period, as requested: a day or a time.').meta({ example: '2026-03-01' }),
    to: z
      .string()
      .describe('End of the period, as requested: a day, which is included whole, or a time.')
      .meta({ example: '2026-03-31' }),
    time_zone: z
      .string()
      .describe('Time zone of its days, which stays when the brand takes another.')
      .meta({ example: 'Europe/Berlin' }),
    ledger_seq: z
      .number()
      .int()
      .describe('`seq` of the last ledger entry that the statement includes; 0 when the ledger was empty.')
      .meta({ example: 412 }),
    ledger_hash: z
      .string()
      .nullable()
      .describe(
        'Hash of that ledger entry, which proves later what the statement was based on; null when the ledger was empty.',
      )
      .meta({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }),
    created_at: createdAt,
    totals: z
      .array(Total)
      .nullable()
      .describe(
        'Balance of the period, one row per currency; null on statements of earlier releases, except when one is read by its id.',
      )
      .meta({
        example: [{ currency: 'USD', opening: 30, commission: 12.55, taken_back: 0, paid_out: 30, closing: 12.55 }],
      }),
  })
  .meta({ id: 'Statement' });

export const CreatorStatementLine = z
  .object({
    type: z
      .enum(['commission', 'payout', 'return'])
      .describe(
        '`commission`: what changed about one commission. `payout`: money sent to the creator. `return`: the money of a payout that came back, as negative amounts.',
      ),
    id: z.string().describe('Id of that commission or payout.').meta({ example: 'com_0Uo3xK2mVdT2aXs7LpRb' }),
    currency: currencyField,
    occurred_at: timestamp
      .nullable()
      .describe('When the order was placed, or the payout was paid or came back.')
      .meta({ example: '2026-03-02T09:30:00.000Z' }),
    order_id: storeOrderId,
    customer_email: maskedCustomer,
    code: z
      .string()
      .nullable()
      .describe('Discount code that was redeemed, else the code or link name that earned the order; null for a payout.')
      .meta({ example: 'ANA10' }),
    reference: z
      .string()
      .nullable()
      .describe("The payout's transfer number; null for a commission.")
      .meta({ example: 'TX-20931' }),
    status: z
      .enum(['pending', 'approved', 'paid', 'rejected'])
      .nullable()
      .describe('Status of the commission at the end of the period; null for a payout.'),
    sale_amount: money
      .describe('Sales in the period: goods that the customer paid for, in major units; 0 for a payout.')
      .meta({ example: 125.5 }),
    refunded_amount: money.describe('Refunds of the order in the period, in major units.').meta({ example: 0 }),
    commission: money
      .describe(
        'Change of the commission in the period, in major units; negative when a refund or rejection reduced it.',
      )
      .meta({ example: 12.55 }),
    taken_back: money
      .describe('What refunds, or you, took back in the period from the commission after it was paid, in major units.')
      .meta({ example: 0 }),
    paid_out: money
      .describe('What the payout sent for commissions, without fees, in major units.')
      .meta({ example: 0 }),
    fee: money.describe('What the payout sent as a fee, in major units.').meta({ example: 0 }),
    reason: z
      .string()
      .nullable()
      .describe('Why the payout came back, or why the commission was clawed back; null otherwise.')
      .meta({ example: null }),
    order_number: orderNumber,
    order_kind: OrderKind.nullable().describe('Kind of the order, such as `renewal`; null for a payout.'),
  })
  .meta({ id: 'CreatorStatementLine' });

export const StatementDetail = Statement.extend({
  lines: z.array(CreatorStatementLine).describe('Commissions and payouts that changed in the period, oldest first.'),
  totals: z.array(Total).describe('Balance of the period, one row per currency.'),
  url: z
    .string()
    .nullable()
    .describe('Link to the page of the statement for the creator; null once it ended, 90 days after the creation.')
    .meta({ example: 'https://links.example/statement/…' }),
}).meta({ id: 'StatementDetail' });

export const StatementMade = Statement.extend({
  url: z
    .string()
    .describe('Link to the page of the statement for the creator. Anyone with the link can open it, for 90 days.')
    .meta({ example: 'https://links.example/statement/…' }),
  email_sent: z
    .boolean()
    .describe('Whether an email with the link was queued for the creator.')
    .meta({ example: true }),
}).meta({ id: 'StatementMade' });

const period = {
  from: Boundary.describe('Start of the period: a day or a time.').meta({ example: '2026-03-01' }),
  to: Boundary.describe('End of the period: a day, which is included whole, or a time.'),
  time_zone: timeZoneInput,
};

export const StatementCreate = z
  .object({
    creator_email: Email.describe('A creator who is or was on the roster.'),
    ...period,
    send_email: z.boolean().default(false).describe('Whether to email the creator the link.'),
  })
  .superRefine(checkOrder, besideOthers)
  .meta({ id: 'StatementCreate' });
export type StatementCreate = z.output<typeof StatementCreate>;

export const StatementBatch = z
  .object({
    ...period,
    send_email: z.boolean().default(false).describe('Whether to email every creator the link of their statement.'),
  })
  .superRefine(checkOrder, besideOthers)
  .meta({ id: 'StatementBatch' });
export type StatementBatch = z.output<typeof StatementBatch>;

export const StatementFilter = z.object({
  creator_email: Email.optional()
    .describe("Only this creator's statements. Case does not matter.")
    .meta({ example: 'ana@example.com' }),
  covers: z.iso
    .date()
    .optional()
    .describe('Only statements whose period includes this day.')
    .meta({ example: '2026-03-15' }),
  disputed: booleanParameter()
    .describe('`true`: only statements with a question that you have not answered. `false`: only the others.')
    .optional(),
  ...ListQuery,
});
export type StatementFilter = z.output<typeof StatementFilter>;

/** Statements of before have UTC days. */
export const getZone = ({ timeZone }: Pick<StatementFacts, 'timeZone'>): string => timeZone ?? 'UTC';

export const toStatement = ({ ledgerHash, fromText, toText, totals, ...row }: StatementFacts) => ({
  ...toWire(row),
  time_zone: getZone(row),
  totals: totals?.map(toTotal) ?? null,
  from: fromText,
  to: toText,
  ledger_hash: ledgerHash?.toString('hex') ?? null,
});

type CreatorLine = z.output<typeof CreatorStatementLine>;

function toLine(row: StatementSums): CreatorLine {
  return {
    type: row.commissionId !== null ? 'commission' : row.isReturn ? 'return' : 'payout',
    id: row.commissionId ?? row.payoutId ?? '',
    currency: row.currency,
    occurred_at: row.at?.toISOString() ?? null,
    order_id: row.storeOrderId,
    customer_email: row.customerEmail,
    code: row.code,
    reference: row.reference,
    status: row.commissionId === null ? null : row.status,
    sale_amount: fromMinor(row.saleMinor, row.currency),
    refunded_amount: fromMinor(row.refundedMinor, row.currency),
    commission: fromMinor(row.commissionMinor, row.currency),
    taken_back: fromMinor(row.takenBackMinor, row.currency),
    paid_out: fromMinor(row.paidMinor - row.feeMinor, row.currency),
    fee: fromMinor(row.feeMinor, row.currency),
    reason: row.reason,
    order_number: row.orderNumber,
    order_kind: row.orderKind,
  };
}

export function sumTotals(rows: readonly StatementSums[]): StatementTotal[] {
  return [...Map.groupBy(rows, ({ currency }) => currency)].map(([currency, own]) => {
    const sum = (select: (row: StatementSums) => number) => own.reduce((total, row) => total + select(row), 0);
    return {
      currency,
      openingMinor: sum(({ openingMinor }) => openingMinor),
      commissionMinor: sum(({ commissionMinor }) => commissionMinor),
      takenBackMinor: sum(({ takenBackMinor }) => takenBackMinor),
      paidOutMinor: sum(({ paidMinor, feeMinor }) => paidMinor - feeMinor),
    };
  });
}

function toTotal({ currency, openingMinor, commissionMinor, takenBackMinor, paidOutMinor }: StatementTotal) {
  return {
    currency,
    opening: fromMinor(openingMinor, currency),
    commission: fromMinor(commissionMinor, currency),
    taken_back: fromMinor(takenBackMinor, currency),
    paid_out: fromMinor(paidOutMinor, currency),
    closing: fromMinor(openingMinor + commissionMinor - takenBackMinor - paidOutMinor, currency),
  };
}

const isShown = (row: StatementSums): boolean =>
  [row.saleMinor, row.refundedMinor, row.commissionMinor, row.takenBackMinor, row.paidMinor].some(
    (minor) => minor !== 0,
  );

/** One line after the other, because a large creator has a hundred thousand. */
export function* eachLine(rows: readonly StatementSums[]): Generator<CreatorLine> {
  for (const row of rows) if (isShown(row)) yield toLine(row);
}

/** Lines and totals of the period, computed from the ledger alone. */
export const toStatementContent = (rows: readonly StatementSums[]) => ({
  lines: [...eachLine(rows)],
  totals: sumTotals(rows).map(toTotal),
});

/** True for a period without lines, at whose end nothing is owed. */
export const isEmptyStatement = (rows: readonly StatementSums[]): boolean =>
  !rows.some(isShown) && sumTotals(rows).every((total) => toTotal(total).closing === 0);
