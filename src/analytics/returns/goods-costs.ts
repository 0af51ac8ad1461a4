import { DAY_MS } from '../../kit/values/duration.ts';
import { dayIn, daysAfter, timeIn } from '../../kit/values/time-zone.ts';
import type { CostRow } from '../costs/costs.ts';
import { type CostParts, type ItemCosts, type ReturnSums, toItemKey } from '../figures/returns.ts';
import type { Period } from '../periods.ts';
import type { Missing } from './returns.shapes.ts';

const appliesOn = ({ fromDay, toDay }: CostRow, day: string) =>
  (fromDay === null || fromDay <= day) && (toDay === null || day <= toDay);

/** The costs that apply to one part of the orders. */
interface PartCost {
  /** Millionths of revenue; undefined if nobody entered any. */
  ratePpm: number | undefined;
  /** Minor units for each order, by currency. */
  perOrder: ReadonlyMap<string, number>;
}

const sumBy = (rows: readonly CostRow[], of: (row: CostRow) => number | null) =>
  rows.reduce((sum, row) => sum + (of(row) ?? 0), 0);

/** The costs of a campaign, or of the brand where the campaign has none of the kind. */
function partCost(costs: readonly CostRow[], day: string, campaignId: string | null): PartCost {
  const valid = costs.filter((cost) => appliesOn(cost, day));
  const own = valid.filter((cost) => cost.campaignId === campaignId && campaignId !== null);
  const ofBrand = valid.filter(({ scope }) => scope === 'brand');
  const narrowest = (is: (cost: CostRow) => boolean) => (own.some(is) ? own : ofBrand).filter(is);
  const percents = narrowest(({ kind }) => kind === 'cogs_percent');
  const currencies = new Set(valid.flatMap(({ kind, currency }) => (kind === 'per_order' ? (currency ?? []) : [])));
  const perOrder = new Map<string, number>();
  for (const code of currencies) {
    const rows = narrowest(({ kind, currency }) => kind === 'per_order' && currency === code);
    if (rows.length > 0)
      perOrder.set(
        code,
        sumBy(rows, ({ amountMinor }) => amountMinor),
      );
  }
  return { ratePpm: percents.length === 0 ? undefined : sumBy(percents, ({ ratePpm }) => ratePpm), perOrder };
}

/** The days of a period on which other costs begin to apply. */
function listStarts(costs: readonly CostRow[], first: string, last: string): string[] {
  const edges = costs.flatMap(({ fromDay, toDay }) =>
    [fromDay ?? [], toDay === null ? [] : daysAfter(toDay, 1)].flat(),
  );
  return [...new Set(edges)].filter((day) => day > first && day <= last).sort();
}

function toItemCosts(all: readonly CostRow[], first: string, last: string): ItemCosts {
  const costs = all.filter(({ kind }) => kind === 'per_item');
  const starts = listStarts(costs, first, last);
  const skus = [...new Set(costs.flatMap(({ sku }) => sku ?? []))];
  const minor = new Map<string, number>();
  for (const [i, day] of [first, ...starts].entries()) {
    for (const sku of skus) {
      for (const [currency, cost] of itemCosts(costs, sku, day)) minor.set(toItemKey(i, currency, sku), cost);
    }
  }
  return { starts, minor };
}

export interface GoodsCosts {
  parts: CostParts;
  /** By the index of a part. */
  costs: readonly PartCost[];
}

/** The costs of goods in the period, by day and campaign. */
export function toGoodsCosts(
  all: readonly CostRow[],
  { from, until, timeZone }: Period,
  campaigns: readonly { key: string; linkIds: readonly string[] }[],
): GoodsCosts {
  const costs = all.filter(({ kind }) => kind === 'cogs_percent' || kind === 'per_order');
  const [first, last] = [dayIn(timeZone, from), dayIn(timeZone, new Date(until.getTime() - 1))];
  const starts = listStarts(costs, first, last);
  const groups = campaigns.filter(({ key }) => costs.some(({ campaignId }) => campaignId === key));
  const its = [first, ...starts].flatMap((day) =>
    [null, ...groups].map((group) => partCost(costs, day, group?.key ?? null)),
  );
  const items = toItemCosts(all, first, last);
  return { parts: { starts, groups, ratesPpm: its.map(({ ratePpm }) => ratePpm ?? 0), items }, costs: its };
}

/** Sums the cost of a row's goods; undefined if nobody entered one. */
export function sumGoods(
  { costs }: GoodsCosts,
  { part, currency, orders, goods, uncovered }: ReturnSums,
): number | undefined {
  const cost = costs[part];
  const perOrder = cost?.perOrder.get(currency);
  if (cost?.ratePpm === undefined && perOrder === undefined && uncovered > 0) return undefined;
  return goods + orders * (perOrder ?? 0);
}

