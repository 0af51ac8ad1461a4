import type { Context } from '../../context.ts';
import { nothing, operation } from '../../operation.ts';
import { pageOf, paginationOf } from '../../page.ts';
import { eachAs, toWire } from '../../wire.ts';
import { endOf } from '../figures/schema.ts';
import { eachEntry, type LedgerWhere, type ListedEntry, listBalances, listEntries } from './queries.ts';
import { LedgerEntry, LedgerFilter, LedgerList } from './schema.ts';

const entryOf = ({ hash, ...row }: ListedEntry) => LedgerEntry.parse({ ...toWire(row), hash: hash.toString('hex') });

function whereOf({ as_of, creator_email, currency }: LedgerFilter, { clock }: Pick<Context, 'clock'>): LedgerWhere {
  return { until: endOf(as_of ?? clock.now().toISOString()), creator_email, currency };
}

export const listLedger = operation({
  id: 'list_affiliate_ledger',
  method: 'GET',
  path: '/v1/affiliates/ledger',
  tag: 'Affiliates',
  summary: 'The ledger, and its balances at any time',
  description:
    'Append-only, double-entry, hash-chained. Balances are the sum of every posting recorded by `as_of`; of one currency they add up to zero.',
  callers: ['brand'],
  params: nothing,
  query: LedgerFilter,
  body: nothing,
  response: LedgerList,
  hints: { readOnly: true, idempotent: true, destructive: false },
  handler: async (context, { caller: { brandId }, query }) => {
    const { db } = context.postgres;
    const page = pageOf(query);
    const where = whereOf(query, context);
    const [{ rows, total }, balances] = await Promise.all([
      listEntries(db, brandId, where, page),
      listBalances(db, brandId, where),
    ]);
    const asOf = new Date(where.until.getTime() - 1).toISOString();
    const summary = {
      as_of: asOf,
      balances: balances.map(({ balanceMinor, ...row }) => ({ ...row, balance_minor: balanceMinor })),
    };
    return { data: rows.map(entryOf), pagination: paginationOf(page, total), summary };
  },
  csv: {
    item: LedgerEntry,
    rows: (context, { caller, query }) =>
      eachAs(eachEntry(context.postgres.db, caller.brandId, whereOf(query, context)), entryOf),
  },
});
