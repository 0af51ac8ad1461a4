import { z } from 'zod';
import { type EventsOf, events } from '../../outbox/events.ts';
import { Currency, fromMinor } from '../../values/money.ts';
import { booleanParameter, ListQuery, throughInput, timestamp, timestampInput } from '../../values/page.ts';
import { besideOthers, type Unchecked } from '../../values/problems.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { toWire } from '../../values/wire.ts';
import { Email } from '../creators/schema.ts';
import type { PayoutFacts } from './queries.ts';

const method = z.enum(['wallet', 'bank_transfer', 'manual']);
const id = z.string().min(1).max(100);
const MAX_COMMISSIONS = 1_000;
const text = z.string().trim().max(5_000).nullable();

/** What the policy for agents weighs of a payout, made or settled. */
export const WEIGHED_PAYOUT = { paid: { minor: 'amountMinor', currency: 'currency' } } as const;

export const Payout = z
  .object({
    id: z.string(),
    creator_email: z.string().nullable(),
    creator_name: fromOutside(z.string().nullable()),
    amount: z.number(),
    currency: z.string(),
    method,
    wallet_email: z.string().nullable(),
    status: z.enum(['completed', 'paid']),
    note: z.string().nullable(),
    created_at: timestamp,
    reference: z.string().nullable(),
    paid_at: timestamp.nullable(),
    allocated_amount: z.number().describe('Of the commissions it paid.'),
    netted_amount: z
      .number()
      .describe('Taken off them for refunds after an earlier payment; below zero: given back, for refunds taken back.'),
    unallocated_amount: z.number().describe('Of its amount, what paid nothing.'),
    unallocated: z
      .number()
      .describe('Of it, what later approvals of this creator and currency use up; 0 of a fee, and until it is paid.'),
    is_fee: z.boolean().describe('Paid for something else: settled with an empty list of commissions.'),
  })
  .meta({ id: 'Payout' });

export const PayoutDetail = Payout.extend({
  commission_ids: z.array(z.string()).describe('What it paid, or paid a part of, oldest sale first.'),
}).meta({ id: 'PayoutDetail' });

export const PayoutCreate = z
  .object({
    creator_email: Email.describe('Of somebody who is or was on the roster.'),
    amount: z.number().positive().describe('In major units, with at most the decimals of its currency.'),
    currency: Currency.optional().describe("The brand's when omitted."),
    method,
    wallet_email: Email.nullable().optional(),
    note: text.optional(),
    description: text.optional().describe('Another name of `note`, which wins.'),
    commission_ids: z
      .array(id)
      .max(MAX_COMMISSIONS)
      .optional()
      .describe(
        'Of a wallet, which is paid at once: what it pays, as in `PATCH`. Others are given it when they are paid.',
      ),
  })
  .superRefine(({ method, commission_ids }: Unchecked<'method' | 'commission_ids'>, context) => {
    if (commission_ids === undefined || method === undefined || method === 'wallet') return;
    const message = 'is for a wallet; tell it with `PATCH` when this payout is paid';
    context.addIssue({ code: 'custom', path: ['commission_ids'], message });
  }, besideOthers)
  .meta({ id: 'PayoutCreate' });
export type PayoutCreate = z.output<typeof PayoutCreate>;

const settlement = {
  status: z.literal('paid'),
  paid_at: timestampInput.optional().describe('Now when omitted.'),
  reference: z.string().trim().min(1).max(500).nullable().optional(),
  note: text.optional(),
  commission_ids: z
    .array(id)
    .max(MAX_COMMISSIONS)
    .optional()
    .describe('What it pays. Oldest first when omitted; an empty list pays none, as for a fee.'),
};

export const PayoutPatch = z.object(settlement).meta({ id: 'PayoutPatch' });
export type PayoutPatch = z.output<typeof PayoutPatch>;

export const PayoutPatchById = z.object({ id, ...settlement }).meta({ id: 'PayoutPatchById' });

export const PayoutFilter = z
  .object({
    creator_email: z.email().max(254).optional().describe('In any case.'),
    method: method.optional(),
    settled: booleanParameter().optional().describe('Whether it is paid; a wallet is once it is recorded.'),
    from: timestampInput.optional().describe('Made at or after this time.'),
    to: throughInput.optional().describe('Made at or before this time; a date alone includes that day.'),
    ...ListQuery,
  })
  .superRefine(({ from, to }: Unchecked<'from' | 'to'>, context) => {
    if (!(from instanceof Date && to instanceof Date && from > to)) return;
    context.addIssue({ code: 'custom', path: ['from'], message: 'must not be after `to`', input: from.toISOString() });
  }, besideOthers);

/** Every field that any of the shapes shows, but `commission_ids`. */
export function payoutOf({ amountMinor, allocatedMinor, nettedMinor, unallocatedMinor, ...row }: PayoutFacts) {
  const major = (minor: number) => fromMinor(minor, row.currency);
  return {
    ...toWire(row),
    amount: major(amountMinor),
    allocated_amount: major(allocatedMinor),
    netted_amount: major(nettedMinor),
    unallocated: major(unallocatedMinor),
    unallocated_amount: major(amountMinor - (allocatedMinor - nettedMinor)),
  };
}

const payoutEvents = events({
  'payout.created': {
    data: Payout,
    when: 'A payout was recorded.',
    shownTo: ['current', 'legacy'],
  },
});
declare module '../../outbox/events.ts' {
  interface Events extends EventsOf<typeof payoutEvents> {}
}
