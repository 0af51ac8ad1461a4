import { z } from 'zod';
import { Boundary, toEnd, toStart } from '../../analytics/figures/sums.ts';
import type { Context } from '../../kit/operation/context.ts';
import { read } from '../../kit/operation/kit.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import { noun } from '../../kit/operation/noun.ts';
import { type Account, type LedgerKind, StoredPostings } from '../../kit/outbox/ledger-entry.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { creatorEmail, currencyField, idField } from '../../kit/values/fields.ts';
import { Currency } from '../../kit/values/money.ts';
import { listSchema, PageQuery, timeZoneInput, toPage, toPagination } from '../../kit/values/page.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import { mapRows, toWire } from '../../kit/values/wire.ts';
import { awaitFilter } from './as-of.ts';
import { eachJournalRow, type JournalRow, listJournal, sumJournal } from './journal.ts';
import { reconcileJob } from './ledger.jobs.ts';
import { account, kind, LedgerEntry, LedgerFilter, LedgerList } from './ledger.shapes.ts';
import { eachEntry, type ListedEntry, listAccountBalances, listEntries } from './ledger.ts';
import { listOpenItemsOperation } from './open-items.api.ts';

const toEntry = ({ hash, postings, orderId, storeOrderId, ...row }: ListedEntry) => ({
  ...toWire(row),
  order_id: storeOrderId,
  order_record_id: orderId,
  postings: StoredPostings.parse(postings),
  hash: hash.toString('hex'),
});

const ledgerOperations = [
  read({
    id: 'list_affiliate_ledger',
    path: '/v1/affiliates/ledger',
    tag: 'Affiliates',
    summary: 'List ledger entries, with balances at any time',
    description:
      'The ledger is append-only, double-entry and hash-chained. Balances are sums of all postings recorded by `as_of`; those of one currency add up to zero. Repeat a request with the `as_of` of its answer to get the same balances again.',
    forAgents: {
      description: 'Append-only, double-entry and hash-chained. Balances are sums of all postings recorded by `as_of`.',
      example: { creator_email: 'ana@example.com' },
    },
    query: LedgerFilter,
    response: LedgerList,
    handler: async (context, { caller: { brandId }, query }) => {
      const { db } = context.postgres;
      const page = toPage(query);
      const where = await awaitFilter(context, brandId, query);
      const [{ rows, total }, balances] = await Promise.all([
        listEntries(db, brandId, where, page),
        listAccountBalances(db, brandId, where),
      ]);
      const summary = {
        as_of: new Date(where.until.getTime() - 1).toISOString(),
        balances: balances.map(({ balanceMinor, ...row }) => ({ ...row, balance_minor: balanceMinor })),
      };
      return { data: rows.map(toEntry), pagination: toPagination(page, total), summary };
    },
    csv: {
      item: LedgerEntry,
      rows: async function* (context, { caller: { brandId }, query }) {
        yield* mapRows(
          eachEntry(context.postgres.exports, brandId, await awaitFilter(context, brandId, query)),
          toEntry,
        );
      },
    },
  }),
] as const;

