import { findNamedLines } from '../../kit/values/named-lines.ts';

/** A line of goods, after discounts, without tax and before any refund. */
interface SoldItem {
  lineId: string;
  sku: string | null;
  title: string | null;
  quantity: number;
  amountMinor: number;
}

/** The part of a line that a refund gives back. */
interface RefundedItem {
  lineId: string;
  amountMinor: number;
}

/** The lines of an order, and those of its refunds by the time of each. */
export interface OrderLines {
  baseMinor: number;
  items: readonly SoldItem[];
  refunds: readonly { at: number; items: readonly RefundedItem[] }[];
}

/** The amounts that an entry adds to figures at one time. */
export interface EntryAmounts {
  at: number;
  /** True for the sale itself. */
  isSale: boolean;
  sales: number;
  refunds: number;
  commission: number;
}

/** The part of one product. */
export interface ProductPart {
  product: string;
  title: string;
  sales: number;
  refunds: number;
  commission: number;
  /** Thousandths of items; refunds take them back. */
  milliItems: number;
}

/** Amounts by product. */
type Amounts = ReadonlyMap<string, number>;

const sumAmounts = (amounts: Amounts) => [...amounts.values()].reduce((sum, one) => sum + one, 0);

function sumByProduct(pairs: readonly (readonly [product: string, amount: number])[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [product, amount] of pairs) if (product !== '') sums.set(product, (sums.get(product) ?? 0) + amount);
  return sums;
}

/** A part of a whole, rounded down. */
const takePart = (total: number, part: number, whole: number) => Number((BigInt(total) * BigInt(part)) / BigInt(whole));

/** Divides a total by weights and a rest without weight; with the rest's share the parts add up to the total. */
function splitByWeight(total: number, weights: Amounts, rest: number): Map<string, number> {
  const whole = sumAmounts(weights) + rest;
  const size = Math.abs(total);
  let before = 0;
  const parts = new Map<string, number>();
  for (const [product, weight] of whole > 0 ? weights : []) {
    const part = takePart(size, before + weight, whole) - takePart(size, before, whole);
    parts.set(product, total < 0 ? -part : part);
    before += weight;
  }
  return parts;
}

/** Splits the part of a total that the amounts claim, at most all of it. */
function splitClaim(total: number, amounts: Amounts): Map<string, number> {
  const claim = Math.min(Math.abs(total), sumAmounts(amounts));
  return splitByWeight(total < 0 ? -claim : claim, amounts, 0);
}

const sizes = (amounts: Amounts) => new Map([...amounts].map(([product, amount]) => [product, Math.abs(amount)]));

/** A product is known by its SKU, or by its title where it has none. */
const getProduct = ({ sku, title }: SoldItem): string => sku ?? title ?? '';

/**
 * Divides the figures of an entry among the products of its order, row by row. Amounts that no line claims stay without
 * a product: amounts beyond the lines, refunds that name none, and changes of the order after its sale.
 */
export function productParts(
  { baseMinor, items, refunds }: OrderLines,
  rows: readonly EntryAmounts[],
): ProductPart[][] {
  const titles = new Map(items.map((item) => [getProduct(item), item.title ?? '']));
  const toAmounts = (some: readonly RefundedItem[]) =>
    sumByProduct(
      some.map(({ lineId, amountMinor }) => {
        const [item] = findNamedLines(items, lineId);
        return [item ? getProduct(item) : '', amountMinor];
      }),
    );
  const bought = sumByProduct(items.map((item) => [getProduct(item), item.amountMinor]));
  // The product of the largest line comes first.
  const sold = new Map([...bought].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)));
  const milli = sumByProduct(items.map((item) => [getProduct(item), item.quantity * 1_000]));
  const returnedAmounts = toAmounts(refunds.flatMap((refund) => refund.items));
  const remaining = new Map(
    [...sold].map(([product, amount]) => [product, Math.max(0, amount - (returnedAmounts.get(product) ?? 0))]),
  );

  function refundedAt({ at, refunds: total }: EntryAmounts): Map<string, number> {
    const ownRefunds = refunds.filter((refund) => refund.at === at);
    const its = toAmounts(ownRefunds.flatMap((refund) => refund.items));
    // This is a cancellation, or a refund of everything.
    const isOfAll = its.size === 0 && (ownRefunds.length === 0 || Math.abs(total) >= baseMinor);
    return splitClaim(total, isOfAll ? remaining : its);
  }

  const dividedRows = rows.map((row) => ({
    row,
    sales: row.isSale ? splitClaim(row.sales, sold) : new Map<string, number>(),
    refunds: row.refunds === 0 ? new Map<string, number>() : refundedAt(row),
  }));
  const net = sumByProduct(
    dividedRows.flatMap((one) => [
      ...one.sales,
      ...[...one.refunds].map(([product, amount]) => [product, -amount] as const),
    ]),
  );
  const netRest = rows.reduce((sum, row) => sum + row.sales - row.refunds, 0) - sumAmounts(net);
  const isAnything = sumAmounts(sizes(net)) + Math.abs(netRest) > 0;

  function splitCommission({ row, sales, refunds: its }: (typeof dividedRows)[number]): Map<string, number> {
    if (row.sales !== 0) return splitByWeight(row.commission, sizes(sales), Math.abs(row.sales - sumAmounts(sales)));
    if (row.refunds !== 0) return splitByWeight(row.commission, sizes(its), Math.abs(row.refunds - sumAmounts(its)));
    if (isAnything) return splitByWeight(row.commission, sizes(net), Math.abs(netRest));
    return splitByWeight(row.commission, remaining, Math.max(0, baseMinor - sumAmounts(sold)));
  }

  return dividedRows.map((one) => {
    const { row, sales, refunds: its } = one;
    const commissionByProduct = splitCommission(one);
    const itemsBack = (product: string) => {
      const [back, of] = [its.get(product) ?? 0, sold.get(product) ?? 0];
      return of === 0 ? 0 : Math.round(((milli.get(product) ?? 0) * back) / of);
    };
    return [...sold.keys()]
      .map((product) => ({
        product,
        title: titles.get(product) ?? '',
        sales: sales.get(product) ?? 0,
        refunds: its.get(product) ?? 0,
        commission: commissionByProduct.get(product) ?? 0,
        milliItems: (row.isSale ? (milli.get(product) ?? 0) : 0) - itemsBack(product),
      }))
      .filter((part) => row.isSale || part.sales !== 0 || part.refunds !== 0 || part.commission !== 0);
  });
}
