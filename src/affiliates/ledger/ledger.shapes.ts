import { z } from 'zod';
import { Boundary, toStart } from '../../analytics/figures/sums.ts';
import { ACCOUNTS, LEDGER_KINDS } from '../../kit/outbox/ledger-entry.ts';
import { Email } from '../../kit/values/email.ts';
import { creatorEmail, currencyField, idField } from '../../kit/values/fields.ts';
import { Currency } from '../../kit/values/money.ts';
import { PageQuery, Pagination, timestamp, timeZoneInput } from '../../kit/values/page.ts';
import { orderNumber } from '../orders/order-names.ts';

export const account = z
  .enum(ACCOUNTS)
  .describe(
    'Ledger account. `customers`, `sales`, `sales_refunds`: attributed sales. `commission_expense`: cost of commissions. ' +
      '`commission_pending`, `commission_approved`, `commission_paid`: commissions by status. `refund_adjustment`: what refunds took ' +
      'back from paid commissions; `adjustments_netted`: what payouts withheld of it. `cash`: money sent by payouts, of which ' +
      '`commission_settled` paid commissions, `unallocated` paid none yet, and `fees` were fees.',
  );
export const kind = z
  .enum(LEDGER_KINDS)
  .describe(
    'What was recorded. `sale`, `refund`, `adjustment`: an order was attributed, refunded or otherwise changed by its store. ' +
      '`approval`, `rejection`, `payment`, `manual`: a commission was approved, rejected, paid, or recorded by the brand. ' +
      '`payout`: money was sent to a creator. `void`, `return`: a payout was withdrawn before it was paid, or its money came back. ' +
      '`claw_back`: a paid commission was taken back. `test`: an order turned out to be a test, and counts no more.',
  )
  .meta({ example: 'approval' });

export const LedgerEntry = z
  .object({
    id: idField('led', 'Id of the ledger entry.'),
    seq: z.number().int().describe("Position in the brand's chain, from 1 without gaps.").meta({ example: 412 }),
    kind,
    currency: currencyField,
    creator_email: creatorEmail,
    creator_id: idField('crt', 'Creator whose commission or payout it is, in `/v1/creators`.'),
    link_id: z
      .string()
      .nullable()
      .describe('Code or link that earned the commission; null for a manual commission and for a payout.')
      .meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
    order_id: z
      .string()
      .nullable()
      .describe("The order's id at its store; null without an order.")
      .meta({ example: '1001' }),
    order_record_id: z
      .string()
      .nullable()
      .describe("Rollcall's own id of the order, which the hash covers; null without an order.")
      .meta({ example: 'ord_0Uo3xK2mVdT2aXs7LpRb' }),
    commission_id: z
      .string()
      .nullable()
      .describe('Commission that the entry is about; null for money that a payout sent.')
      .meta({ example: 'com_0Uo3xK2mVdT2aXs7LpRb' }),
    payout_id: z
      .string()
      .nullable()
      .describe('Payout that the entry belongs to; null for anything but payments and their corrections.')
      .meta({ example: null }),
    postings: z
      .array(
        z.object({
          account,
          amount_minor: z
            .number()
            .int()
            .describe('Amount in minor units of `currency`: debits are positive, credits negative.')
            .meta({ example: 1_255 }),
          at: timestamp
            .describe('When the posting counts: a sale and its commission at the time of the order.')
            .meta({ example: '2026-03-02T09:30:00.000Z' }),
        }),
      )
      .describe('Debits and credits of the entry. They add up to zero.'),
    recorded_at: timestamp
      .describe('When the entry was appended to the ledger.')
      .meta({ example: '2026-03-02T09:30:05.000Z' }),
    hash: z
      .string()
      .describe("SHA-256, in hex, over the previous entry's hash and the facts of this one.")
      .meta({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }),
    order_number: orderNumber,
  })
  .meta({ id: 'LedgerEntry' });

/** The response repeats the time in UTC, where its year must have four digits. */
const Moment = Boundary.refine(
  (boundary) => toStart(boundary).getUTCFullYear() >= 0,
  'must not be before the year 0000',
);

export const LedgerFilter = z.object({
  as_of: Moment.optional().describe(
    'Only entries recorded by then: a day, which is included whole, or a time. Omitted, or in the future: now.',
  ),
  time_zone: timeZoneInput,
  creator_email: Email.optional()
    .describe("Only this creator's entries. Case does not matter.")
    .meta({ example: 'ana@example.com' }),
  currency: Currency.optional().describe('Only entries in this currency.'),
  ...PageQuery,
});
export type LedgerFilter = z.output<typeof LedgerFilter>;

export const LedgerList = z.object({
  data: z.array(LedgerEntry).describe('Entries of the page, newest first.'),
  pagination: Pagination,
  summary: z
    .object({
      as_of: timestamp
        .describe(
          'Last moment that the answer includes. The same request with this `as_of` always gets the same balances.',
        )
        .meta({ example: '2026-03-31T23:59:59.999Z' }),
      balances: z
        .array(
          z.object({
            account,
            currency: currencyField,
            balance_minor: z
              .number()
              .int()
              .describe('Sum of all postings to the account, in minor units: debits are positive, credits negative.')
              .meta({ example: -4_200 }),
          }),
        )
        .describe('One balance for each account and currency. Those of one currency add up to zero.'),
    })
    .describe('Balances over all matching entries, not just this page.'),
});