type FixedCost = Pick<CostRow, 'amountMinor' | 'fromDay' | 'toDay'>;

/** The part of a fixed cost before a time: it is spread evenly over its days, or falls on its first. */
function fixedBefore({ amountMinor, fromDay, toDay }: FixedCost, time: number, timeZone: string): number {
  const start = timeIn(timeZone, fromDay ?? '').getTime();
  if (toDay === null) return time > start ? (amountMinor ?? 0) : 0;
  if (time <= start) return 0;
  if (time >= timeIn(timeZone, daysAfter(toDay, 1)).getTime()) return amountMinor ?? 0;
  // Each day has the same part, also those on which clocks are set.
  const countDays = (until: string) => Math.round((Date.parse(until) - Date.parse(fromDay ?? '')) / DAY_MS);
  const day = dayIn(timeZone, new Date(time));
  const dayStart = timeIn(timeZone, day).getTime();
  const dayMs = timeIn(timeZone, daysAfter(day, 1)).getTime() - dayStart;
  const passedMs = countDays(day) * dayMs + time - dayStart;
  return Number((BigInt(amountMinor ?? 0) * BigInt(passedMs)) / BigInt(countDays(daysAfter(toDay, 1)) * dayMs));
}

/** The part of a fixed cost in a period. The parts of neighbouring periods add up. */
export const fixedWithin = (cost: FixedCost, { from, until, timeZone }: Omit<Period, 'shown'>): number =>
  fixedBefore(cost, until.getTime(), timeZone) - fixedBefore(cost, from.getTime(), timeZone);

/** The months of a period, clipped to it. */
export function listMonths({ from, until, timeZone }: Period): { month: string; from: Date; until: Date }[] {
  const months: { month: string; from: Date; until: Date }[] = [];
  for (let start = from; start < until; ) {
    const month = dayIn(timeZone, start).slice(0, 7);
    const next = timeIn(timeZone, `${daysAfter(`${month}-01`, 31).slice(0, 7)}-01`);
    const end = next < until ? next : until;
    months.push({ month, from: start, until: end });
    start = end;
  }
  return months;
}

/** The cost of an item of the product on a day, by currency. */
export function itemCosts(costs: readonly CostRow[], sku: string | null, day: string): Map<string, number> {
  const its = costs.filter((cost) => cost.kind === 'per_item' && cost.sku === sku && appliesOn(cost, day));
  const byCurrency = Map.groupBy(its, ({ currency }) => currency ?? '');
  return new Map([...byCurrency].map(([currency, rows]) => [currency, sumBy(rows, ({ amountMinor }) => amountMinor)]));
}

/** The sums of a row. */
export interface GoodsSums {
  orders: number;
  revenue: number;
  refunds: number;
  goods: number;
  commission: number;
  contractFees: number;
  feePayouts: number;
  /** The cost of contract fees and payouts of fees together; a fee that was agreed and paid counts once. */
  fees: number;
  gifts: number;
  fixed: number;
}

/** The number of such orders that pays for the costs that do not depend on it; null if none does. */
function computeBreakEven(spentMinor: number, earned: number, orders: number): number | null {
  if (spentMinor <= 0) return 0;
  if (orders <= 0 || earned <= 0) return null;
  const [neededMinor, each] = [BigInt(spentMinor) * BigInt(orders), BigInt(earned)];
  return Number((neededMinor + each - 1n) / each);
}

/** Computes the figures of a row. A figure that depends on a missing cost is null. */
export function toReturns(sums: GoodsSums, missing: ReadonlySet<Missing>) {
  const unlessMissing = (figure: number, ...needs: readonly Missing[]) =>
    needs.some((need) => missing.has(need)) ? null : figure;
  const spentMinor = sums.fees + sums.gifts + sums.fixed;
  const earnedMinor = sums.revenue - sums.goods - sums.commission;
  const spend = sums.commission + spentMinor;
  return {
    orders: sums.orders,
    revenue_minor: sums.revenue,
    refunds_minor: sums.refunds,
    goods_minor: unlessMissing(sums.goods, 'goods'),
    commission_minor: sums.commission,
    contract_fees_minor: unlessMissing(sums.contractFees, 'contract_fees'),
    fee_payouts_minor: sums.feePayouts,
    fees_minor: unlessMissing(sums.fees, 'contract_fees'),
    gifts_minor: unlessMissing(sums.gifts, 'gifts'),
    fixed_minor: sums.fixed,
    profit_minor: unlessMissing(earnedMinor - spentMinor, 'goods', 'contract_fees', 'gifts'),
    return_on_spend:
      spend <= 0 ? null : unlessMissing(Math.round((sums.revenue / spend) * 100) / 100, 'contract_fees', 'gifts'),
    orders_to_break_even: missing.size > 0 ? null : computeBreakEven(spentMinor, earnedMinor, sums.orders),
    missing: [...missing].sort(),
  };
}
