import type { CustomerSums, ShareSums } from '../../figures/customers/queries.ts';

/** To two decimals; null of nothing. */
const percentOf = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((part / whole) * 10_000) / 100;

const meanOf = (sum: number, of: number): number | null => (of === 0 ? null : Math.round(sum / of));

/** What a row cost; null if a fee is not known. */
export type Cost = number | null;

export function figuresOf(sums: Omit<CustomerSums, 'key' | 'currency'>, cost: Cost) {
  const { orders, customers, newCustomers } = sums;
  return {
    ...{ orders, new_customers: newCustomers, returning_customers: customers - newCustomers },
    new_share: percentOf(newCustomers, customers),
    first_order_minor: meanOf(sums.firstMinor, newCustomers),
    repeat_rate_30: percentOf(sums.againOne, sums.oldOne),
    repeat_rate_60: percentOf(sums.againTwo, sums.oldTwo),
    repeat_rate_90: percentOf(sums.againThree, sums.oldThree),
    value_90_minor: meanOf(sums.worthMinor, sums.oldThree),
    cost_minor: cost,
    cost_per_new_customer_minor: cost === null ? null : meanOf(cost, newCustomers),
  };
}

/** The two-sided quantile of the normal distribution for 95%. */
const Z = 1.959964;

/** Wilson's interval of a proportion. */
function wilsonOf(hits: number, of: number): [low: number, high: number] {
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

const inPoints = (share: number) => Math.round(share * 10_000) / 100;

/** The difference of two proportions with its 95% interval after Newcombe (1998, method 10). */
export function differenceOf(a: Proportion, b: Proportion) {
  if (a.orders === 0 || b.orders === 0) return { difference: null, interval: null };
  const [p, q] = [a.first_orders / a.orders, b.first_orders / b.orders];
  const [[lowA, highA], [lowB, highB]] = [wilsonOf(a.first_orders, a.orders), wilsonOf(b.first_orders, b.orders)];
  const from = p - q - Math.hypot(p - lowA, highB - q);
  const to = p - q + Math.hypot(highA - p, q - lowB);
  return { difference: inPoints(p - q), interval: { from: inPoints(from), to: inPoints(to) } };
}

export const total = (rows: readonly ShareSums[], of: (row: ShareSums) => number) =>
  rows.reduce((sum, row) => sum + of(row), 0);

/** Creators' share of all sales. */
export function shareOfSales(rows: readonly ShareSums[]) {
  const won = rows.filter(({ isAttributed }) => isAttributed);
  const others = rows.filter(({ isAttributed }) => !isAttributed);
  const sideOf = (some: readonly ShareSums[]) => {
    const [orders, first_orders] = [total(some, ({ known }) => known), total(some, ({ firsts }) => firsts)];
    return { orders, first_orders, share: percentOf(first_orders, orders) };
  };
  const worth = (some: readonly ShareSums[], code: string) =>
    total(some, ({ currency, worthMinor }) => (currency === code ? worthMinor : 0));
  const [orders, attributed] = [total(rows, (row) => row.orders), total(won, (row) => row.orders)];
  const sides = { attributed: sideOf(won), others: sideOf(others) };
  return {
    ...{ orders, attributed_orders: attributed, share: percentOf(attributed, orders) },
    by_currency: [...new Set(rows.map(({ currency }) => currency))].map((currency) => {
      const [all, part] = [worth(rows, currency), worth(won, currency)];
      return { currency, sales_minor: all, attributed_sales_minor: part, share: percentOf(part, all) };
    }),
    new_customers: { ...sides, ...differenceOf(sides.attributed, sides.others) },
  };
}
