import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { pageThrough } from '../../kit/values/page.ts';
import { type CustomerSums, listCustomerSums, listShareSums, type ShareSums } from '../figures/customers.ts';
import { labelInChunks, listCreatorNames, listNames } from '../labels.ts';
import { findPeriod, type Period } from '../periods.ts';
import { listSpend } from '../returns/returns.ts';
import type { CustomersQuery, CustomersRow, ShareQuery } from './customers.shapes.ts';

/** The time of the oldest known order; null without any. */
export async function findHistorySince(db: Db, brandId: string): Promise<string | null> {
  const { since } = await db
    .selectFrom('orders')
    .select(({ fn }) => fn.min('occurredAt').$castTo<Date | null>().as('since'))
    .where('brandId', '=', brandId)
    .executeTakeFirstOrThrow();
  return since?.toISOString() ?? null;
}

/** A percentage to two decimals; null if the whole is zero. */
const toPercent = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((part / whole) * 10_000) / 100;

const toMean = (sum: number, of: number): number | null => (of === 0 ? null : Math.round(sum / of));

/** The cost of a row; null if a fee is not known. */
export type Cost = number | null;

function toCustomerFigures(sums: Omit<CustomerSums, 'key' | 'currency'>, cost: Cost) {
  const { orders, customers, newCustomers } = sums;
  return {
    orders,
    new_customers: newCustomers,
    returning_customers: customers - newCustomers,
    new_share: toPercent(newCustomers, customers),
    first_order_minor: toMean(sums.firstMinor, newCustomers),
    repeat_rate_30: toPercent(sums.againOne, sums.oldOne),
    repeat_rate_60: toPercent(sums.againTwo, sums.oldTwo),
    repeat_rate_90: toPercent(sums.againThree, sums.oldThree),
    value_90_minor: toMean(sums.worthMinor, sums.oldThree),
    cost_minor: cost,
    cost_per_new_customer_minor: cost === null ? null : toMean(cost, newCustomers),
  };
}

/** The two-sided quantile of the normal distribution for 95%. */
const Z = 1.959964;

/** Wilson's interval of a proportion. */
function wilsonInterval(hits: number, of: number): [low: number, high: number] {
  const share = hits / of;
  const scale = 1 + Z ** 2 / of;
  const middle = (share + Z ** 2 / (2 * of)) / scale;
  const half = (Z * Math.sqrt((share * (1 - share)) / of + Z ** 2 / (4 * of ** 2))) / scale;
  return [middle - half, middle + half];
}

interface Proportion {
  first_orders: number;
  orders: number;
}

const toPoints = (share: number) => Math.round(share * 10_000) / 100;

/** The difference of two proportions with its 95% interval after Newcombe (1998, method 10). */
export function compareProportions(a: Proportion, b: Proportion) {
  if (a.orders === 0 || b.orders === 0) return { difference: null, interval: null };
  const [p, q] = [a.first_orders / a.orders, b.first_orders / b.orders];
  const [[lowA, highA], [lowB, highB]] = [
    wilsonInterval(a.first_orders, a.orders),
    wilsonInterval(b.first_orders, b.orders),
  ];
  const from = p - q - Math.hypot(p - lowA, highB - q);
  const to = p - q + Math.hypot(highA - p, q - lowB);
  return { difference: toPoints(p - q), interval: { from: toPoints(from), to: toPoints(to) } };
}

const total = (rows: readonly ShareSums[], of: (row: ShareSums) => number) =>
  rows.reduce((sum, row) => sum + of(row), 0);

/** Creators' share of all sales. */
function shareOfSales(rows: readonly ShareSums[]) {
  const won = rows.filter(({ isAttributed }) => isAttributed);
  const others = rows.filter(({ isAttributed }) => !isAttributed);
  const toSide = (some: readonly ShareSums[]) => {
    const [orders, first_orders] = [total(some, ({ known }) => known), total(some, ({ firsts }) => firsts)];
    return { orders, first_orders, share: toPercent(first_orders, orders) };
  };
  const worth = (some: readonly ShareSums[], code: string) =>
    total(some, ({ currency, worthMinor }) => (currency === code ? worthMinor : 0));
  const [orders, attributedOrders] = [total(rows, (row) => row.orders), total(won, (row) => row.orders)];
  const sides = { attributed: toSide(won), others: toSide(others) };
  return {
    orders,
    attributed_orders: attributedOrders,
    share: toPercent(attributedOrders, orders),
    by_currency: [...new Set(rows.map(({ currency }) => currency))].map((currency) => {
      const [all, part] = [worth(rows, currency), worth(won, currency)];
      return { currency, sales_minor: all, attributed_sales_minor: part, share: toPercent(part, all) };
    }),
    new_customers: { ...sides, ...compareProportions(sides.attributed, sides.others) },
  };
}

