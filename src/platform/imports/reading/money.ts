import type { Goods, TaxPlace } from './shapes.ts';

/** The amounts of one order in minor units; undefined where there is no column. */
export interface OrderAmounts {
  amount?: number | undefined;
  subtotal?: number | undefined;
  discount?: number | undefined;
  total?: number | undefined;
  shipping?: number | undefined;
  taxes?: number | undefined;
  fees?: number | undefined;
  refunded?: number | undefined;
  refundedTax?: number | undefined;
  adjustedTotal?: number | undefined;
}

export const GOODS = ['amount', 'subtotal', 'subtotal_less_discount', 'total_less_rest', 'total'] as const;

/** `a * b / c` rounded half to even. */
function shareMinor(a: number, b: number, c: number): number {
  if (c === 0) return 0;
  const product = BigInt(a) * BigInt(b);
  const divisor = BigInt(c);
  const whole = product / divisor;
  const rest = (product % divisor) * 2n;
  const magnitude = rest < 0n ? -rest : rest;
  const size = divisor < 0n ? -divisor : divisor;
  const isUp = magnitude > size || (magnitude === size && whole % 2n !== 0n);
  const step = product < 0n === divisor < 0n ? 1n : -1n;
  return Number(isUp ? whole + step : whole);
}

/** A discount may be written as a negative amount. */
const reduction = (discount: number | undefined) => Math.abs(discount ?? 0);

/** The goods under a meaning, before tax in prices is taken out; undefined if their column says nothing. */
function findGoods(goods: Goods, parts: OrderAmounts): number | undefined {
  const { amount, subtotal, discount, total, shipping = 0, taxes = 0, fees = 0 } = parts;
  if (goods === 'amount') return amount;
  if (goods === 'subtotal') return subtotal;
  if (goods === 'subtotal_less_discount') return subtotal === undefined ? undefined : subtotal - reduction(discount);
  if (goods === 'total') return total;
  return total === undefined ? undefined : total - shipping - taxes - fees;
}

const countParts = (parts: OrderAmounts) =>
  [parts.subtotal ?? parts.amount, parts.discount, parts.shipping, parts.taxes, parts.fees].filter(Boolean).length;

/**
 * The identity of an order's parts tells the place of its tax; a minor unit a part is rounding. Undefined if neither
 * place makes the total.
 */
function placeTax(net: number, parts: OrderAmounts): TaxPlace | undefined {
  const { total, shipping = 0, taxes = 0, fees = 0 } = parts;
  if (total === undefined) return undefined;
  const tolerance = countParts(parts);
  const onTopGap = Math.abs(net + shipping + taxes + fees - total);
  const includedGap = Math.abs(net + shipping + fees - total);
  if (onTopGap > tolerance && includedGap > tolerance) return undefined;
  return onTopGap <= includedGap ? 'on_top' : 'included';
}

/** The parts with the amount as it was before anything was given back. */
const addRefund = (parts: OrderAmounts): OrderAmounts => ({
  ...parts,
  amount: (parts.amount ?? 0) + Math.abs(parts.refunded ?? 0),
});

/** The total proves that the amount is what is left after a refund, or that it is not; undefined if it proves neither. */
function provesNet(parts: OrderAmounts): boolean | undefined {
  const { amount, refunded = 0, total } = parts;
  if (amount === undefined || refunded === 0 || total === undefined) return undefined;
  const isWhole = placeTax(amount, parts) !== undefined;
  const isLeft = placeTax(amount + Math.abs(refunded), parts) !== undefined;
  return isWhole === isLeft ? undefined : isLeft;
}

/** The meanings whose identity holds for an order, as bits in the order of `GOODS`. */
export function findHolding(candidates: readonly Goods[], parts: OrderAmounts): number {
  let mask = 0;
  GOODS.forEach((goods, bit) => {
    if (!candidates.includes(goods)) return;
    const net = findGoods(goods, goods === 'amount' && provesNet(parts) ? addRefund(parts) : parts);
    if (net !== undefined && placeTax(net, parts) !== undefined) mask |= 1 << bit;
  });
  return mask;
}

/** Rules are noted where they were needed, so that only such orders become questions. */
export const USES = {
  taxInPrices: 1,
  partialRefunds: 2,
  currency: 4,
  adjusted: 8,
  tax: 16,
  repeatsTotal: 32,
  repeatsAmount: 64,
  refundTime: 128,
  netOfRefunds: 256,
} as const;

