import { getDecimals } from '../../kit/values/decimals.ts';
import type { Plan } from '../../platform/imports/reading/plan.ts';
import type { ComparedRecord } from '../../platform/imports/reading/shapes.ts';
import type { CommissionStatus } from '../commissions/commissions.ts';

/** Meanings that a column of a file can have. */
export const ROLES = [
  'order_id',
  'order_number',
  'currency',
  'amount',
  'discount',
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

/** The headers of a file by what they were read as. Goods are `amount`, whatever column they stand in. */
export function listColumns({ headers, columns }: Plan): Columns {
  const roleHeaders = ROLES.flatMap((role) => {
    const position = columns[role] ?? (role === 'amount' ? columns.subtotal : undefined);
    const header = position === undefined ? undefined : headers[position];
    return header === undefined ? [] : [[role, header] as const];
  });
  return Object.fromEntries(roleHeaders);
}

/** The headers that were not read, so that nobody believes that they agree. */
export function listUnread({ headers, columns, flags }: Plan): string[] {
  const readPositions = new Set([...Object.values(columns), ...flags.map(({ position }) => position)]);
  return headers.filter((header, position) => header !== '' && !readPositions.has(position));
}

/** An order as the store has it. */
export interface TheirOrder {
  orderId: string;
  /** Set if the store does not list the id: another order may have this number, or this number as its id. */
  orderNumber: string | null;
  currency: string;
  /** Null, like `mostMinor`, if the order is unreadable. */
  leastMinor: number | null;
  mostMinor: number | null;
  refundedMinor: number;
  isRefundExact: boolean;
  isRefunded: boolean;
  isCancelled: boolean;
}

type OrderNames = Pick<TheirOrder, 'orderId' | 'orderNumber'>;

export const toUnreadableOrder = ({ orderId, orderNumber }: OrderNames, currency: string): TheirOrder => ({
  orderId,
  orderNumber,
  currency,
  leastMinor: null,
  mostMinor: null,
  refundedMinor: 0,
  isRefundExact: false,
  isRefunded: false,
  isCancelled: false,
});

/** Converts an order of a file; undefined if it has neither id nor number that can be stored. */
export function toTheirOrder(record: ComparedRecord, storeCurrency: string): TheirOrder | undefined {
  const { order_id, order_number, goods } = record;
  const orderId = (order_id ?? order_number ?? '').replace(/^#/, '');
  if (orderId === '' || orderId.includes('\0')) return undefined;
  const names = { orderId, orderNumber: order_id === null ? order_number : null };
  if (!goods) return toUnreadableOrder(names, storeCurrency);
  return {
    ...names,
    currency: goods.currency,
    leastMinor: goods.least,
    mostMinor: goods.most,
    refundedMinor: goods.refunded,
    isRefundExact: false,
    isRefunded: record.is_refunded,
    isCancelled: record.is_cancelled,
  };
}

/** Kinds of differences, as the rows of the job's file name them. */
export const FINDING_KINDS = [
  'missing_here',
  'missing_there',
  'ambiguous',
  'amount',
  'currency',
  'refunded_but_paid',
  'cancelled_but_paid',
  'unread',
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** The order in Rollcall. */
export interface OurOrder {
  /** Our orders that the store's may be. */
  matches: number;
  ourCurrency: string;
  baseMinor: number;
  cancelledAt: Date | null;
  commissionStatus: CommissionStatus | null;
  commissionBaseMinor: number | null;
  commissionRefundedMinor: number | null;
}

/** True if the store refunded more than the commission knows. */
function isRefundUnknown(theirs: TheirOrder, { ourCurrency, ...ours }: OurOrder): boolean {
  const refundedMinor = ours.commissionRefundedMinor ?? 0;
  if (theirs.isRefunded) return refundedMinor < (ours.commissionBaseMinor ?? 0);
  if (theirs.refundedMinor === 0) return false;
  return theirs.isRefundExact && theirs.currency === ourCurrency
    ? refundedMinor < Math.min(theirs.refundedMinor, ours.commissionBaseMinor ?? 0)
    : refundedMinor === 0;
}

/** Lists the differences of an order; an empty list means that it matches. */
export function listFindings(theirs: TheirOrder, ours: OurOrder | undefined): FindingKind[] {
  if (theirs.leastMinor === null || theirs.mostMinor === null) return ['unread'];
  if (!ours) return ['missing_here'];
  if (ours.matches > 1) return ['ambiguous'];
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
