import { type Price, type PricingInput, price } from '../pricing/price.ts';
import type { OrderLine } from '../pricing/rules.ts';

/** An order, its lines, its refunds and all that prices it. */
export interface OrderLines extends Omit<PricingInput, 'isEnded'> {
  /** When a cancellation or a lost dispute took back what refunds left; null while nothing did. */
  endedAt: Date | null;
  /** A test order sold nothing: what its sale added is taken back from the same products. */
  isTest: boolean;
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

/** Amounts by product, and under the empty name those of no product. */
type Amounts = ReadonlyMap<string, number>;

const NO_PRODUCT = '';
const sumAmounts = (amounts: Amounts) => [...amounts.values()].reduce((sum, one) => sum + one, 0);

function sumByProduct(pairs: readonly (readonly [product: string, amount: number])[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [product, amount] of pairs) sums.set(product, (sums.get(product) ?? 0) + amount);
  return sums;
}

/** A part of a whole, rounded down. */
const takePart = (total: number, part: number, whole: number) => Number((BigInt(total) * BigInt(part)) / BigInt(whole));

/**
 * Divides a total as products have it. A total of other facts than the present ones is divided in proportion, and what it
 * has beyond them belongs to no product.
 */
function divide(total: number, amounts: Amounts): Amounts {
  const size = Math.abs(total);
  const sum = sumAmounts(amounts);
  if (total !== 0 && size === Math.abs(sum)) {
    return total === sum ? amounts : new Map([...amounts].map(([product, amount]) => [product, -amount]));
  }
  const weights = [...amounts].map(([product, amount]) => [product, Math.max(0, amount)] as const);
  const weighed = weights.reduce((all, [, weight]) => all + weight, 0);
  const whole = Math.max(size, weighed);
  let before = 0;
  const parts = new Map<string, number>();
  for (const [product, weight] of weighed > 0 ? weights : []) {
    const part = takePart(size, before + weight, whole) - takePart(size, before, whole);
    parts.set(product, total < 0 ? -part : part);
    before += weight;
  }
  return parts;
}

/** A product is known by its SKU, or by its title where it has none. */
const getProduct = ({ sku, title }: OrderLine): string => sku ?? title ?? NO_PRODUCT;

/** The parts of an order that each product has: left after refunds, and earned by it. */
interface ProductState {
  left: Amounts;
  commission: Amounts;
}

/** The amounts that products lose at one time. */
interface ProductLoss {
  refunds: Amounts;
  commission: Amounts;
}

const subtract = (before: Amounts, after: Amounts): Amounts =>
  new Map([...before].map(([product, amount]) => [product, amount - (after.get(product) ?? 0)]));

const add = (one: Amounts | undefined, other: Amounts): Amounts =>
  one === undefined ? other : sumByProduct([...one, ...other]);

/** The states of an order, from the sold one to the present one, and what each time took from it. */
function toHistory(order: OrderLines) {
  const { endedAt, lines } = order;
  const toState = (priced: Price): ProductState => {
    const name = (place: number) => {
      const line = lines[place];
      return line ? getProduct(line) : NO_PRODUCT;
    };
    return {
      left: sumByProduct(priced.lines.map((line, place) => [name(place), line.amountMinor - line.refundedMinor])),
      commission: sumByProduct(priced.lines.map((line, place) => [name(place), line.commissionMinor])),
    };
  };
  const sorted = order.refunds.toSorted(
    (a, b) => a.at.getTime() - b.at.getTime() || (a.refundId < b.refundId ? -1 : 1),
  );
  const stateAfter = (count: number, isEnded: boolean) =>
    toState(price({ ...order, refunds: sorted.slice(0, count), isEnded }));

  const sold = stateAfter(0, false);
  let state = sold;
  const states = [state];
  const losses = new Map<number, ProductLoss>();
  const lose = (at: Date, next: ProductState) => {
    const known = losses.get(at.getTime());
    losses.set(at.getTime(), {
      refunds: add(known?.refunds, subtract(state.left, next.left)),
      commission: add(known?.commission, subtract(state.commission, next.commission)),
    });
    state = next;
    states.push(next);
  };
  for (const [place, { at }] of sorted.entries()) lose(at, stateAfter(place + 1, false));
  if (endedAt) lose(endedAt, stateAfter(sorted.length, true));
  return { sold, states, left: state, losses };
}

/**
 * Divides the figures of an entry among the products of its order, row by row, as terms divide them among its lines. The
 * rest stays without a product: amounts beyond the lines, and changes of the order after its sale.
 */
export function productParts(order: OrderLines, rows: readonly EntryAmounts[]): ProductPart[][] {
  const { lines } = order;
  if (lines.length === 0) return rows.map(() => []);
  const { sold, states, left, losses } = toHistory(order);
  const titles = new Map(lines.map((line) => [getProduct(line), line.title ?? '']));
  const milli = sumByProduct(lines.map((line) => [getProduct(line), line.quantity * 1_000]));
  // The product of the largest line comes first.
  const products = [...sold.left].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([product]) => product);

  /** The whole of a sale, or of one that turned out to be a test. */
  const isOfSale = ({ isSale, sales }: EntryAmounts) => isSale || (order.isTest && sales !== 0);

  /** The times of the refunds that changed a commission: an unpaid one changes at the time of its order. */
  function listRefundTimes({ at, sales, refunds }: EntryAmounts): number[] {
    if (refunds !== 0) return [at];
    if (sales !== 0 || at !== order.order.placedAt.getTime()) return [];
    return rows.filter((row) => row.refunds !== 0).map((row) => row.at);
  }

  function divideCommission(row: EntryAmounts): Amounts {
    if (row.isSale) return divide(row.commission, sold.commission);
    if (row.sales !== 0 && !order.isTest) return new Map();
    const lost = listRefundTimes(row).flatMap((at) => losses.get(at) ?? []);
    if (lost.length > 0) return divide(row.commission, sumByProduct(lost.flatMap(({ commission }) => [...commission])));
    // All that was earned at some time is given, or taken back, as after a review.
    const whole = Math.abs(row.commission);
    const state = states.findLast(({ commission }) => sumAmounts(commission) === whole);
    return divide(row.commission, (state ?? (sumAmounts(left.commission) > 0 ? left : sold)).commission);
  }

  return rows.map((row) => {
    const sales = isOfSale(row) ? divide(row.sales, sold.left) : new Map<string, number>();
    // Of a refund that its store reverted, nothing is known any more.
    const refunds = divide(row.refunds, losses.get(row.at)?.refunds ?? left.left);
    const commission = divideCommission(row);
    const itemsBack = (product: string) => {
      const [back, whole] = [refunds.get(product) ?? 0, sold.left.get(product) ?? 0];
      return whole === 0 ? 0 : Math.round(((milli.get(product) ?? 0) * back) / whole);
    };
    const itemsSold = row.isSale ? 1 : isOfSale(row) ? -1 : 0;
    return products
      .filter((product) => product !== NO_PRODUCT)
      .map((product) => ({
        product,
        title: titles.get(product) ?? '',
        sales: sales.get(product) ?? 0,
        refunds: refunds.get(product) ?? 0,
        commission: commission.get(product) ?? 0,
        milliItems: itemsSold * (milli.get(product) ?? 0) - itemsBack(product),
      }))
      .filter((part) => row.isSale || part.sales !== 0 || part.refunds !== 0 || part.commission !== 0);
  });
}
