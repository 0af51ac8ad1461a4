import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { pageThrough } from '../../kit/values/page.ts';
import { getBrandCurrency } from '../../platform/brands/brands.ts';
import { listMerged } from '../../workflow/creators/creators.ts';
import { type CostRow, listCosts } from '../costs/costs.ts';
import type { Group, Grouping } from '../figures/breakdown.ts';
import { toLocalTimestamp } from '../figures/local-time.ts';
import { listReturnSums, type ReturnSums } from '../figures/returns.ts';
import type { MergedCreators } from '../figures/totals.ts';
import { labelInChunks, listCreatorNames, listLinkGroups, listNames } from '../labels.ts';
import { findPeriod, type Period } from '../periods.ts';
import {
  fixedWithin,
  type GoodsCosts,
  type GoodsSums,
  itemCosts,
  listMonths,
  sumGoods,
  toGoodsCosts,
  toReturns,
} from './goods-costs.ts';
import type { Missing, ReturnsQuery, ReturnsRow } from './returns.shapes.ts';

/** Fees that were agreed with a creator or paid to them in a month; `before` means earlier than the period. */
export interface FeeSum {
  creatorId: string;
  campaignId: string | null;
  currency: string;
  /** `YYYY-MM`, or `before`. */
  month: string;
  agreedMinor: number;
  paidMinor: number;
}

const localTime = (column: 'signed_at' | 'paid_at' | 'shipped_at', period: Period) =>
  sql.raw(toLocalTimestamp(period, column));

const toMonth = (column: 'signed_at' | 'paid_at', period: Period) => sql`case when ${sql.ref(column)} < ${period.from}
  then 'before' else to_char(${localTime(column, period)}, 'YYYY-MM') end`;

/** Fees of signed contracts and payouts of fees, from the first on. */
async function listFees(db: Db, brandId: string, period: Period): Promise<FeeSum[]> {
  const { until } = period;
  const { rows } = await sql<FeeSum>`
    select creator_id, campaign_id, currency, month, sum(agreed)::bigint as agreed_minor, sum(paid)::bigint as paid_minor
    from (
      select creator_id, campaign_id, compensation_currency as currency, ${toMonth('signed_at', period)} as month,
        compensation_amount_minor as agreed, 0 as paid
      from contracts
      where brand_id = ${brandId} and status = 'signed' and signed_at < ${until} and compensation_type = 'fixed'
        and compensation_amount_minor is not null
      union all
      select creator_id, null, currency, ${toMonth('paid_at', period)}, 0, amount_minor
      from payouts where brand_id = ${brandId} and is_fee and paid_at < ${until}
    ) as fee
    group by creator_id, campaign_id, currency, month order by month, creator_id, campaign_id, currency`.execute(db);
  return rows;
}

/** The place of a missing figure. */
export interface MissingFee {
  creatorId: string;
  campaignId: string | null;
  /** `YYYY-MM`. */
  month: string;
}

/** Contracts with a fixed fee that was not entered, signed in the period. */
async function listContractsWithoutFee(db: Db, brandId: string, period: Period): Promise<MissingFee[]> {
  const { from, until } = period;
  const { rows } = await sql<MissingFee>`
    select distinct creator_id, campaign_id, ${toMonth('signed_at', period)} as month
    from contracts
    where brand_id = ${brandId} and status = 'signed' and signed_at >= ${from} and signed_at < ${until}
      and compensation_type = 'fixed' and compensation_amount_minor is null`.execute(db);
  return rows;
}

/** Items of a product sent to a creator on a day. */
export interface Gift extends MissingFee {
  /** `YYYY-MM-DD`. */
  day: string;
  /** Null if the shipment does not say what it contains. */
  sku: string | null;
  items: number;
}

