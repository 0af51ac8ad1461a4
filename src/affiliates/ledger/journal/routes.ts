import { z } from 'zod';
import { Boundary, endOf, startOf } from '../../../analytics/figures/schema.ts';
import { read } from '../../../kit/operation/kit.ts';
import type { Account, LedgerKind } from '../../../kit/outbox/ledger-entry.ts';
import { creatorEmail, currencyField, idField } from '../../../kit/values/fields.ts';
import { Currency, fromMinor } from '../../../kit/values/money.ts';
import { listOf, PageQuery, pageOf, paginationOf } from '../../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../../kit/values/problems.ts';
import { eachAs } from '../../../kit/values/wire.ts';
import { account, kind, LedgerEntry } from '../schema.ts';
import { eachJournalRow, type JournalRow, listJournal, sumJournal } from './queries.ts';

/** The accounts' names in the journal. */
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

const accountName = z
  .string()
  .describe('Name of the account, as an accountant would write it.')
  .meta({ example: 'Commissions payable' });

const JournalLine = z
  .object({
    date: z.iso
      .date()
      .describe('UTC day to book the line on. A sale and its commission have the day of the order.')
      .meta({ example: '2026-03-02' }),
    entry: z.number().int().describe('`seq` of the ledger entry. Its lines balance together.').meta({ example: 412 }),
    kind,
    account,
    account_name: accountName,
    text: z.string().describe('Booking text.').meta({ example: 'Commission approved, order 1001' }),
    debit: z
      .number()
      .nullable()
      .describe('Debit in major units of `currency`; null when the line is a credit.')
      .meta({ example: 12.55 }),
    credit: z
      .number()
      .nullable()
      .describe('Credit in major units of `currency`; null when the line is a debit.')
      .meta({ example: null }),
    currency: currencyField,
    document: z
      .string()
      .nullable()
      .describe("Document number: the payout's reference or id, else the order's id at its store; null without either.")
      .meta({ example: '1001' }),
    creator_email: creatorEmail,
    order_id: LedgerEntry.shape.order_id,
    commission_id: LedgerEntry.shape.commission_id,
    payout_id: LedgerEntry.shape.payout_id,
    recorded_at: LedgerEntry.shape.recorded_at,
    entry_id: idField('led', 'Id of the ledger entry in `/v1/affiliates/ledger`.'),
  })
  .meta({ id: 'JournalLine' });

const JournalFilter = z
  .object({
    from: Boundary.optional()
      .describe('Start of the window: a UTC day or a time. Omitted: the first of this month.')
      .meta({ example: '2026-03-01' }),
    to: Boundary.optional().describe(
      'End of the window: a UTC day, which is included whole, or a time. Omitted: today.',
    ),
    by: z
      .enum(['date', 'recorded'])
      .default('date')
      .describe(
        '`date`: lines that count on these days, as known now. `recorded`: lines recorded on these days, which never change again.',
      ),
    account: account.optional().describe('Only lines of this account.'),
    currency: Currency.optional().describe('Only lines in this currency.'),
    ...PageQuery,
  })
  .superRefine(({ from, to }: Unchecked<'from' | 'to'>, context) => {
    if (typeof from !== 'string' || typeof to !== 'string' || startOf(from) < endOf(to)) return;
    context.addIssue({ code: 'custom', path: ['from'], message: 'must not be after `to`', input: from });
  }, besideOthers);
type JournalFilter = z.output<typeof JournalFilter>;

const Turnover = z.object({
  account,
  account_name: accountName,
  currency: currencyField,
  debit: z.number().describe('Sum of the debits, in major units.').meta({ example: 412.5 }),
  credit: z.number().describe('Sum of the credits, in major units.').meta({ example: 412.5 }),
});

const JournalList = listOf(JournalLine).extend({
  summary: z
    .object({ by_account: z.array(Turnover).describe('Turnover of each account and currency.') })
    .describe('Sums over all matching lines, not just this page.'),
});

/** The requested window; by default this month so far. A window that ends before it begins is empty. */
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

export const journalOperations = [
  read({
    id: 'list_ledger_journal',
    path: '/v1/affiliates/ledger/journal',
    tag: 'Affiliates',
    summary: 'The ledger as a journal, for bookkeeping',
    description:
      'One line for each posting, oldest first, with debit and credit in separate columns, and the turnover of each ' +
      'account. Debits and credits of one currency are equal.',
    forAgents: {
      description:
        'One line for each posting, oldest first, with debit and credit in separate columns, and the turnover of each account.',
      example: { from: '2026-01-01', to: '2026-03-31' },
    },
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
  }),
] as const;
