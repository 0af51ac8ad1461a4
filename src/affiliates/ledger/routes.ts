import { setTimeout as pause } from 'node:timers/promises';
import { endOf } from '../../analytics/figures/schema.ts';
import type { Context } from '../../kit/operation/context.ts';
import { read } from '../../kit/operation/kit.ts';
import { StoredPostings } from '../../kit/outbox/ledger-entry.ts';
import { awaitNumbers } from '../../kit/outbox/queries.ts';
import { pageOf, paginationOf } from '../../kit/values/page.ts';
import { eachAs, toWire } from '../../kit/values/wire.ts';
import { eachEntry, type LedgerWhere, type ListedEntry, listBalances, listEntries } from './queries.ts';
import { LedgerEntry, LedgerFilter, LedgerList } from './schema.ts';

const entryOf = ({ hash, postings, orderId, storeOrderId, ...row }: ListedEntry) => ({
  ...toWire(row),
  order_id: storeOrderId,
  order_record_id: orderId,
  postings: StoredPostings.parse(postings),
  hash: hash.toString('hex'),
});

/** Longer than the rest of the current millisecond, even if the timer fires early. */
const MOMENT_MS = 3;

/** Returns the filter once no more entries can be recorded before its time, which is at most now. */
async function settled(
  { postgres, clock }: Pick<Context, 'postgres' | 'clock'>,
  brandId: string,
  { as_of, creator_email, currency }: LedgerFilter,
): Promise<LedgerWhere> {
  const now = clock.now();
  const until = new Date(Math.min(endOf(as_of ?? now.toISOString()).getTime(), now.getTime() + 1));
  if (until > now) await pause(MOMENT_MS);
  await awaitNumbers(postgres.db, brandId);
  return { until, creator_email, currency };
}

async function* eachSettled(context: Context, brandId: string, query: LedgerFilter) {
  yield* eachAs(eachEntry(context.postgres.exports, brandId, await settled(context, brandId, query)), entryOf);
}

export const ledgerOperations = [
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
      const page = pageOf(query);
      const where = await settled(context, brandId, query);
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
      rows: (context, { caller, query }) => eachSettled(context, caller.brandId, query),
    },
  }),
] as const;
