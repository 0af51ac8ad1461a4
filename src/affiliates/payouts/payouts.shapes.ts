import { z } from 'zod';
import { type EventsOf, events } from '../../kit/outbox/events.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { Email } from '../../kit/values/email.ts';
import { createdAt, creatorEmail, currencyField, idField } from '../../kit/values/fields.ts';
import { Currency } from '../../kit/values/money.ts';
import {
  booleanParameter,
  ListQuery,
  TotalsQuery,
  throughInput,
  timestamp,
  timestampInput,
} from '../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { toWire } from '../../kit/values/wire.ts';
import type { PayoutFacts } from './payouts.ts';

const method = z
  .enum(['wallet', 'bank_transfer', 'manual'])
  .describe(
    'How the money is sent. A `wallet` payout counts as paid when it is recorded; a `bank_transfer` or `manual` one when you settle it.',
  )
  .meta({ example: 'bank_transfer' });
const id = z.string().min(1).max(100);
const payoutId = idField('pay', 'Id of the payout.');
const MAX_COMMISSIONS = 1_000;

/** The brand's note on a payout or a batch. */
export const note = z
  .string()
  .trim()
  .max(5_000)
  .nullable()
  .describe('Your own note. Creators never see it.')
  .meta({ example: 'March commissions.' });
export const reference = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .nullable()
  .describe("The transfer's number at the bank or wallet. The creator sees it on statements.")
  .meta({ example: 'TX-20931' });

/** The payee's name, as on the roster. */
export const payeeName = fromOutside(
  z
    .string()
    .nullable()
    .describe("The creator's name on the roster; null when it is not known.")
    .meta({ example: 'Ana Ortiz' }),
);

/** The amount that the agent policy limits when a payout is recorded or settled. */
export const WEIGHED_PAYOUT = { paid: { minor: 'amountMinor', currency: 'currency' } } as const;

export const Payout = z
  .object({
    id: payoutId,
    creator_email: creatorEmail,
    creator_name: payeeName,
    amount: z.number().describe('Money sent to the creator, in major units of `currency`.').meta({ example: 125.5 }),
    currency: currencyField,
    method,
    wallet_email: z
      .string()
      .nullable()
      .describe("Email address of the creator's wallet; null when not given.")
      .meta({ example: 'ana@example.com' }),
    status: z
      .enum(['completed', 'paid', 'voided', 'returned'])
      .describe(
        '`completed`: recorded; a `wallet` payout stays so, since it is paid at once. `paid`: you settled a `bank_transfer` or `manual` payout. `voided`: withdrawn before it was paid. `returned`: it was paid, and the money came back.',
      ),
    note: z
      .string()
      .nullable()
      .describe('Your own note, which creators never see; null without one.')
      .meta({ example: 'March commissions.' }),
    created_at: createdAt,
    reference: z
      .string()
      .nullable()
      .describe("The transfer's number at the bank or wallet; null when not given.")
      .meta({ example: 'TX-20931' }),
    paid_at: timestamp
      .nullable()
      .describe('When the money was sent; null until the payout is paid.')
      .meta({ example: '2026-03-20T12:00:00.000Z' }),
    allocated_amount: z
      .number()
      .describe('Value of the commissions that it paid, in major units, before `netted_amount` was deducted.')
      .meta({ example: 125.5 }),
    netted_amount: z
      .number()
      .describe(
        'Amount that it withheld for refunds of commissions paid earlier, in major units. Below zero: it gave back an amount withheld for a refund that the store reverted.',
      )
      .meta({ example: 0 }),
    unallocated_amount: z
      .number()
      .describe('Part of `amount` that paid no commission, in major units.')
      .meta({ example: 0 }),
    unallocated: z
      .number()
      .describe(
        'Part of `unallocated_amount` that will pay commissions of this creator and currency as they are approved; 0 for a fee and for an unpaid payout.',
      )
      .meta({ example: 0 }),
    is_fee: z
      .boolean()
      .describe('Whether it is a fee rather than a payment of commissions: settled with an empty `commission_ids`.')
      .meta({ example: false }),
    corrected_at: timestamp
      .nullable()
      .describe('When the payout was voided, or when its money came back; null otherwise.')
      .meta({ example: null }),
    correction_reason: z
      .string()
      .nullable()
      .describe('Why it was voided or returned. The creator sees it on statements; null otherwise.')
      .meta({ example: null }),
  })
  .meta({ id: 'Payout' });

export const PayoutDetail = Payout.extend({
  commission_ids: z
    .array(z.string())
    .describe('Commissions that it paid, in whole or in part, oldest sale first.')
    .meta({ example: ['com_0Uo3xK2mVdT2aXs7LpRb'] }),
}).meta({ id: 'PayoutDetail' });

