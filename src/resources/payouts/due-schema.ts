import { z } from 'zod';
import { Currency } from '../../values/money.ts';
import { decimalParameter, listOf, PageQuery, throughInput, timestamp, timestampInput } from '../../values/page.ts';
import { besideOthers, type Unchecked } from '../../values/problems.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { Email } from '../creators/schema.ts';
import { Payout, PayoutDetail } from './schema.ts';

const money = z.number().describe('In major units of `currency`.');
const MAX_AMOUNT = 1e12;

/** What a creator is owed in a currency. */
const Balance = z
  .object({
    currency: z.string(),
    pending: money.describe('Commissions whose review period is over, and that wait for your review.'),
    held: money.describe('Commissions in their review period.'),
    order_unpaid: money.describe('Commissions of orders that are not paid yet.'),
    approved: money.describe('Commissions that are approved and not paid.'),
    owed_back: money.describe(
      'What refunds took back after an earlier payment, and no payout netted yet; below zero: what is due again.',
    ),
    unallocated: money.describe('What payouts left, for approvals to come.'),
    payable_now: money.describe('What pays everything approved: approved, without owed_back and unallocated.'),
    recorded: money.describe('Payouts that are recorded, and not paid yet. Not taken off payable_now.'),
    earned: money.describe('Commissions paid, without what payouts netted.'),
  })
  .meta({ id: 'Balance' });

export const CreatorBalance = z
  .object({
    creator_id: z.string(),
    creator_email: z.string().nullable(),
    creator_name: fromOutside(z.string().nullable()),
    as_of: timestamp,
    by_currency: z.array(Balance).describe('Of every currency in which there is or was anything.'),
  })
  .meta({ id: 'CreatorBalance' });

const cutoff = throughInput
  .optional()
  .describe('Only commissions of sales made at or before this time; a date alone includes that day.');

export const PreviewFilter = z
  .object({
    creator_email: z.email().max(254).optional().describe('In any case. Then the commissions are listed, too.'),
    currency: Currency.optional(),
    amount: decimalParameter({ min: 0, max: MAX_AMOUNT })
      .optional()
      .describe('Of the payout that would be made, for one creator and currency; what pays everything when omitted.'),
    minimum: decimalParameter({ min: 0, max: MAX_AMOUNT })
      .optional()
      .describe('Leaves out whoever would be paid less than this, in major units of their currency.'),
    cutoff,
    ...PageQuery,
  })
  .superRefine(({ creator_email, amount }: Unchecked<'creator_email' | 'amount'>, context) => {
    if (amount === undefined || creator_email !== undefined) return;
    context.addIssue({ code: 'custom', path: ['amount'], message: 'needs `creator_email`' });
  }, besideOthers);
export type PreviewFilter = z.output<typeof PreviewFilter>;

const PreviewedCommission = z.object({ commission_id: z.string(), amount: money, occurred_at: timestamp });

/** What a payout to a creator in a currency would pay now. */
const PayoutPreview = z
  .object({
    creator_id: z.string(),
    creator_email: z.string().nullable(),
    creator_name: fromOutside(z.string().nullable()),
    currency: z.string(),
    commission_count: z.number().int(),
    commissions_amount: money.describe('Of the commissions that would be paid.'),
    netted_amount: money.describe('Taken off for refunds after an earlier payment; below zero: given back.'),
    unallocated_used: money.describe('Taken off because earlier payouts left it.'),
    total: money.describe('What the payout would pay of its own amount: what to transfer.'),
    unallocated: money.describe('What `amount` would leave for approvals to come.'),
    recorded: money.describe('Payouts to this creator that are recorded and not paid: look at them first.'),
    payable: z.array(PreviewedCommission).optional().describe('Oldest sale first. Only for one creator.'),
    passed_over: z.array(PreviewedCommission).optional().describe('Approved, and not within the amount.'),
  })
  .meta({ id: 'PayoutPreview' });

export const PreviewRow = PayoutPreview.omit({ payable: true, passed_over: true });

export const PreviewList = listOf(PayoutPreview).extend({
  summary: z.object({
    by_currency: z.array(z.object({ currency: z.string(), total: money, payees: z.number().int() })),
  }),
});

const MAX_PAYEES = 500;
const text = z.string().trim().max(5_000).nullable();

export const PayoutBatch = z
  .object({
    method: Payout.shape.method,
    creator_emails: z
      .array(Email)
      .min(1)
      .max(MAX_PAYEES)
      .optional()
      .describe('Whom to pay; everybody to whom something is due when omitted.'),
    currency: Currency.optional().describe('All when omitted.'),
    minimum: z.number().min(0).max(MAX_AMOUNT).optional().describe('Leaves out whoever would be paid less than this.'),
    cutoff: throughInput.optional().describe('Only commissions of sales made by then; a date includes that day.'),
    paid_at: timestampInput.optional().describe('When the money went out: now when omitted.'),
    reference: z.string().trim().min(1).max(500).nullable().optional(),
    note: text.optional(),
  })
  .meta({ id: 'PayoutBatch', examples: [{ method: 'bank_transfer', minimum: 25, cutoff: '2026-03-31' }] });
export type PayoutBatch = z.output<typeof PayoutBatch>;

export const PayoutBatchMade = z
  .object({
    payouts: z.array(PayoutDetail),
    skipped: z.array(
      z.object({
        creator_email: z.string().nullable(),
        currency: z.string().nullable(),
        reason: z
          .enum(['below_minimum', 'nothing_due', 'not_found'])
          .describe('`nothing_due`: nothing is approved, or what payouts left and refunds took back covers all of it.'),
        total: money.nullable(),
      }),
    ),
    remaining: z.number().int().describe('Payees that were too many for one call: call again.'),
    by_currency: z.array(z.object({ currency: z.string(), total: money, payouts: z.number().int() })),
  })
  .meta({ id: 'PayoutBatchMade' });

export const StatementLine = z
  .object({
    type: z
      .enum(['commission', 'refunds', 'unallocated', 'fee', 'not_paid'])
      .describe(
        '`refunds`: netted for refunds after an earlier payment. `unallocated`: left for approvals to come. `not_paid`: the payout is recorded only.',
      ),
    commission_id: z.string().nullable(),
    order_id: z.string().nullable(),
    customer_email: z.string().nullable().describe('Masked.'),
    code: z.string().nullable(),
    occurred_at: timestamp.nullable().describe('When the order was placed.'),
    sale_amount: money.nullable(),
    refunded_amount: money.nullable(),
    commission: money.nullable().describe('The whole commission, of which several payouts may have paid a part each.'),
    paid_at: timestamp.nullable(),
    amount: money.describe('What of this payout it is; all lines add up to its amount.'),
  })
  .meta({ id: 'StatementLine' });

export const PayoutStatement = z
  .object({
    payout: PayoutDetail,
    lines: z.array(StatementLine),
    total: money.describe("The lines' sum: the payout's amount."),
    page_url: z.string().describe('The same as a page to print. It opens for 30 days, for whoever has it.'),
  })
  .meta({ id: 'PayoutStatement' });