/** Products shipped in the period; those of returned shipments came back. */
async function listGifts(db: Db, brandId: string, period: Period): Promise<Gift[]> {
  const { from, until } = period;
  const shippedAt = localTime('shipped_at', period);
  const { rows } = await sql<Gift>`
    select creator_id, campaign_id, to_char(${shippedAt}, 'YYYY-MM') as month,
      to_char(${shippedAt}, 'YYYY-MM-DD') as day, product.value ->> 'sku' as sku,
      sum(coalesce((product.value ->> 'quantity')::bigint, 1))::bigint as items
    from shipments
    left join lateral json_array_elements(case json_typeof(products) when 'array' then products else '[]'::json end)
      as product on true
    where brand_id = ${brandId} and shipped_at >= ${from} and shipped_at < ${until} and status <> 'returned'
    group by 1, 2, 3, 4, 5 order by 4, 1, 2, 5`.execute(db);
  return rows;
}

type Engines = Pick<Context, 'postgres' | 'clickhouse' | 'clock'>;
/** Costs of a creator or campaign have no key when rows are grouped by store. */
type ReturnsBy = ReturnsQuery['by'] | 'store';

const ZERO_SUMS: GoodsSums = {
  orders: 0,
  revenue: 0,
  refunds: 0,
  goods: 0,
  commission: 0,
  contractFees: 0,
  feePayouts: 0,
  fees: 0,
  gifts: 0,
  fixed: 0,
};

/** Rows as they are summed, by key and currency. */
class ReturnsTable {
  readonly #rows = new Map<string, { key: string; currency: string; sums: GoodsSums }>();
  readonly #missing = new Map<string, Set<Missing>>();
  readonly #currency: string | undefined;

  constructor(currency: string | undefined) {
    this.#currency = currency;
  }

