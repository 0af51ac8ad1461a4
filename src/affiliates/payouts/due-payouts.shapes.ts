import { z } from 'zod';
import { Email } from '../../kit/values/email.ts';
import { creatorEmail, currencyField, idField } from '../../kit/values/fields.ts';
import { Currency } from '../../kit/values/money.ts';
import {
  decimalParameter,
  listSchema,
  PageQuery,
  throughInput,
  timestamp,
  timestampInput,
  timeZoneInput,
} from '../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { Job } from '../../platform/jobs/jobs.api.ts';
import { maskedCustomer, storeOrderId } from '../commissions/commissions.shapes.ts';
import { orderNumber } from '../orders/order-names.ts';
import { note, Payout, PayoutDetail, payeeName, reference } from './payouts.shapes.ts';
import { RAILS } from './rails.ts';

/** An amount in major units of the adjacent `currency`. */
const money = z.number();
const MAX_AMOUNT = 1e12;

/** A balance of a creator in one currency. */
const Balance = z
  .object({
    currency: currencyField.describe('ISO 4217 code of the currency. All amounts beside it are in its major units.'),
    pending: money
      .describe('Pending commissions whose review period is over: they wait for your review.')
      .meta({ example: 18 }),
    held: money.describe('Pending commissions still in their review period.').meta({ example: 24.5 }),
    order_unpaid: money
      .describe('Pending commissions of orders that the customer has not paid yet.')
      .meta({ example: 0 }),
    approved: money.describe('Approved commissions that no payout has paid yet.').meta({ example: 42 }),
    owed_back: money
      .describe(
        'Refunds of paid commissions that no payout has withheld yet. Below zero: what was withheld and is due again.',
      )
      .meta({ example: 0 }),
    unallocated: money
      .describe(
        'Money that earlier payouts sent beyond the commissions that they paid. It pays commissions that are approved later.',
      )
      .meta({ example: 0 }),
    payable_now: money
      .describe(
        'The amount that pays everything approved: `approved` minus `owed_back` minus `unallocated`, at least 0.',
      )
      .meta({ example: 42 }),
    recorded: money
      .describe('Payouts that are recorded and not paid yet. `payable_now` still includes them.')
      .meta({ example: 0 }),
    earned: money.describe('Commissions paid so far, minus what payouts withheld for refunds.').meta({ example: 310 }),
  })
  .meta({ id: 'Balance' });

const payeeId = idField('crt', 'Id of the creator in `/v1/creators`.');

export const CreatorBalance = z
  .object({
    creator_id: payeeId,
    creator_email: creatorEmail,
    creator_name: payeeName,
    as_of: timestamp.describe('When the balance was computed.').meta({ example: '2026-03-20T12:00:00.000Z' }),
    by_currency: z
      .array(Balance)
      .describe('One balance for each currency in which the creator ever earned or was paid.'),
  })
  .meta({ id: 'CreatorBalance' });

const cutoff = throughInput
  .optional()
  .describe('Only commissions of orders placed at or before this time; a date alone includes that day.');

export const PreviewFilter = z
  .object({
    creator_email: Email.optional()
      .describe('Only this creator, with their commissions listed one by one. Case does not matter.')
      .meta({ example: 'ana@example.com' }),
    currency: Currency.optional().describe('Only payouts in this currency.'),
    amount: decimalParameter({ min: 0, max: MAX_AMOUNT })
      .optional()
      .describe(
        'Amount that the payout would send, in major units, for one creator and currency. Omitted: the amount that pays everything due.',
      ),
    minimum: decimalParameter({ min: 0, max: MAX_AMOUNT })
      .optional()
      .describe('Leaves out creators who would be paid less than this, in major units of their currency.'),
    cutoff,
    time_zone: timeZoneInput,
    source_currency: Currency.optional().describe(
      "For Wise's file: the currency that you pay from; each payee's when omitted.",
    ),
    header: z
      .string()
      .max(1_000)
      .optional()
      .describe("For Wise's file: the first line of your own template, if its columns are others.")
      .meta({ example: 'name,recipientEmail,sourceCurrency,targetCurrency,amountCurrency,amount,paymentReference' }),
    ...PageQuery,
  })
  .superRefine(({ creator_email, amount }: Unchecked<'creator_email' | 'amount'>, context) => {
    if (amount === undefined || creator_email !== undefined) return;
    context.addIssue({ code: 'custom', path: ['amount'], message: 'needs `creator_email`' });
  }, besideOthers);
export type PreviewFilter = z.output<typeof PreviewFilter>;

const PreviewedCommission = z.object({
  commission_id: idField('com', 'Id of the approved commission.'),
  amount: money.describe('What the commission is worth, in major units of `currency`.').meta({ example: 12.55 }),
  occurred_at: timestamp.describe('When the order was placed.').meta({ example: '2026-03-02T09:30:00.000Z' }),
});

