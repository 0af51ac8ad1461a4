import { DAY_MS } from '../../kit/values/duration.ts';
import type { OrderKind, Terms } from '../../workflow/terms/terms.shapes.ts';
import { addMonths } from './months.ts';

/** An id that means something at one store only. */
export interface ShopKey {
  integrationId: string;
  id: string;
}

/** Everything by which a customer is recognized. Ids and addresses are keyed hashes; subscriptions stand in clear. */
export interface CustomerKeys {
  subscriptions: readonly ShopKey[];
  customerIds: readonly ShopKey[];
  emails: readonly string[];
}

/** Somebody whom a creator brought. */
export interface CustomerRow extends CustomerKeys {
  id: string;
  linkId: string;
  creatorId: string;
  /** The store that its link is bound to: it decides no other store's orders. */
  boundTo: string | null;
  /** As they were copied when the row was made. */
  terms: Terms;
  /** Their version; absent or null for a percentage alone. */
  termsId?: string | null;
  /** The brand's, of which the months of its terms are; UTC if omitted. */
  timeZone?: string | undefined;
  origin: 'order' | 'lead' | 'hand' | 'import';
  firstOrderId: string | null;
  /** Products of its first order, by SKU and id. */
  products: readonly string[];
  since: Date;
  endedAt: Date | null;
  /** A person, not the facts, rejected the commission of its first order. */
  isOriginRejected: boolean;
}

/** An order as a decision about its customer reads it. */
export interface CustomerOrder {
  /** Ids sort by the time at which orders were recorded, which tells the earlier one of equal times. */
  id: string;
  integrationId: string;
  placedAt: Date;
  amountMinor: number;
  kind: OrderKind;
  subscriptionId: string | null;
  previousSubscriptionId: string | null;
  /** A keyed hash; null if the store did not name the customer. */
  customerId: string | null;
  email: string | null;
  products: readonly string[];
}

/** The deal that an order was decided by. */
export interface OrderOwner {
  /** The row that decided the order, that it made, or that kept it from making another; null without any. */
  rowId: string | null;
  linkId: string;
  creatorId: string;
  boundTo: string | null;
  terms: Terms;
  termsId?: string | null;
  timeZone?: string | undefined;
  /** A person, not the facts, rejected its commission. */
  isRejected: boolean;
}

/** An order that was decided before. */
export interface DecidedOrder extends CustomerOrder {
  isTest: boolean;
  isHistory: boolean;
  isCancelledUnpaid: boolean;
  /** The rule that decided it; null if nothing won. */
  rule: 'code' | 'click' | 'subscription' | 'customer' | null;
  /** The subscriptions that it started, as its store said that was asked. */
  started?: readonly string[];
  /** Null if it is nobody's. */
  owner: OrderOwner | null;
  hasCommission: boolean;
}

type Moment = Pick<CustomerOrder, 'id' | 'placedAt'>;

export const isBefore = (a: Moment, b: Moment): boolean =>
  a.placedAt < b.placedAt || (a.placedAt.getTime() === b.placedAt.getTime() && a.id < b.id);

export const hasShopKey = (keys: readonly ShopKey[], integrationId: string, id: string | null): boolean =>
  id !== null && keys.some((key) => key.integrationId === integrationId && key.id === id);

/** Two orders are of one customer if they share the id at one shop, or the address. It is not transitive. */
export function isSameCustomer(a: CustomerOrder, b: CustomerOrder): boolean {
  const hasSameId = a.customerId !== null && a.customerId === b.customerId && a.integrationId === b.integrationId;
  return hasSameId || (a.email !== null && a.email === b.email);
}

/** The stronger of the two keys by which the row knows the order's customer; null if it does not. */
export function findCustomerKey(row: CustomerKeys, order: CustomerOrder): 'customer_id' | 'email' | null {
  if (hasShopKey(row.customerIds, order.integrationId, order.customerId)) return 'customer_id';
  return order.email !== null && row.emails.includes(order.email) ? 'email' : null;
}

/** The keys that an order gives to the row that it makes. */
function listKeys(order: CustomerOrder): CustomerKeys {
  const { integrationId, subscriptionId, customerId, email } = order;
  const toKeys = (id: string | null) => (id === null ? [] : [{ integrationId, id }]);
  return {
    subscriptions: toKeys(subscriptionId),
    customerIds: toKeys(customerId),
    emails: email === null ? [] : [email],
  };
}

/** The orders of a row that were placed before an order and count as payments. */
export interface Payments {
  made: number;
  firstAt: Date | null;
}

/** Orders that a code or click won by itself are no orders of the row, but for the one that it began with. */
const isOfRow = ({ id, rule, owner }: DecidedOrder, row: Pick<CustomerRow, 'id' | 'firstOrderId'>): boolean =>
  id === row.firstOrderId || (owner?.rowId === row.id && (rule === 'subscription' || rule === 'customer'));

const isPayment = ({ amountMinor, isCancelledUnpaid, isTest }: DecidedOrder): boolean =>
  amountMinor > 0 && !isCancelledUnpaid && !isTest;

/** Counts a row's payments before an order: its orders above 0.00, but those that were cancelled unpaid. */
export function countPayments(
  row: Pick<CustomerRow, 'id' | 'firstOrderId'>,
  orders: readonly DecidedOrder[],
  before: Moment,
): Payments {
  const payments = orders.filter((one) => isOfRow(one, row) && isPayment(one) && isBefore(one, before));
  const first = payments.reduce<Date | null>(
    (earliest, { placedAt }) => (earliest && earliest <= placedAt ? earliest : placedAt),
    null,
  );
  return { made: payments.length, firstAt: first };
}

