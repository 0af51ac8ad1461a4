import { setTimeout as pause } from 'node:timers/promises';
import {
  findUnsentSeals,
  listChangedCustomers,
  listLinePages,
  sumPageLines,
} from '../../analytics/figures/customer-rows.ts';
import { countBrokenDays, listNewerCustomers, sumCustomerOrders } from '../../analytics/figures/customers.ts';
import {
  countUnlikeClicks,
  countUnlikePostings,
  findSaleFacts as foldedSaleFacts,
} from '../../analytics/figures/orders.ts';
import { type AccountSum, listAccountSums as foldedSums, listBrokenRollups } from '../../analytics/figures/rollups.ts';
import { findPosition, listUnsentRanges } from '../../analytics/figures/sync.ts';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { findSaleFacts, inSnapshot, listAccountSums } from './ledger.ts';

/** During an insert, a batch is briefly in a table but not in its rollups, so a difference is checked again. */
const TRIES = 3;
const BETWEEN_TRIES_MS = 1_000;

/** Says in a sentence how two sums of an account differ, if they do. */
function describeDifference(ours: AccountSum | undefined, theirs: AccountSum | undefined): string | undefined {
  const print = (sum: AccountSum | undefined) => `${sum?.amount ?? 0} in ${sum?.postings ?? 0} postings`;
  if (print(ours) !== print(theirs)) return `PostgreSQL has ${print(ours)}, ClickHouse ${print(theirs)}`;
  if (ours?.fingerprint === theirs?.fingerprint) return undefined;
  return `both have ${print(ours)}, but not of the same links, creators, times and entries`;
}

function describeDifferences(truth: readonly AccountSum[], figureSums: readonly AccountSum[]): string[] {
  const toKey = ({ account, currency }: AccountSum) => `${account} ${currency}`;
  const [ours, theirs] = [truth, figureSums].map((sums) => new Map(sums.map((sum) => [toKey(sum), sum])));
  const keys = new Set([...truth, ...figureSums].map(toKey));
  return [...keys].sort().flatMap((key) => {
    const difference = describeDifference(ours?.get(key), theirs?.get(key));
    return difference === undefined ? [] : [`${key}: ${difference}`];
  });
}

type Databases = { db: Db; clickhouse: ClickHouse };

/** Compares the table of orders with postings, orders and clicks, and returns its problems. */
async function compareOrders({ db, clickhouse }: Databases, brandId: string): Promise<string[]> {
  const { position, skipped, truth } = await inSnapshot(db, async (trx) => {
    const position = await findPosition(trx, brandId);
    // A batch goes to the postings before it goes to the orders, so both ranges are skipped.
    const skippedRanges = [
      ...(await listUnsentRanges(trx, brandId, 'sentAt')),
      ...(await listUnsentRanges(trx, brandId, 'ordersSentAt')),
    ];
    return { position, skipped: skippedRanges, truth: await findSaleFacts(trx, brandId, position, skippedRanges) };
  });
  const figures = await foldedSaleFacts(clickhouse, brandId, position, skipped);
  const isSame = truth.sales === figures.sales && truth.fingerprint === figures.fingerprint;
  const unlikePostings = await countUnlikePostings(clickhouse, brandId, position, skipped);
  const unlikeClicks = await countUnlikeClicks(clickhouse, brandId, position, skipped);
  return [
    ...(isSame
      ? []
      : [`orders: PostgreSQL has ${truth.sales} sales, ClickHouse ${figures.sales}, or of other stores and clicks`]),
    ...(unlikePostings === 0
      ? []
      : [`order_figures_v1: ${unlikePostings} days of a link are not the sum of their postings`]),
    ...(unlikeClicks === 0 ? [] : [`order_figures_v1: ${unlikeClicks} rows do not have the facts of their click`]),
  ];
}

/** Compares the table of customers, except for those whose orders change meanwhile, and returns its problems. */
async function compareCustomers({ db, clickhouse }: Databases, brandId: string): Promise<string[]> {
  return await inSnapshot(db, async (trx) => {
    const unsent = await findUnsentSeals(trx, brandId);
    const excludedCustomers = [
      ...(await listChangedCustomers(trx, unsent)),
      ...(await listNewerCustomers(clickhouse, brandId, unsent.from - 1)),
    ];
    const figures = await sumCustomerOrders(clickhouse, brandId, excludedCustomers);
    const brokenDays = await countBrokenDays(clickhouse, brandId);
    let [count, fingerprint] = [0, 0n];
    for await (const page of listLinePages(trx, brandId)) {
      const sum = await sumPageLines(trx, brandId, page, excludedCustomers);
      count += sum.count;
      fingerprint += BigInt(sum.fingerprint);
    }
    const isSame = count === figures.count && String(fingerprint) === figures.fingerprint;
    return [
      ...(isSame
        ? []
        : [`customer_orders_v1: PostgreSQL has ${count} orders, ClickHouse ${figures.count}, or other ones`]),
      ...(brokenDays === 0 ? [] : [`customer_days_v1: ${brokenDays} days are not the sum of their orders`]),
    ];
  });
}

async function compareOnce({ db, clickhouse }: Databases, brandId: string): Promise<string[]> {
  const truth = await inSnapshot(db, async (trx) => {
    const position = await findPosition(trx, brandId);
    const skippedRanges = await listUnsentRanges(trx, brandId, 'sentAt');
    return { position, skipped: skippedRanges, sums: await listAccountSums(trx, brandId, position, skippedRanges) };
  });
  const figureSums = await foldedSums(clickhouse, brandId, truth.position, truth.skipped);
  const brokenRollups = await listBrokenRollups(clickhouse, brandId);
  return [
    ...describeDifferences(truth.sums, figureSums),
    ...(await compareOrders({ db, clickhouse }, brandId)),
    ...(await compareCustomers({ db, clickhouse }, brandId)),
    ...brokenRollups.map(({ table, rows }) => `${table}: ${rows} rows are not the sum of their events`),
  ];
}

/** Lists the differences between a brand's figures and those that PostgreSQL's ledger and the clicks give. */
export async function compareFigures(engines: { db: Db; clickhouse: ClickHouse }, brandId: string): Promise<string[]> {
  for (let tries = 1; ; tries += 1) {
    const problems = await compareOnce(engines, brandId);
    if (problems.length === 0 || tries === TRIES) return problems;
    await pause(BETWEEN_TRIES_MS);
  }
}
