import { z } from 'zod';
import { LEDGER_KINDS, type LedgerKind } from '../../engines/postgres/attribution-tables.ts';
import { Boundary, endOf, startOf } from '../../figures/schema.ts';
import { read } from '../../operation/kit.ts';
import { ACCOUNTS, type Account } from '../../outbox/ledger-entry.ts';
import { Currency, fromMinor } from '../../values/money.ts';
import { listOf, PageQuery, pageOf, paginationOf, timestamp } from '../../values/page.ts';
import { besideOthers, type Unchecked } from '../../values/problems.ts';
import { eachAs } from '../../values/wire.ts';
import { eachJournalRow, type JournalRow, listJournal, sumJournal } from './journal-queries.ts';

/** What each account is called in a journal. */
const NAMES: Readonly<Record<Account, string>> = {
  customers: 'Customers (sales attributed)',
  sales: 'Sales attributed',
  sales_refunds: 'Sales refunded',
  commission_expense: 'Commission expense',
  commission_pending: 'Commissions, not approved',
  commission_approved: 'Commissions payable',
  commission_paid: 'Commissions paid',
  refund_adjustment: 'Creators, owed back',
  commission_settled: 'Commissions settled by payouts',
  adjustments_netted: 'Creators, owed back and netted',
  unallocated: 'Creators, paid in advance',
  fees: 'Creators, fees',
  cash: 'Cash',
};

const TEXTS: Readonly<Record<LedgerKind, string>> = {
  sale: 'Sale',
  refund: 'Refund',
  approval: 'Commission approved',
  rejection: 'Commission rejected',
  payment: 'Commission paid',
  adjustment: 'Order changed',
  payout: 'Payout',
  manual: 'Commission recorded by hand',
};

const money = z.number().describe('In major units of `currency`.');

const JournalLine = z
  .object({
    date: z.iso.date().describe('The UTC day it counts on: of a sale and its commission the day of the order.'),
    entry: z.number().int().describe("The entry's number in the ledger; its lines together are balanced."),
    kind: z.enum(LEDGER_KINDS).describe('What was recorded.').meta({ example: 'approval' }),
    account: z.enum(ACCOUNTS),
    account_name: z.string(),
    text: z.string(),
    debit: money.nullable(),
    credit: money.nullable(),
    currency: z.string(),
    document: z
      .string()
      .nullable()
      .describe("The payout's reference or id, the order's id at its store, or neither.")
      .meta({ example: '1001' }),
    creator_email: z.string().nullable(),
    order_id: z.string().nullable(),
    commission_id: z.string().nullable(),
    payout_id: z.string().nullable(),
    recorded_at: timestamp,
    entry_id: z.string(),
  })
  .meta({ id: 'JournalLine' });

const JournalFilter = z
  .object({
    from: Boundary.optional().describe('The first UTC day, or a time; default: the first of this month.'),
    to: Boundary.optional().describe('The last UTC day, which is included whole, or a time; default: today.'),
    by: z
      .enum(['date', 'recorded'])
      .default('date')
      .describe(
        '`date`: what counts on these days, as known now. `recorded`: what was recorded in them; it never changes again.',
      ),
    account: z.enum(ACCOUNTS).optional(),
    currency: Currency.optional(),
    ...PageQuery,
  })
  .superRefine(({ from, to }: Unchecked<'from' | 'to'>, context) => {
    if (typeof from !== 'string' || typeof to !== 'string' || startOf(from) < endOf(to)) return;
    context.addIssue({ code: 'custom', path: ['from'], message: 'must not be after `to`', input: from });
  }, besideOthers);
type JournalFilter = z.output<typeof JournalFilter>;

const Turnover = z.object({ account: z.enum(ACCOUNTS), account_name: z.string(), currency: z.string() });

const JournalList = listOf(JournalLine).extend({
  summary: z.object({
    by_account: z.array(Turnover.extend({ debit: money, credit: money })).describe('Of all lines, not of the page.'),
  }),
});

/** The window that is asked for; by default this month so far. One that ends before it begins is empty. */
function whereOf({ from, to, ...query }: JournalFilter, now: Date) {
  const today = now.toISOString().slice(0, 10);
  return { ...query, from: startOf(from ?? `${today.slice(0, 8)}01`), until: endOf(to ?? today) };
}

function lineOf(row: JournalRow): z.output<typeof JournalLine> {
  const { at, amountMinor, currency, orderId, payoutId, reference, kind } = row;
  return {
    date: at.slice(0, 10),
    entry: row.seq,
    kind,
    account: row.account,
    account_name: NAMES[row.account],
    text: [TEXTS[kind], orderId === null ? null : `order ${orderId}`].filter(Boolean).join(', '),
    debit: amountMinor > 0 ? fromMinor(amountMinor, currency) : null,
    credit: amountMinor < 0 ? fromMinor(-amountMinor, currency) : null,
    currency,
    document: payoutId === null ? orderId : (reference ?? payoutId),
    creator_email: row.creatorEmail,
    order_id: orderId,
    commission_id: row.commissionId,
    payout_id: payoutId,
    recorded_at: row.recordedAt.toISOString(),
    entry_id: row.entryId,
  };
}

const listLedgerJournal = read({
  id: 'list_ledger_journal',
  path: '/v1/affiliates/ledger/journal',
  tag: 'Affiliates',
  summary: 'The ledger as a journal, to book a month',
  description:
    'A line for each posting, oldest first, with debit and credit in columns of their own, and the turnover of each ' +
    'account. Debits and credits of a currency are equal.',
  query: JournalFilter,
  response: JournalList,
  handler: async ({ postgres: { db }, clock }, { caller: { brandId }, query }) => {
    const page = pageOf(query);
    const where = whereOf(query, clock.now());
    const [rows, sums] = await Promise.all([listJournal(db, brandId, where, page), sumJournal(db, brandId, where)]);
    const total = sums.reduce((sum, { postings }) => sum + postings, 0);
    const by_account = sums.map(({ account, currency, debitMinor, creditMinor }) => ({
      ...{ account, account_name: NAMES[account], currency },
      debit: fromMinor(debitMinor, currency),
      credit: fromMinor(creditMinor, currency),
    }));
    return { data: rows.map(lineOf), pagination: paginationOf(page, total), summary: { by_account } };
  },
  csv: {
    item: JournalLine,
    rows: ({ postgres, clock }, { caller, query }) =>
      eachAs(eachJournalRow(postgres.exports, caller.brandId, whereOf(query, clock.now())), lineOf),
  },
});

export const journalOperations = [listLedgerJournal] as const;