/** Why a row pays nobody, in the order in which reasons are judged. */
export type StopReason = 'ended' | 'origin_rejected' | 'first_order_only' | 'payments_over' | 'duration_over';

export type RunningRow = Pick<CustomerRow, 'terms' | 'endedAt' | 'isOriginRejected' | 'timeZone'>;

/** The moment from which orders are too late for the row; null if it lasts for ever, or nobody has paid yet. */
export function findEnd(
  { terms, endedAt, timeZone }: Pick<RunningRow, 'terms' | 'endedAt' | 'timeZone'>,
  { firstAt }: Payments,
): Date | null {
  const over = firstAt && terms.months !== null ? addMonths(firstAt, terms.months, timeZone) : null;
  return endedAt && over ? new Date(Math.min(endedAt.getTime(), over.getTime())) : (endedAt ?? over);
}

/** The first reason why a row does not run for an order that was placed then; null if it runs. */
export function findStopReason(row: RunningRow, payments: Payments, placedAt: Date): StopReason | null {
  const { covers, payments: most, months } = row.terms;
  if (row.endedAt && row.endedAt <= placedAt) return 'ended';
  if (row.isOriginRejected) return 'origin_rejected';
  if (covers === 'order' && payments.made > 0) return 'first_order_only';
  if (most !== null && payments.made >= most) return 'payments_over';
  const isOver =
    months !== null && payments.firstAt !== null && placedAt >= addMonths(payments.firstAt, months, row.timeZone);
  return isOver ? 'duration_over' : null;
}

/** A row's state in lists. */
export type RowState = 'open' | 'running' | 'over' | 'ended';

/** `open` until the first payment. */
export function findRowState(row: RunningRow, payments: Payments, now: Date): RowState {
  const reason = findStopReason(row, payments, now);
  if (reason === 'ended') return 'ended';
  if (reason !== null) return 'over';
  return payments.made === 0 ? 'open' : 'running';
}

/** The link whose code or click won an order, with the deal that it starts. */
export interface WinningLink {
  linkId: string;
  creatorId: string;
  boundTo: string | null;
  /** The terms in effect for the link. */
  terms: Terms;
  termsId?: string | null;
  timeZone?: string | undefined;
}

export type RowDraft = Omit<CustomerRow, 'id'>;

const STARTS: readonly OrderKind[] = ['once', 'first', 'resubscribe'];

export function draftRow(order: CustomerOrder, winner: WinningLink): RowDraft {
  const { linkId, creatorId, boundTo, terms, termsId = null, timeZone } = winner;
  return {
    ...listKeys(order),
    linkId,
    creatorId,
    boundTo,
    terms,
    termsId,
    timeZone,
    origin: 'order',
    firstOrderId: order.id,
    products: order.products,
    since: order.placedAt,
    endedAt: null,
    isOriginRejected: false,
  };
}

/**
 * The row that an order belongs to that a code or click won: a new one if the terms cover more than the order, or if the
 * order is a trial of 0.00. The creator's own row that runs and covers the customer stands for a new one. Null if the order
 * starts nothing, or if nothing would recognize the customer again.
 */
export function findOrDraftRow(
  order: CustomerOrder,
  winner: WinningLink,
  rows: readonly CustomerRow[],
  orders: readonly DecidedOrder[],
): { existing: CustomerRow } | { draft: RowDraft } | null {
  const isCovered = winner.terms.covers !== 'order' || order.amountMinor === 0;
  if (!STARTS.includes(order.kind) || !isCovered) return null;
  const existing = rows.find(
    (row) =>
      row.creatorId === winner.creatorId &&
      row.terms.covers === 'customer' &&
      row.since <= order.placedAt &&
      isForStore(row, order) &&
      findCustomerKey(row, order) !== null &&
      findStopReason(row, countPayments(row, orders, order), order.placedAt) === null,
  );
  if (existing) return { existing };
  const draft = draftRow(order, winner);
  const isKnown = draft.subscriptions.length + draft.customerIds.length + draft.emails.length > 0;
  return isKnown ? { draft } : null;
}

export const isForStore = (row: Pick<CustomerRow, 'boundTo'>, order: CustomerOrder): boolean =>
  row.boundTo === null || row.boundTo === order.integrationId;

/** Orders that came before the row was known are decided again until then. */
const DECIDE_AGAIN_MS = 90 * DAY_MS;

/** The orders of a new row's keys that paid nobody and are decided again now that it is known, oldest first. */
export function listOrdersToDecideAgain(row: CustomerRow, orders: readonly DecidedOrder[], now: Date): DecidedOrder[] {
  const isAfterStart = ({ id, placedAt }: DecidedOrder) =>
    placedAt > row.since ||
    (placedAt.getTime() === row.since.getTime() && (row.firstOrderId === null || id > row.firstOrderId));
  const isOfKeys = (order: DecidedOrder) =>
    hasShopKey(row.subscriptions, order.integrationId, order.subscriptionId) || findCustomerKey(row, order) !== null;
  return orders
    .filter(
      (order) =>
        !order.hasCommission &&
        !order.isTest &&
        !order.isHistory &&
        isAfterStart(order) &&
        now.getTime() - order.placedAt.getTime() <= DECIDE_AGAIN_MS &&
        isOfKeys(order),
    )
    .toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
}
