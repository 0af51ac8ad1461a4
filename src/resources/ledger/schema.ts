import { z } from 'zod';
import { LEDGER_KINDS } from '../../engines/postgres/attribution-tables.ts';
import { Boundary, startOf } from '../../figures/schema.ts';
import { ACCOUNTS } from '../../outbox/ledger-entry.ts';
import { Currency } from '../../values/money.ts';
import { PageQuery, Pagination, timestamp } from '../../values/page.ts';

const account = z.enum(ACCOUNTS);
const amount = z.number().int().describe('Minor units; debits positive, credits negative.');

export const LedgerEntry = z
  .object({
    id: z.string(),
    seq: z.number().int().describe("The entry's place in the brand's chain, from 1 without a gap."),
    kind: z.enum(LEDGER_KINDS),
    currency: z.string(),
    creator_email: z.string().nullable(),
    creator_id: z.string(),
    link_id: z.string().nullable(),
    order_id: z.string().nullable().describe("The order's id at its store, as everywhere."),
    order_record_id: z.string().nullable().describe("Rollcall's own id of the order; the hash is over this one."),
    commission_id: z.string().nullable(),
    payout_id: z.string().nullable(),
    postings: z.array(z.object({ account, amount_minor: amount, at: timestamp })).describe('They add up to zero.'),
    recorded_at: timestamp,
    hash: z.string().describe("SHA-256, hex, over the last entry's hash and this entry's facts."),
  })
  .meta({ id: 'LedgerEntry' });

/** The answer names the moment, which in UTC may be in a year that has no four digits. */
const Moment = Boundary.refine(
  (boundary) => startOf(boundary).getUTCFullYear() >= 0,
  'must not be before the year 0000',
);

export const LedgerFilter = z.object({
  as_of: Moment.optional().describe('A UTC day, which is included whole, or a time; default, and at the most: now.'),
  creator_email: z.email().max(254).optional().describe('In any case.'),
  currency: Currency.optional(),
  ...PageQuery,
});
export type LedgerFilter = z.output<typeof LedgerFilter>;

export const LedgerList = z.object({
  data: z.array(LedgerEntry).describe('Newest first.'),
  pagination: Pagination,
  summary: z.object({
    as_of: timestamp,
    balances: z.array(z.object({ account, currency: z.string(), balance_minor: amount })).describe('Of all entries.'),
  }),
});
