import { getDecimals } from '../../kit/values/money.ts';
import type { CommissionStatus } from '../commissions/commissions.ts';
import { readDecimal, toMinorUnits } from '../stores/formats/money.ts';

/** Meanings that a column of a file can have. */
export const ROLES = [
  'order_id',
  'currency',
  'amount',
  'total',
  'shipping',
  'taxes',
  'fees',
  'refunded',
  'cancelled_at',
  'status',
] as const;
export type Role = (typeof ROLES)[number];
export type Columns = Partial<Record<Role, string>>;

/**
 * Column names in exports of Shopify, WooCommerce and their usual plugins, without blanks and signs, likeliest first.
 * A column that is called like a role has it, unless one of these is there.
 */
const USUAL: Readonly<Record<Role, readonly string[]>> = {
  order_id: ['orderid', 'id', 'ordernumber', 'order'],
  currency: ['currency', 'ordercurrency', 'currencycode'],
  amount: ['subtotal', 'pricesubtotal', 'netsales', 'netrevenue', 'nrevenue'],
  total: ['total', 'ordertotal', 'pricetotal', 'ordertotalamount'],
  shipping: ['shipping', 'shippingtotal', 'ordershipping', 'ordershippingamount'],
  taxes: ['taxes', 'taxtotal', 'totaltax', 'ordertotaltax', 'ordertotaltaxamount'],
  fees: ['feetotal', 'fees', 'orderfees', 'orderfeeamount'],
  refunded: ['refundedamount', 'orderrefundamount', 'refundtotal', 'totalrefunded', 'refunds'],
  cancelled_at: ['cancelledat', 'canceledat'],
  status: ['financialstatus', 'orderstatus', 'status'],
};

const normalizeHeader = (header: string) => header.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Finds the columns of a file by its headers, unless the caller names them. */
export function guessColumns(headers: readonly string[], requested: Columns): Columns {
  const byName = new Map(headers.toReversed().map((header) => [normalizeHeader(header), header]));
  const guessed = ROLES.flatMap((role) => {
    const usual = [...USUAL[role], normalizeHeader(role)].find((name) => byName.has(name));
    const header = requested[role] ?? (usual === undefined ? undefined : byName.get(usual));
    return header === undefined ? [] : [[role, header] as const];
  });
  return Object.fromEntries(guessed);
}

/** An order as the store has it. */
export interface TheirOrder {
  orderId: string;
  currency: string;
  /** Null, like `mostMinor`, if the order is unreadable. */
  leastMinor: number | null;
  mostMinor: number | null;
  refundedMinor: number;
  isRefundExact: boolean;
  isRefunded: boolean;
  isCancelled: boolean;
}

export const toUnreadableOrder = (orderId: string, currency: string): TheirOrder => ({
  orderId,
  currency,
  leastMinor: null,
  mostMinor: null,
  refundedMinor: 0,
  isRefundExact: false,
  isRefunded: false,
  isCancelled: false,
});

/** Reads a cell such as `1,250.50`, `1.250,50 €` or `$1250.5`: 0 if it is empty, undefined if it is no amount. */
function readMinor(cell: string | undefined, currency: string): number | undefined {
  if (cell === undefined || cell.trim() === '') return 0;
  const digits = cell.replace(/[^\d.,-]/g, '');
  const isGrouped = /^-?\d{1,3}(?:,\d{3})+$/.test(digits);
  const isComma = !isGrouped && digits.lastIndexOf(',') > digits.lastIndexOf('.');
  const decimal = readDecimal(isComma ? digits.replaceAll('.', '').replace(',', '.') : digits.replaceAll(',', ''));
  if (decimal === undefined) return undefined;
  try {
    return toMinorUnits(decimal < 0n ? -decimal : decimal, currency);
  } catch {
    return undefined;
  }
}

const CANCELLED = new Set(['cancelled', 'canceled', 'wccancelled', 'trash']);
const REFUNDED = new Set(['refunded', 'wcrefunded']);

type Amounts = Record<'amount' | 'total' | 'shipping' | 'taxes' | 'fees', number>;

/**
 * Computes the range of what the goods cost without tax. If prices include tax, a file has one tax for goods and
 * shipping, so the result is a range.
 */
function computeGoods(
  { amount, total, shipping, taxes, fees }: Amounts,
  has: (role: Role) => boolean,
): [number, number] {
  if (!has('amount')) {
    const goods = Math.max(total - shipping - taxes - fees, 0);
    return [goods, goods];
  }
  const isTaxIncluded = has('total') && taxes > 0 && amount + shipping === total;
  if (!isTaxIncluded) return [amount, amount];
  const least = Math.max(amount - taxes, 0);
  return shipping === 0 ? [least, least] : [least, amount - Math.floor((taxes * amount) / total) + 1];
}