  add(key: string, currency: string, more: Partial<GoodsSums>): void {
    if (this.#currency !== undefined && currency !== this.#currency) return;
    const place = `${currency} ${key}`;
    const { sums } = this.#rows.get(place) ?? { sums: ZERO_SUMS };
    const names = ['orders', 'revenue', 'refunds', 'goods', 'commission'] as const;
    const others = ['contractFees', 'feePayouts', 'fees', 'gifts', 'fixed'] as const;
    const total = { ...sums };
    for (const name of [...names, ...others]) total[name] += more[name] ?? 0;
    this.#rows.set(place, { key, currency, sums: total });
  }

  /** Marks one row, or all rows of the key if no currency is given. */
  miss(what: Missing, key: string, currency = ''): void {
    const place = `${currency} ${key}`;
    this.#missing.set(place, (this.#missing.get(place) ?? new Set<Missing>()).add(what));
  }

  /** A key about which something is missing has a row, in the brand's currency if in no other. */
  rows(brandCurrency: string) {
    const keys = new Set([...this.#rows.values()].map(({ key }) => key));
    for (const place of this.#missing.keys()) {
      const [currency = '', ...rest] = place.split(' ');
      const key = rest.join(' ');
      if (!keys.has(key)) this.add(key, currency || (this.#currency ?? brandCurrency), {});
    }
    return [...this.#rows.values()]
      .map(({ key, currency, sums }) => {
        const missing = [...(this.#missing.get(` ${key}`) ?? []), ...(this.#missing.get(`${currency} ${key}`) ?? [])];
        return { key, currency, sums, missing: new Set(missing) };
      })
      .filter(({ sums, missing }) => missing.size > 0 || Object.values(sums).some((sum) => sum !== 0));
  }
}

/** The key of a cost that belongs to a creator and a month, perhaps to a campaign. */
function toKey(by: ReturnsBy, { creatorId, campaignId, month }: MissingFee): string {
  if (by === 'creator') return creatorId;
  if (by === 'month') return month;
  return by === 'campaign' ? (campaignId ?? '') : '';
}

function addOrders(table: ReturnsTable, costs: GoodsCosts, sums: readonly ReturnSums[]): void {
  for (const row of sums) {
    const { group_key: key, currency, orders, sales, refunds, commission } = row;
    const goods = sumGoods(costs, row);
    table.add(key, currency, { orders, refunds, commission, revenue: sales - refunds, goods: goods ?? 0 });
    if (goods === undefined && (orders !== 0 || sales !== 0 || refunds !== 0)) table.miss('goods', key, currency);
  }
}

/** Adds fees. A fee that was agreed and paid counts once, in the month of whichever came first. */
function addFees(table: ReturnsTable, by: ReturnsBy, fees: readonly FeeSum[]): void {
  for (const its of Map.groupBy(fees, ({ creatorId, currency }) => `${currency} ${creatorId}`).values()) {
    const [before, within] = [
      its.filter(({ month }) => month === 'before'),
      its.filter(({ month }) => month !== 'before'),
    ];
    let agreedSum = before.reduce((sum, { agreedMinor }) => sum + agreedMinor, 0);
    let paidSum = before.reduce((sum, { paidMinor }) => sum + paidMinor, 0);
    for (const [, some] of [...Map.groupBy(within, ({ month }) => month)].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const cost = Math.max(agreedSum, paidSum);
      for (const fee of some) {
        const { currency, agreedMinor, paidMinor } = fee;
        table.add(toKey(by, fee), currency, { contractFees: agreedMinor, feePayouts: paidMinor, fees: agreedMinor });
        agreedSum += agreedMinor;
        paidSum += paidMinor;
      }
      const [first] = some;
      if (!first) continue;
      const newlyAgreed = some.reduce((sum, { agreedMinor }) => sum + agreedMinor, 0);
      const beyond = Math.max(agreedSum, paidSum) - cost - newlyAgreed;
      table.add(toKey(by, { ...first, campaignId: null }), first.currency, { fees: beyond });
    }
  }
}

function addGifts(table: ReturnsTable, by: ReturnsBy, costs: readonly CostRow[], gifts: readonly Gift[]): void {
  for (const gift of gifts) {
    const key = toKey(by, gift);
    const each = itemCosts(costs, gift.sku, gift.day);
    if (gift.sku === null || each.size === 0) table.miss('gifts', key);
    for (const [currency, minor] of each) table.add(key, currency, { gifts: minor * gift.items });
  }
}

function addFixed(table: ReturnsTable, by: ReturnsBy, costs: readonly CostRow[], period: Period): void {
  const parts = by === 'month' ? listMonths(period) : [{ ...period, month: '' }];
  for (const cost of costs) {
    if (cost.kind !== 'fixed') continue;
    for (const { month, ...part } of parts) {
      const key = by === 'campaign' ? (cost.campaignId ?? '') : month;
      table.add(key, cost.currency ?? '', { fixed: fixedWithin(cost, { ...part, timeZone: period.timeZone }) });
    }
  }
}

function toReturnsGrouping(by: ReturnsBy, merged: MergedCreators, campaigns: readonly Group[]): Grouping {
  if (by === 'creator') return { of: 'creator', merged };
  return by === 'campaign' ? { of: 'groups', groups: campaigns } : { of: by };
}

type UnlabelledReturns = Omit<ReturnsRow, 'label'>;

/** Every row, in the list's order. */
async function listReturns(
  { postgres: { db }, clickhouse }: Engines,
  brandId: string,
  { by, currency }: ReturnsQuery,
  period: Period,
): Promise<UnlabelledReturns[]> {
  const [mergedCreators, campaigns, costs, own] = await Promise.all([
    listMerged(db, brandId),
    listLinkGroups(db, brandId, 'links.campaignId'),
    listCosts(db, brandId),
    getBrandCurrency(db, brandId),
  ]);
  const goods = toGoodsCosts(costs, period, campaigns);
  const { from, until, timeZone } = period;
  const where = { from, until, timeZone, currency };
  const [sums, fees, gifts, withoutFee] = await Promise.all([
    listReturnSums(clickhouse, brandId, toReturnsGrouping(by, mergedCreators, campaigns), where, goods.parts),
    listFees(db, brandId, period),
    listGifts(db, brandId, period),
    listContractsWithoutFee(db, brandId, period),
  ]);
  const table = new ReturnsTable(currency);
  addOrders(table, goods, sums);
  addFees(table, by, fees);
  addGifts(table, by, costs, gifts);
  addFixed(table, by, costs, period);
  for (const contract of withoutFee) table.miss('contract_fees', toKey(by, contract));
  const rows = table
    .rows(own)
    .map((row) => ({ key: row.key || null, currency: row.currency, ...toReturns(row.sums, row.missing) }));

  return rows.sort(
    (a: UnlabelledReturns, b: UnlabelledReturns) =>
      (by === 'month' ? 0 : b.revenue_minor - a.revenue_minor) ||
      `${a.key ?? ''} ${a.currency}`.localeCompare(`${b.key ?? ''} ${b.currency}`, 'en'),
  );
}

async function withLabels(
  { postgres: { db } }: Engines,
  brandId: string,
  by: ReturnsBy,
  rows: readonly UnlabelledReturns[],
): Promise<ReturnsRow[]> {
  const ids = [...new Set(rows.flatMap(({ key }) => key ?? []))];
  const names =
    by === 'creator'
      ? await listCreatorNames(db, brandId, ids)
      : by === 'month'
        ? new Map(ids.map((id) => [id, id]))
        : await listNames(db, brandId, by === 'link' ? 'links' : 'campaigns', ids);
  return rows.map(({ key, ...row }) => ({ key, label: key === null ? null : (names.get(key) ?? null), ...row }));
}

/** Treats goods as free. */
const NO_GOODS = { starts: [], groups: [], ratesPpm: [0] } as const;

/** The commission and fees of a key; null if a fee is not known. */
export interface Spend {
  key: string;
  currency: string;
  minor: number | null;
}

/** Commission and fees of the period. */
export async function listSpend(
  { postgres: { db }, clickhouse }: Engines,
  brandId: string,
  { by, currency }: { by: Exclude<ReturnsBy, 'month'>; currency?: string | undefined },
  period: Period,
): Promise<Spend[]> {
  const [mergedCreators, campaigns, own] = await Promise.all([
    listMerged(db, brandId),
    by === 'campaign' ? listLinkGroups(db, brandId, 'links.campaignId') : [],
    getBrandCurrency(db, brandId),
  ]);
  const { from, until, timeZone } = period;
  const where = { from, until, timeZone, currency };
  const [sums, fees, withoutFee] = await Promise.all([
    listReturnSums(clickhouse, brandId, toReturnsGrouping(by, mergedCreators, campaigns), where, NO_GOODS),
    listFees(db, brandId, period),
    listContractsWithoutFee(db, brandId, period),
  ]);
  const table = new ReturnsTable(currency);
  for (const { group_key, currency: code, commission } of sums) table.add(group_key, code, { commission });
  addFees(table, by, fees);
  for (const contract of withoutFee) table.miss('contract_fees', toKey(by, contract));
  return table.rows(own).map(({ key, currency: code, sums: { commission, fees: paid }, missing }) => ({
    key,
    currency: code,
    minor: missing.size > 0 ? null : commission + paid,
  }));
}

/** Finds one page of the period's returns. */
export async function findReturns(context: Engines, brandId: string, query: ReturnsQuery) {
  const period = await findPeriod(context.postgres.db, brandId, query, context.clock.now());
  const rows = await listReturns(context, brandId, query, period);
  const { data, pagination } = pageThrough(rows, query);
  const missing = [...new Set(rows.flatMap((row) => row.missing))].sort();
  return {
    data: await withLabels(context, brandId, query.by, data),
    pagination,
    meta: { period: period.shown, time_zone: period.timeZone, missing },
  };
}

/** Every row, as of one moment. */
export async function* eachReturn(context: Engines, brandId: string, query: ReturnsQuery): AsyncGenerator<ReturnsRow> {
  const period = await findPeriod(context.postgres.db, brandId, query, context.clock.now());
  const rows = await listReturns(context, brandId, query, period);
  yield* labelInChunks(rows, (some) => withLabels(context, brandId, query.by, some));
}