type Engines = Pick<Context, 'postgres' | 'clickhouse' | 'clock'>;
type UnlabelledCustomers = Omit<CustomersRow, 'label'>;

const NO_CUSTOMERS = {
  orders: 0,
  customers: 0,
  newCustomers: 0,
  firstMinor: 0,
  oldOne: 0,
  oldTwo: 0,
  oldThree: 0,
  againOne: 0,
  againTwo: 0,
  againThree: 0,
  worthMinor: 0,
};

/** Lists every row in the list's order. A key with costs has a row even without customers. */
async function listCustomers(
  engines: Engines,
  brandId: string,
  query: CustomersQuery,
  period: Period,
): Promise<UnlabelledCustomers[]> {
  const [sums, spend] = await Promise.all([
    listCustomerSums(engines.clickhouse, brandId, query, period, engines.clock.now()),
    listSpend(engines, brandId, query, period),
  ]);
  const toPlace = ({ key, currency }: { key: string; currency: string }) => `${currency} ${key}`;
  const [sumsByPlace, spendByPlace] = [
    new Map(sums.map((row) => [toPlace(row), row])),
    new Map(spend.map((row) => [toPlace(row), row])),
  ];
  const places = new Map(
    [...sums, ...spend].map(({ key, currency }) => [toPlace({ key, currency }), { key, currency }]),
  );
  const rows = [...places].map(([place, { key, currency }]) => {
    const figures = toCustomerFigures(sumsByPlace.get(place) ?? NO_CUSTOMERS, spendByPlace.get(place)?.minor ?? 0);
    return { key: key || null, currency, ...figures };
  });

  const toRank = (row: UnlabelledCustomers) => row[query.sort] ?? Number.NEGATIVE_INFINITY;
  return rows
    .filter(({ orders, cost_minor: cost }: UnlabelledCustomers) => orders > 0 || cost !== 0)
    .sort(
      (a, b) =>
        // The difference of two that are missing is not a number.
        toRank(b) - toRank(a) ||
        b.new_customers - a.new_customers ||
        b.orders - a.orders ||
        `${a.key ?? ''} ${a.currency}`.localeCompare(`${b.key ?? ''} ${b.currency}`, 'en'),
    );
}

async function withLabels(
  { postgres: { db } }: Engines,
  brandId: string,
  by: CustomersQuery['by'],
  rows: readonly UnlabelledCustomers[],
): Promise<CustomersRow[]> {
  const ids = [...new Set(rows.flatMap(({ key }) => key ?? []))];
  const table = { campaign: 'campaigns', link: 'links', store: 'integrations' } as const;
  const names =
    by === 'creator' ? await listCreatorNames(db, brandId, ids) : await listNames(db, brandId, table[by], ids);
  return rows.map(({ key, ...row }) => ({ key, label: key === null ? null : (names.get(key) ?? null), ...row }));
}

/** One page of a period's customers. */
export async function findCustomers(engines: Engines, brandId: string, query: CustomersQuery) {
  const period = await findPeriod(engines.postgres.db, brandId, query, engines.clock.now());
  const [rows, since, all] = await Promise.all([
    listCustomers(engines, brandId, query, period),
    findHistorySince(engines.postgres.db, brandId),
    listShareSums(engines.clickhouse, brandId, period),
  ]);
  const [orders, withEmail] = [total(all, (row) => row.orders), total(all, (row) => row.known)];
  const { data, pagination } = pageThrough(rows, query);
  return {
    data: await withLabels(engines, brandId, query.by, data),
    pagination,
    meta: {
      period: period.shown,
      time_zone: period.timeZone,
      history_since: since,
      orders,
      without_email: orders - withEmail,
    },
  };
}

/** Every row, as of one moment. */
export async function* eachCustomersRow(
  engines: Engines,
  brandId: string,
  query: CustomersQuery,
): AsyncGenerator<CustomersRow> {
  const period = await findPeriod(engines.postgres.db, brandId, query, engines.clock.now());
  const rows = await listCustomers(engines, brandId, query, period);
  yield* labelInChunks(rows, (some) => withLabels(engines, brandId, query.by, some));
}

export async function findShare({ postgres, clickhouse, clock }: Engines, brandId: string, query: ShareQuery) {
  const period = await findPeriod(postgres.db, brandId, query, clock.now());
  const [rows, since] = await Promise.all([
    listShareSums(clickhouse, brandId, period),
    findHistorySince(postgres.db, brandId),
  ]);
  return { period: period.shown, time_zone: period.timeZone, history_since: since, ...shareOfSales(rows) };
}
