import type { Context } from '../../../kit/operation/context.ts';
import { chunksOf } from '../../../kit/values/chunks.ts';
import { pageThrough } from '../../../kit/values/page.ts';
import { listCustomerSums, listShareSums } from '../../figures/customers/queries.ts';
import { listNamesOf } from '../breakdown/queries.ts';
import { type Period, periodOf } from '../policy.ts';
import { listNames } from '../queries.ts';
import { listSpend } from '../returns/actions.ts';
import { figuresOf, shareOfSales, total } from './policy.ts';
import { findHistorySince } from './queries.ts';
import type { CustomersQuery, CustomersRow, ShareQuery } from './schema.ts';

type Engines = Pick<Context, 'postgres' | 'clickhouse' | 'clock'>;
type Unlabelled = Omit<CustomersRow, 'label'>;

const NOBODY = {
  ...{ orders: 0, customers: 0, newCustomers: 0, firstMinor: 0, oldOne: 0, oldTwo: 0, oldThree: 0 },
  ...{ againOne: 0, againTwo: 0, againThree: 0, worthMinor: 0 },
};

/** Every row, in the list's order. What cost something has a row, also without customers. */
async function listCustomers(
  engines: Engines,
  brandId: string,
  query: CustomersQuery,
  period: Period,
): Promise<Unlabelled[]> {
  const [sums, spend] = await Promise.all([
    listCustomerSums(engines.clickhouse, brandId, query, period, engines.clock.now()),
    listSpend(engines, brandId, query, period),
  ]);
  const placeOf = ({ key, currency }: { key: string; currency: string }) => `${currency} ${key}`;
  const [bought, spent] = [
    new Map(sums.map((row) => [placeOf(row), row])),
    new Map(spend.map((row) => [placeOf(row), row])),
  ];
  const places = new Map(
    [...sums, ...spend].map(({ key, currency }) => [placeOf({ key, currency }), { key, currency }]),
  );
  const rows = [...places].map(([place, { key, currency }]) => {
    const figures = figuresOf(bought.get(place) ?? NOBODY, spent.get(place)?.minor ?? 0);
    return { key: key || null, currency, ...figures };
  });
  const isAnything = ({ orders, cost_minor: cost }: Unlabelled) => orders > 0 || cost !== 0;
  return rows
    .filter(isAnything)
    .sort(
      (a, b) =>
        b.new_customers - a.new_customers ||
        b.orders - a.orders ||
        `${a.key ?? ''} ${a.currency}`.localeCompare(`${b.key ?? ''} ${b.currency}`, 'en'),
    );
}

async function withLabels(
  { postgres: { db } }: Engines,
  brandId: string,
  by: CustomersQuery['by'],
  rows: readonly Unlabelled[],
): Promise<CustomersRow[]> {
  const ids = [...new Set(rows.flatMap(({ key }) => key ?? []))];
  const table = { campaign: 'campaigns', link: 'links', store: 'integrations' } as const;
  const names = by === 'creator' ? await listNames(db, brandId, ids) : await listNamesOf(db, brandId, table[by], ids);
  return rows.map(({ key, ...row }) => ({ key, label: key === null ? null : (names.get(key) ?? null), ...row }));
}

/** One page of a period's customers. */
export async function findCustomers(engines: Engines, brandId: string, query: CustomersQuery) {
  const period = periodOf(query, engines.clock.now());
  const [rows, since, all] = await Promise.all([
    listCustomers(engines, brandId, query, period),
    findHistorySince(engines.postgres.db, brandId),
    listShareSums(engines.clickhouse, brandId, period),
  ]);
  const [orders, known] = [total(all, (row) => row.orders), total(all, (row) => row.known)];
  const { data, pagination } = pageThrough(rows, query);
  return {
    data: await withLabels(engines, brandId, query.by, data),
    pagination,
    meta: { period: period.shown, history_since: since, orders, without_email: orders - known },
  };
}

const LABELLED_TOGETHER = 5_000;

/** Every row, as of one moment. */
export async function* eachCustomersRow(
  engines: Engines,
  brandId: string,
  query: CustomersQuery,
): AsyncGenerator<CustomersRow> {
  const rows = await listCustomers(engines, brandId, query, periodOf(query, engines.clock.now()));
  for (const some of chunksOf(rows, LABELLED_TOGETHER)) yield* await withLabels(engines, brandId, query.by, some);
}

export async function findShare({ postgres, clickhouse, clock }: Engines, brandId: string, query: ShareQuery) {
  const period = periodOf(query, clock.now());
  const [rows, since] = await Promise.all([
    listShareSums(clickhouse, brandId, period),
    findHistorySince(postgres.db, brandId),
  ]);
  return { period: period.shown, history_since: since, ...shareOfSales(rows) };
}