const ACCOUNT_NAMES: Readonly<Record<Account, string>> = {
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

const BOOKING_TEXTS: Readonly<Record<LedgerKind, string>> = {
  sale: 'Sale',
  refund: 'Refund',
  approval: 'Commission approved',
  rejection: 'Commission rejected',
  payment: 'Commission paid',
  adjustment: 'Order changed',
  payout: 'Payout',
  manual: 'Commission recorded by hand',
  void: 'Payout voided',
  return: 'Payout returned',
  claw_back: 'Commission clawed back',
  test: 'Test order taken back',
};

const accountName = z
  .string()
  .describe('Name of the account, as an accountant would write it.')
  .meta({ example: 'Commissions payable' });

const JournalLine = z
  .object({
    date: z.iso
      .date()
      .describe('Day to book the line on. A sale and its commission have the day of the order.')
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
    order_number: LedgerEntry.shape.order_number,
  })
  .meta({ id: 'JournalLine' });

const JournalFilter = z.object({
  from: Boundary.optional()
    .describe('Start of the window: a day or a time. Omitted: the first of this month.')
    .meta({ example: '2026-03-01' }),
  to: Boundary.optional().describe('End of the window: a day, which is included whole, or a time. Omitted: today.'),
  time_zone: timeZoneInput,
  by: z
    .enum(['date', 'recorded'])
    .default('date')
    .describe(
      '`date`: lines that count on these days, as known now. `recorded`: lines recorded on these days, which never change again.',
    ),
  account: account.optional().describe('Only lines of this account.'),
  currency: Currency.optional().describe('Only lines in this currency.'),
  ...PageQuery,
});
export type JournalFilter = z.output<typeof JournalFilter>;

const Turnover = z.object({
  account,
  account_name: accountName,
  currency: currencyField,
  debit: z.number().describe('Sum of the debits, in major units.').meta({ example: 412.5 }),
  credit: z.number().describe('Sum of the credits, in major units.').meta({ example: 412.5 }),
});

const JournalList = listSchema(JournalLine).extend({
  summary: z
    .object({
      by_account: z.array(Turnover).describe('Turnover of each account and currency.'),
      time_zone: z.string().describe('Time zone of the days.').meta({ example: 'Europe/Berlin' }),
    })
    .describe('Sums over all matching lines, not just this page.'),
});

/** The requested window, by default this month so far. A window that ends before it begins is empty. */
async function resolveWindow({ postgres, clock }: Context, brandId: string, query: JournalFilter) {
  const { from, to, time_zone, ...where } = query;
  const timeZone = time_zone ?? (await getTimeZone(postgres.db, brandId));
  const today = dayIn(timeZone, clock.now());
  return {
    ...where,
    timeZone,
    from: toStart(from ?? `${today.slice(0, 8)}01`, timeZone),
    until: toEnd(to ?? today, timeZone),
  };
}

function toLine(row: JournalRow, timeZone: string): z.output<typeof JournalLine> {
  const { at, amountMinor, currency, orderId, payoutId, reference, kind } = row;
  return {
    date: dayIn(timeZone, new Date(at)),
    entry: row.seq,
    kind,
    account: row.account,
    account_name: ACCOUNT_NAMES[row.account],
    text: [BOOKING_TEXTS[kind], orderId === null ? null : `order ${row.orderNumber ?? orderId}`]
      .filter(Boolean)
      .join(', '),
    debit: amountMinor >= 0 ? fromMinor(amountMinor, currency) : null,
    credit: amountMinor < 0 ? fromMinor(-amountMinor, currency) : null,
    currency,
    document: payoutId === null ? orderId : (reference ?? payoutId),
    creator_email: row.creatorEmail,
    order_id: orderId,
    commission_id: row.commissionId,
    payout_id: payoutId,
    recorded_at: row.recordedAt.toISOString(),
    entry_id: row.entryId,
    order_number: row.orderNumber,
  };
}

const journalOperations = [
  read({
    id: 'list_ledger_journal',
    path: '/v1/affiliates/ledger/journal',
    tag: 'Affiliates',
    summary: 'Export the ledger as a journal',
    description:
      'One line for each posting, oldest first, with debit and credit in separate columns, and the turnover of each ' +
      'account. Debits and credits of one currency are equal.',
    forAgents: { isListed: false, example: { from: '2026-01-01', to: '2026-03-31' } },
    query: JournalFilter,
    response: JournalList,
    handler: async (context, { caller: { brandId }, query }) => {
      const { db } = context.postgres;
      const page = toPage(query);
      const { timeZone, ...where } = await resolveWindow(context, brandId, query);
      const [rows, sums] = await Promise.all([listJournal(db, brandId, where, page), sumJournal(db, brandId, where)]);
      const total = sums.reduce((sum, { postings }) => sum + postings, 0);
      const by_account = sums.map(({ account, currency, debitMinor, creditMinor }) => ({
        account,
        account_name: ACCOUNT_NAMES[account],
        currency,
        debit: fromMinor(debitMinor, currency),
        credit: fromMinor(creditMinor, currency),
      }));
      return {
        data: rows.map((row) => toLine(row, timeZone)),
        pagination: toPagination(page, total),
        summary: { by_account, time_zone: timeZone },
      };
    },
    csv: {
      item: JournalLine,
      rows: async (context, { caller: { brandId }, query }) => {
        const { timeZone, ...where } = await resolveWindow(context, brandId, query);
        return mapRows(eachJournalRow(context.postgres.exports, brandId, where), (row) => toLine(row, timeZone));
      },
    },
  }),
] as const;

export const ledger = noun({
  name: 'ledger',
  ids: { ledger: 'led' },
  operations: [...ledgerOperations, ...journalOperations, listOpenItemsOperation],
  jobs: [reconcileJob],
});