export interface MoneyRules {
  goods: Goods;
  tax: TaxPlace | null;
  taxInPrices: 'proportional' | 'goods_only';
  partialRefunds: 'proportional' | 'goods_first';
  adjustedZero: 'refunded' | 'unadjusted';
  /** The columns of a known format are settled. */
  isSettled: boolean;
  /** The amount is what is left after refunds; undefined if nobody asked. */
  netOfRefunds: boolean | undefined;
  /** Our own `amount` and `refunded` are goods. */
  isOwn: boolean;
  /** Nothing is written: a total may have more in it, such as a tip. */
  isCompared: boolean;
}

export type GoodsResult = { amount: number; refunded: number; uses: number } | { problem: string };

interface Net {
  net: number;
  uses: number;
}

/** Takes the tax out of goods whose prices include it. */
function takeTax(gross: number, parts: OrderAmounts, rules: MoneyRules): Net {
  const { shipping = 0, taxes = 0, fees = 0 } = parts;
  const others = shipping + fees;
  if (others === 0 || taxes === 0) return { net: gross - taxes, uses: 0 };
  const tax = rules.taxInPrices === 'goods_only' ? taxes : shareMinor(taxes, gross, gross + others);
  return { net: gross - tax, uses: USES.taxInPrices };
}

function findNet(parts: OrderAmounts, rules: MoneyRules): Net | { problem: string } {
  const goods = findGoods(rules.goods, parts);
  if (goods === undefined) return { problem: 'amount_missing' };
  const { taxes = 0, total } = parts;
  if (rules.isOwn || rules.goods === 'total') return { net: goods, uses: 0 };
  if (rules.goods === 'total_less_rest') {
    if (rules.tax !== 'included') return { net: goods, uses: taxes === 0 ? 0 : USES.tax };
    const netOfTax = takeTax(goods + taxes, parts, rules);
    return { net: netOfTax.net, uses: netOfTax.uses | USES.tax };
  }
  const hasTotal = total !== undefined;
  const place = rules.tax ?? (hasTotal ? placeTax(goods, parts) : 'on_top');
  // Nothing else proves what the columns of an unknown tool are; those of a known one only leave the tax open.
  const isProved = place !== undefined || rules.isCompared || (taxes === 0 && rules.isSettled);
  if (!isProved) return { problem: 'amounts_disagree' };
  const uses = hasTotal || taxes === 0 ? 0 : USES.tax;
  if (place !== 'included' || taxes === 0) return { net: goods, uses };
  const netOfTax = takeTax(goods, parts, rules);
  return { net: netOfTax.net, uses: netOfTax.uses | uses };
}

/** The part of a refund that is goods. */
function findRefund(net: number, parts: OrderAmounts, rules: MoneyRules): { refunded: number; uses: number } {
  const { shipping = 0, taxes = 0, fees = 0, refundedTax, adjustedTotal } = parts;
  const whole = parts.total ?? net + shipping + taxes + fees;
  let refunded = Math.abs(parts.refunded ?? 0);
  let uses = 0;
  if (adjustedTotal !== undefined && adjustedTotal > 0 && adjustedTotal < whole) refunded = whole - adjustedTotal;
  if (adjustedTotal === whole && whole > 0) uses |= USES.repeatsTotal;
  if (adjustedTotal === 0 && whole > 0) {
    uses |= USES.adjusted;
    if (rules.adjustedZero === 'refunded') refunded = whole;
  }
  if (refunded === 0) return { refunded: 0, uses };
  if (rules.isOwn) return { refunded: Math.min(refunded, net), uses };
  if (refunded >= whole) return { refunded: net, uses };
  // Without its tax a refund of an order without shipping is of goods alone.
  const isKnown = refundedTax !== undefined && shipping + fees === 0;
  const ofGoods = isKnown ? refunded - Math.abs(refundedTax) : refunded;
  if (isKnown || whole === net) return { refunded: Math.min(Math.max(ofGoods, 0), net), uses };
  uses |= USES.partialRefunds;
  const share = rules.partialRefunds === 'goods_first' ? refunded : shareMinor(refunded, net, whole);
  return { refunded: Math.min(share, net), uses };
}

/** Goods and what was given back of them, without tax and shipping. */
export function settleMoney(written: OrderAmounts, rules: MoneyRules): GoodsResult {
  const isOpen = rules.goods === 'amount' && (written.refunded ?? 0) !== 0 && !rules.isSettled && !rules.isOwn;
  const proof = isOpen ? provesNet(written) : undefined;
  const parts = isOpen && (proof ?? rules.netOfRefunds) ? addRefund(written) : written;
  const netResult = findNet(parts, rules);
  if ('problem' in netResult) return netResult;
  if (netResult.net < 0) return { problem: 'negative_amount' };
  const { refunded, uses } = findRefund(netResult.net, parts, rules);
  const ofNet = isOpen && proof === undefined ? USES.netOfRefunds : 0;
  return { amount: netResult.net, refunded, uses: netResult.uses | uses | ofNet };
}