/** The effect of a payout to one creator in one currency, if it was paid now. */
const PayoutPreview = z
  .object({
    creator_id: payeeId,
    creator_email: creatorEmail,
    creator_name: payeeName,
    currency: currencyField,
    commission_count: z.number().int().describe('Number of commissions that would be paid.').meta({ example: 3 }),
    commissions_amount: money
      .describe('Value of the commissions that would be paid, in major units.')
      .meta({ example: 42 }),
    netted_amount: money
      .describe(
        'Amount that would be withheld for refunds of commissions paid earlier. Below zero: amount that would be given back.',
      )
      .meta({ example: 0 }),
    unallocated_used: money
      .describe('Part that the unallocated money of earlier payouts would pay.')
      .meta({ example: 0 }),
    total: money.describe('What to transfer, in major units, after both deductions.').meta({ example: 42 }),
    unallocated: money
      .describe('Part of `amount` that would remain for commissions approved later.')
      .meta({ example: 0 }),
    recorded: money
      .describe(
        'Payouts to this creator that are recorded and not paid. Check them first: they may pay the same money.',
      )
      .meta({ example: 0 }),
    pay_to: z
      .string()
      .nullable()
      .describe('Address to which a wallet payment goes; null without any.')
      .meta({ example: 'ana@example.com' }),
    pay_to_source: z
      .enum(['mail', 'brand', 'creator'])
      .describe('Who gave that address; `mail`: it is the email address, because nobody gave another.'),
    blocked: z
      .object({
        reason: z
          .enum(['payment_change_pending', 'no_payment_address'])
          .describe(
            '`payment_change_pending`: the payment address was changed and waits, so a batch skips the creator. `no_payment_address`: a wallet payment has no address.',
          ),
        until: timestamp
          .nullable()
          .describe('When it ends by itself; null if it does not.')
          .meta({ example: '2026-03-23T12:00:00.000Z' }),
      })
      .nullable()
      .describe('What keeps the creator from being paid; null if nothing does.')
      .meta({ example: null }),
    payable: z
      .array(PreviewedCommission)
      .optional()
      .describe('Commissions that would be paid, oldest sale first. Only with `creator_email`.'),
    passed_over: z
      .array(PreviewedCommission)
      .optional()
      .describe('Approved commissions that do not fit into `amount`. Only with `creator_email`.'),
  })
  .meta({ id: 'PayoutPreview' });

export const PreviewRow = PayoutPreview.omit({ payable: true, passed_over: true });

export const PreviewList = listSchema(PayoutPreview).extend({
  summary: z
    .object({
      by_currency: z
        .array(
          z.object({
            currency: currencyField,
            total: money.describe('Sum of `total` over all rows of this currency.').meta({ example: 1260.4 }),
            payees: z
              .number()
              .int()
              .describe('Creators to whom something would be transferred in this currency.')
              .meta({ example: 12 }),
          }),
        )
        .describe('What to transfer, one row per currency.'),
    })
    .describe('Sums over all matching creators, not just this page.'),
});

const MAX_PAYEES = 500;

export const PayoutBatch = z
  .object({
    method: Payout.shape.method.describe('How all these payouts are sent.').meta({ example: 'bank_transfer' }),
    creator_emails: z
      .array(Email)
      .min(1)
      .max(MAX_PAYEES)
      .optional()
      .describe('Creators to pay. Omitted: everyone who is due something.'),
    currency: Currency.optional().describe('Pays only what is due in this currency; every currency when omitted.'),
    minimum: z
      .number()
      .min(0)
      .max(MAX_AMOUNT)
      .optional()
      .describe('Skips creators who would be paid less than this, in major units of their currency.'),
    cutoff: throughInput
      .optional()
      .describe('Pays only commissions of orders placed at or before this time; a date alone includes that day.'),
    time_zone: timeZoneInput,
    paid_at: timestampInput
      .optional()
      .describe(
        "When the money was sent; now when omitted. At most a day in the future, or before the brand's first sale.",
      ),
    reference: reference.optional().describe('Number of the transfer, stored with every payout. Creators see it.'),
    note: note.optional().describe('Your own note, stored with every payout. Creators never see it.'),
    rail: z
      .enum(RAILS)
      .optional()
      .describe(
        'How the file was sent: amounts are rounded down to what the rail pays, and what is left is due again. A currency that it lacks is skipped.',
      )
      .meta({ example: 'paypal' }),
    expected: z
      .array(
        z.object({
          currency: Currency.describe('Currency of the preview.'),
          total: money.describe('Sum to transfer, as the preview showed it.').meta({ example: 1260.4 }),
          payees: z.number().int().min(0).describe('Creators to whom something is transferred.').meta({ example: 12 }),
        }),
      )
      .optional()
      .describe(
        "The preview's `summary.by_currency`. If it no longer holds, nothing is paid: 409 `CONFLICT` with both.",
      ),
  })
  .meta({ id: 'PayoutBatch', examples: [{ method: 'bank_transfer', minimum: 25, cutoff: '2026-03-31' }] });