/** Reads a row of a file; undefined for a further line of an order, which has no id. */
export function readRow(
  cells: readonly string[],
  places: ReadonlyMap<Role, number>,
  storeCurrency: string,
): TheirOrder | undefined {
  const cell = (role: Role) => cells[places.get(role) ?? -1];
  const orderId = (cell('order_id') ?? '').trim().replace(/^#/, '').slice(0, 200);
  if (orderId === '' || orderId.includes('\0')) return undefined;
  const currency = (cell('currency') ?? '').trim().toUpperCase().slice(0, 10) || storeCurrency;
  const amounts = (['amount', 'total', 'shipping', 'taxes', 'fees'] as const).map(
    (role) => [role, readMinor(cell(role), currency)] as const,
  );
  const refundedMinor = readMinor(cell('refunded'), currency);
  const main = places.has('amount') ? 'amount' : 'total';
  const isComplete = amounts.every(([, minor]) => minor !== undefined) && (cell(main) ?? '').trim() !== '';
  if (!isComplete || refundedMinor === undefined) return toUnreadableOrder(orderId, currency);
  const parsedAmounts: Amounts = { amount: 0, total: 0, shipping: 0, taxes: 0, fees: 0 };
  for (const [role, minor = 0] of amounts) parsedAmounts[role] = minor;
  const [leastMinor, mostMinor] = computeGoods(parsedAmounts, (role) => places.has(role));
  const status = normalizeHeader(cell('status') ?? '');
  const all = places.has('total') ? parsedAmounts.total : mostMinor;
  return {
    orderId,
    currency,
    leastMinor,
    mostMinor,
    refundedMinor,
    isRefundExact: false,
    isRefunded: REFUNDED.has(status) || (refundedMinor > 0 && refundedMinor >= all),
    isCancelled: CANCELLED.has(status) || (cell('cancelled_at') ?? '').trim() !== '',
  };
}

/** Kinds of differences, as the rows of the job's file name them. */
export const FINDING_KINDS = [
  'missing_here',
  'missing_there',
  'amount',
  'currency',
  'refunded_but_paid',
  'cancelled_but_paid',
  'unread',
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** The order in Rollcall. */
export interface OurOrder {
  ourCurrency: string;
  baseMinor: number;
  cancelledAt: Date | null;
  commissionStatus: CommissionStatus | null;
  commissionBaseMinor: number | null;
  commissionRefundedMinor: number | null;
}

/** True if the store refunded more than the commission knows. */
function isRefundUnknown(theirs: TheirOrder, { ourCurrency, ...ours }: OurOrder): boolean {
  const refunded = ours.commissionRefundedMinor ?? 0;
  if (theirs.isRefunded) return refunded < (ours.commissionBaseMinor ?? 0);
  if (theirs.refundedMinor === 0) return false;
  return theirs.isRefundExact && theirs.currency === ourCurrency
    ? refunded < Math.min(theirs.refundedMinor, ours.commissionBaseMinor ?? 0)
    : refunded === 0;
}

/** Lists the differences of an order; an empty list means that it matches. */
export function listFindings(theirs: TheirOrder, ours: OurOrder | undefined): FindingKind[] {
  if (theirs.leastMinor === null || theirs.mostMinor === null) return ['unread'];
  if (!ours) return ['missing_here'];
  const isSameCurrency = theirs.currency === ours.ourCurrency;
  const isSameAmount = ours.baseMinor >= theirs.leastMinor && ours.baseMinor <= theirs.mostMinor;
  const isOwed = ours.commissionStatus !== null && ours.commissionStatus !== 'rejected';
  const isCancelledThere = isOwed && theirs.isCancelled && ours.cancelledAt === null;
  const isRefundedThere = isOwed && !theirs.isCancelled && ours.cancelledAt === null && isRefundUnknown(theirs, ours);
  return [
    ...(isSameCurrency ? [] : ['currency' as const]),
    ...(isSameCurrency && !isSameAmount ? ['amount' as const] : []),
    ...(isCancelledThere ? ['cancelled_but_paid' as const] : []),
    ...(isRefundedThere ? ['refunded_but_paid' as const] : []),
  ];
}

/** Converts minor units to major ones with all decimals of the currency. */
export const toMajorText = (minor: number | null, currency: string): string | null =>
  minor === null ? null : (minor / 10 ** getDecimals(currency)).toFixed(getDecimals(currency));