export const PayoutCreate = z
  .object({
    creator_email: Email.describe('A creator who is or was on the roster.'),
    amount: z
      .number()
      .positive()
      .describe('Money to send, in major units, with no more decimals than the currency has.')
      .meta({ example: 125.5 }),
    currency: Currency.optional().describe("Currency of `amount`; the brand's when omitted."),
    method,
    wallet_email: Email.nullable().optional().describe("Email address of the creator's wallet."),
    note: note.optional(),
    description: note.optional().describe('Alias of `note`, which wins when both are given.'),
    commission_ids: z
      .array(id.meta({ example: 'com_0Uo3xK2mVdT2aXs7LpRb' }))
      .max(MAX_COMMISSIONS)
      .optional()
      .describe(
        'For `wallet` only: commissions that it pays. For other methods, give them when you settle the payout.',
      ),
  })
  .superRefine(({ method, commission_ids }: Unchecked<'method' | 'commission_ids'>, context) => {
    if (commission_ids === undefined || method === undefined || method === 'wallet') return;
    const message = 'is only for a wallet; give it with `PATCH` when you settle this payout';
    context.addIssue({ code: 'custom', path: ['commission_ids'], message });
  }, besideOthers)
  .meta({ id: 'PayoutCreate' });
export type PayoutCreate = z.output<typeof PayoutCreate>;

const settlement = {
  status: z.literal('paid').describe('Always `paid`: the money was sent.'),
  paid_at: timestampInput
    .optional()
    .describe(
      "When the money was sent; now when omitted. At most a day in the future, or before the brand's first sale.",
    ),
  reference: reference.optional(),
  note: note.optional(),
  commission_ids: z
    .array(id.meta({ example: 'com_0Uo3xK2mVdT2aXs7LpRb' }))
    .max(MAX_COMMISSIONS)
    .optional()
    .describe(
      'Approved commissions that it pays. Omitted: all that fit, oldest sale first. An empty list marks it as a fee.',
    ),
};

export const PayoutPatch = z.object(settlement).meta({ id: 'PayoutPatch' });
export type PayoutPatch = z.output<typeof PayoutPatch>;

/** Why the brand corrects what it recorded. */
const correctionReason = z
  .string()
  .trim()
  .min(1)
  .max(1_000)
  .describe('Why. The creator sees it on statements.')
  .meta({ example: 'The bank sent the transfer back: account closed.' });

export const PayoutVoid = z.object({ reason: correctionReason }).meta({ id: 'PayoutVoid' });

export const ClawBack = z.object({ reason: correctionReason }).meta({ id: 'ClawBack' });

export const PayoutReturn = z
  .object({
    reason: correctionReason,
    returned_at: timestampInput
      .optional()
      .describe(
        'When the money came back; now when omitted. At most a day in the future, or before the payment, whose time is then used.',
      ),
  })
  .meta({ id: 'PayoutReturn' });
export type PayoutReturn = z.output<typeof PayoutReturn>;

export const PayoutPatchById = z
  .object({
    id: id.describe('Id of the payout to settle.').meta({ example: 'pay_0Uo3xK2mVdT2aXs7LpRb' }),
    ...settlement,
  })
  .meta({ id: 'PayoutPatchById' });

export const PayoutFilter = z.object({
  creator_email: Email.optional()
    .describe("Only this creator's payouts. Case does not matter.")
    .meta({ example: 'ana@example.com' }),
  method: method.optional().describe('Only payouts sent this way.'),
  status: Payout.shape.status.optional().describe('Only payouts of this status.'),
  settled: booleanParameter()
    .optional()
    .describe(
      '`true`: only paid payouts, including every `wallet` payout. `false`: only unpaid ones. Voided and returned ones are in neither.',
    ),
  from: timestampInput.optional().describe('Only payouts created at or after this time.'),
  to: throughInput.optional().describe('Only payouts created at or before this time; a date alone includes that day.'),
  ...ListQuery,
  sort: z
    .enum(['newest', 'oldest', 'amount'])
    .default('newest')
    .describe('`amount`: largest first, whatever the currency. The others sort by the time of creation.'),
  ...TotalsQuery,
});
export type PayoutFilter = z.output<typeof PayoutFilter>;

/** Maps a row to every field of any shape of a payout, except `commission_ids`. */
export function toPayout({ amountMinor, allocatedMinor, nettedMinor, unallocatedMinor, ...row }: PayoutFacts) {
  return {
    ...toWire(row),
    amount: fromMinor(amountMinor, row.currency),
    allocated_amount: fromMinor(allocatedMinor, row.currency),
    netted_amount: fromMinor(nettedMinor, row.currency),
    unallocated: fromMinor(unallocatedMinor, row.currency),
    unallocated_amount: fromMinor(amountMinor - (allocatedMinor - nettedMinor), row.currency),
  };
}

const payoutEvents = events({
  'payout.created': {
    data: Payout,
    when: 'A payout was recorded. It is sent again, with the new `status`, when the payout is voided or returned.',
    shownTo: ['current', 'legacy'],
  },
});
declare module '../../kit/outbox/events.ts' {
  interface Events extends EventsOf<typeof payoutEvents> {}
}