export type PayoutBatch = z.output<typeof PayoutBatch>;

export const PayoutBatchMade = z
  .object({
    payouts: z.array(PayoutDetail).describe('Payouts that were recorded, each already paid.'),
    skipped: z
      .array(
        z.object({
          creator_email: creatorEmail,
          currency: z
            .string()
            .nullable()
            .describe('Currency in which nothing was paid; null when nothing is due in any currency.')
            .meta({ example: 'USD' }),
          reason: z
            .enum([
              'below_minimum',
              'nothing_due',
              'not_found',
              'payment_change_pending',
              'no_payment_address',
              'currency_unsupported',
              'being_paid',
            ])
            .describe(
              '`below_minimum`: less than `minimum` is due. `nothing_due`: nothing is approved, or earlier payouts and refunds cover all of it. `not_found`: no creator of the roster has this address. `payment_change_pending`: the payment address was changed and waits. `no_payment_address`: a wallet payment has no address. `currency_unsupported`: the rail does not pay in this currency, or not to this country. `being_paid`: a job is paying this creator right now.',
            ),
          total: money
            .nullable()
            .describe('What the creator would have been paid, in major units; null when nothing is due.')
            .meta({ example: 12.5 }),
        }),
      )
      .describe('Creators who were not paid, and why.'),
    remaining: z
      .number()
      .int()
      .describe('Number of payouts that remain, because one call has a limit. Call again until it is 0.')
      .meta({ example: 0 }),
    by_currency: z
      .array(
        z.object({
          currency: currencyField,
          total: money.describe('Sum of the amounts of these payouts, in major units.').meta({ example: 1260.4 }),
          payouts: z.number().int().describe('Number of payouts in this currency.').meta({ example: 12 }),
        }),
      )
      .describe('Sums of `payouts`, one row per currency.'),
  })
  .meta({ id: 'PayoutBatchMade' });

/** Response if more is due than a call pays. */
export const PayoutBatchStarted = z.object({ data: Job }).meta({ id: 'PayoutBatchStarted' });

export const PayoutReturnStarted = z.object({ data: Job }).meta({ id: 'PayoutReturnStarted' });

export const StatementLine = z
  .object({
    type: z
      .enum(['commission', 'refunds', 'unallocated', 'fee', 'not_paid', 'voided', 'returned'])
      .describe(
        '`commission`: a commission that the payout paid. `refunds`: withheld for refunds of commissions paid earlier. `unallocated`: remains for commissions approved later. `fee`: paid for something other than commissions. `not_paid`: the payout is not settled yet. `voided`: it was withdrawn before it was paid. `returned`: the money came back, as a negative line.',
      ),
    commission_id: z
      .string()
      .nullable()
      .describe('Commission that the line pays; null for other types.')
      .meta({ example: 'com_0Uo3xK2mVdT2aXs7LpRb' }),
    order_id: storeOrderId,
    customer_email: maskedCustomer,
    code: z
      .string()
      .nullable()
      .describe('Discount code that the customer redeemed, else the code or link name that earned the order.')
      .meta({ example: 'ANA10' }),
    occurred_at: timestamp
      .nullable()
      .describe('When the order was placed; null for lines without a commission.')
      .meta({ example: '2026-03-02T09:30:00.000Z' }),
    sale_amount: money
      .nullable()
      .describe('What the customer paid for goods, in major units; null without an order.')
      .meta({ example: 125.5 }),
    refunded_amount: money
      .nullable()
      .describe('What was refunded of the order so far, in major units; null without an order.')
      .meta({ example: 0 }),
    commission: money
      .nullable()
      .describe('The whole commission, in major units. Several payouts may have paid parts of it.')
      .meta({ example: 12.55 }),
    paid_at: timestamp
      .nullable()
      .describe('When the payout paid it; null while the payout is unpaid.')
      .meta({ example: '2026-03-20T12:00:00.000Z' }),
    amount: money
      .describe(
        "The line's part of the payout, in major units. All lines add up to the payout's amount; those of a returned payout to 0.",
      )
      .meta({ example: 12.55 }),
    order_number: orderNumber,
  })
  .meta({ id: 'StatementLine' });

export const PayoutStatement = z
  .object({
    payout: PayoutDetail.describe('The payout that the statement explains.'),
    lines: z.array(StatementLine).describe('One line for each commission, oldest sale first, then the other types.'),
    total: money.describe("Sum of the lines: the payout's amount; 0 for a returned payout.").meta({ example: 125.5 }),
    page_url: z
      .string()
      .describe('Link to a printable page of the statement. Anyone with the link can open it, for 30 days.')
      .meta({ example: 'https://links.example/statement/…' }),
  })
  .meta({ id: 'PayoutStatement' });
