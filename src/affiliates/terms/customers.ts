import { isPlain } from '../../analytics/pricing/plain.ts';
import type { OrderKind, Terms } from '../../workflow/terms/terms.shapes.ts';
import {
  type CustomerOrder,
  type CustomerRow,
  countPayments,
  type DecidedOrder,
  draftRow,
  findCustomerKey,
  findEnd,
  findStopReason,
  hasShopKey,
  isBefore,
  isForStore,
  isSameCustomer,
  type Payments,
  type RowDraft,
  type StopReason,
} from './customer-rows.ts';

/** The code or click that the order carries and that qualifies by the brand's rules. */
export interface CarriedWinner {
  type: 'code' | 'click';
  creatorId: string;
}

export interface CustomerQuestion {
  /** Neither a test nor history. */
  order: CustomerOrder;
  /** All rows that share a key with the order, or that own an order below. Others do no harm. */
  rows: readonly CustomerRow[];
  /** All decided orders of the subscription and of the customer, and those of `rows`. Others do no harm. */
  orders: readonly DecidedOrder[];
  carried: CarriedWinner | null;
  policy: 'order_wins' | 'customer_wins';
  /** The order is smaller than the brand's smallest one that pays. */
  isBelowMinimum: boolean;
}

export type CustomerReason = StopReason | 'nobody_sold_it' | 'own_code_or_click' | 'below_minimum';

/** The claim of a customer's row on an order, as the decision records it. */
export interface CustomerCandidate {
  /** Null where no row stands behind it: nobody sold the subscription, or its terms covered one order. */
  rowId: string | null;
  by: 'subscription' | 'product' | 'customer_id' | 'email' | 'lead';
  linkId: string | null;
  creatorId: string | null;
  firstOrderId: string | null;
  terms: Terms | null;
  since: Date | null;
  until: Date | null;
  /** The number of this payment in its row; null if nobody sold it. */
  payment: number | null;
  outcome: 'won' | 'lost';
  reason: CustomerReason | null;
}

export interface CustomerDecision {
  /** `carried`: what the order carries wins. `customer`: the candidate does. */
  winner: 'carried' | 'customer' | 'nobody';
  rule: 'subscription' | 'customer' | null;
  candidate: CustomerCandidate | null;
  /** A row to make before the order is recorded, of the order that sold the subscription without one. */
  draft: RowDraft | null;
}

/** A row, or the deal of an order that has none, with the row that it would have made. */
interface Claimant extends RowDraft {
  id: string | null;
  draft?: RowDraft;
}

/** The answer of one step: who decides. A claimant of null is nobody, which is an answer, too. */
interface CustomerClaim {
  rule: 'subscription' | 'customer';
  by: CustomerCandidate['by'];
  claimant: Claimant | null;
}

const CONTINUES: readonly OrderKind[] = ['renewal', 'upgrade', 'resubscribe'];

/** Renewals, upgrades and resubscriptions continue what was sold before. */
export const continuesAnother = ({ kind }: Pick<CustomerOrder, 'kind'>): boolean => CONTINUES.includes(kind);

/** A 0.00 that starts a subscription is a trial, which is not held to the brand's smallest order. */
export const startsTrial = ({ amountMinor, kind, subscriptionId }: CustomerOrder): boolean =>
  amountMinor === 0 && (kind === 'first' || kind === 'resubscribe' || (kind === 'once' && subscriptionId !== null));

const isRowEarlier = (a: CustomerRow, b: CustomerRow): boolean =>
  a.since < b.since || (a.since.getTime() === b.since.getTime() && a.id < b.id);

const sharesProduct = (a: { products: readonly string[] }, b: { products: readonly string[] }): boolean =>
  a.products.some((product) => b.products.includes(product));

const findFirst = <T>(values: readonly T[], isEarlier: (a: T, b: T) => boolean): T | undefined =>
  values.reduce<T | undefined>((first, one) => (first === undefined || isEarlier(one, first) ? one : first), undefined);

const findLast = <T>(values: readonly T[], isEarlier: (a: T, b: T) => boolean): T | undefined =>
  values.reduce<T | undefined>((last, one) => (last === undefined || isEarlier(last, one) ? one : last), undefined);

/** Rows that had started when the order was placed and that may decide orders of its store. */
const listRows = ({ rows, order }: CustomerQuestion): CustomerRow[] =>
  rows.filter((row) => row.since <= order.placedAt && isForStore(row, order));

/** Orders before this one that say who sold what. */
const listEarlier = ({ orders, order }: CustomerQuestion): DecidedOrder[] =>
  orders.filter((one) => !one.isTest && !one.isHistory && one.id !== order.id && isBefore(one, order));

/** The row of a decided order, else its deal as if it had made one; null for an order that is nobody's. */
function findOwner(decided: DecidedOrder, { rows, order }: CustomerQuestion): Claimant | null {
  const { owner } = decided;
  if (!owner) return null;
  const draft = { ...draftRow(decided, owner), isOriginRejected: owner.isRejected };
  const row = rows.find(({ id }) => id === owner.rowId);
  const claimant = owner.rowId === null ? { ...draft, id: null, draft } : row;
  return claimant && isForStore(claimant, order) ? claimant : null;
}

/** The first step: the subscription that the order names, if it is known. */
function claimBySubscription(question: CustomerQuestion): CustomerClaim | undefined {
  const { order } = question;
  const { kind, integrationId, subscriptionId, previousSubscriptionId } = order;
  const ids = [subscriptionId, kind === 'resubscribe' ? previousSubscriptionId : null];
  const row = findFirst(
    listRows(question).filter(({ subscriptions }) => ids.some((id) => hasShopKey(subscriptions, integrationId, id))),
    isRowEarlier,
  );
  if (row) return { rule: 'subscription', by: 'subscription', claimant: row };
  const earlierOrders = listEarlier(question).filter(
    (one) =>
      one.integrationId === integrationId &&
      [one.subscriptionId, ...(one.started ?? [])].some((id) => id !== null && ids.includes(id)),
  );
  const first = findFirst(earlierOrders, isBefore);
  return first && { rule: 'subscription', by: 'subscription', claimant: findOwner(first, question) };
}

/** The second step: the first order of the same product, or the customer's latest row, for an order that continues one. */
function claimByProduct(question: CustomerQuestion): CustomerClaim | undefined {
  const { order } = question;
  if (!continuesAnother(order)) return undefined;
  const firsts = listEarlier(question).filter(
    (one) =>
      one.kind === 'first' &&
      isSameCustomer(one, order) &&
      sharesProduct(one, order) &&
      (one.owner === null || isForStore(one.owner, order)),
  );
  const first = findLast(firsts, isBefore);
  if (first) return { rule: 'subscription', by: 'product', claimant: findOwner(first, question) };
  const rows = listRows(question).filter((row) => findCustomerKey(row, order) !== null);
  const sharing = rows.filter((row) => sharesProduct(row, order));
  const row = findLast(sharing.length > 0 ? sharing : rows, isRowEarlier);
  if (!row) return undefined;
  const by = sharing.length > 0 ? 'product' : (findCustomerKey(row, order) ?? 'email');
  return { rule: 'subscription', by, claimant: row };
}

/** The third step: the earliest row that runs and covers the customer, or that is a lead without a payment. */
function claimByCustomer(question: CustomerQuestion): CustomerClaim | undefined {
  const { order } = question;
  const rows = listRows(question)
    .filter((row) => findCustomerKey(row, order) !== null)
    .toSorted((a, b) => (isRowEarlier(a, b) ? -1 : 1));
  const isOpenLead = (row: CustomerRow) => row.origin === 'lead' && findPayments(row, question).made === 0;
  const able = rows.filter((row) => row.terms.covers === 'customer' || isOpenLead(row));
  const runs = (row: CustomerRow) => findStopReason(row, findPayments(row, question), order.placedAt) === null;
  // Without one that runs, the first is recorded with the reason why it does not.
  const row = able.find(runs) ?? able[0];
  if (!row) return undefined;
  const by = isOpenLead(row) ? 'lead' : (findCustomerKey(row, order) ?? 'email');
  return { rule: 'customer', by, claimant: row };
}

/** A deal without a row has no payment but the order that was sold by it: the next one makes the row. */
function findPayments(claimant: Claimant, { orders, order }: CustomerQuestion): Payments {
  const { id, firstOrderId } = claimant;
  if (id !== null) return countPayments({ id, firstOrderId }, orders, order);
  const origin = orders.find((one) => one.id === firstOrderId);
  const isPaid = origin && origin.amountMinor > 0 && !origin.isCancelledUnpaid;
  return isPaid ? { made: 1, firstAt: origin.placedAt } : { made: 0, firstAt: null };
}

/** The claim as a candidate, with what keeps it from paying by itself. */
function toCandidate({ by, claimant }: CustomerClaim, question: CustomerQuestion): CustomerCandidate {
  const { order, isBelowMinimum } = question;
  if (!claimant) {
    const nothing = { rowId: null, linkId: null, creatorId: null, firstOrderId: null, terms: null, payment: null };
    return { ...nothing, by, since: null, until: null, outcome: 'lost', reason: 'nobody_sold_it' };
  }
  const payments = findPayments(claimant, question);
  const isRefused = isBelowMinimum && !startsTrial(order);
  const { linkId, creatorId, firstOrderId, terms, since } = claimant;
  return {
    rowId: claimant.id,
    by,
    linkId,
    creatorId,
    firstOrderId,
    terms,
    since,
    until: findEnd(claimant, payments),
    payment: payments.made + 1,
    outcome: 'lost',
    reason: findStopReason(claimant, payments, order.placedAt) ?? (isRefused ? 'below_minimum' : null),
  };
}

/**
 * The row decides although the order carries a code of its own creator, so that no recurring coupon gets round a duration.
 * A customer who subscribes again may start anew, and plain terms have no duration.
 */
function overrulesOwnCode({ order, carried }: CustomerQuestion, { rule, claimant }: CustomerClaim): boolean {
  if (!claimant || rule !== 'subscription' || carried?.type !== 'code' || order.kind === 'resubscribe') return false;
  const isDeal = claimant.id !== null || claimant.terms.covers !== 'order';
  return isDeal && claimant.creatorId === carried.creatorId && !isPlain(claimant.terms);
}

/**
 * Decides whether an order belongs to a customer whom a creator brought. What the order carries comes first, but for two
 * exceptions; then its subscription, the product that it continues, and the customer, in this order. A row that does not
 * run pays nobody, and no other is tried in its stead.
 */
export function decideByCustomer(question: CustomerQuestion): CustomerDecision {
  const { carried, policy } = question;
  const claim = claimBySubscription(question) ?? claimByProduct(question) ?? claimByCustomer(question);
  if (!claim) return { winner: carried ? 'carried' : 'nobody', rule: null, candidate: null, draft: null };
  const candidate = toCandidate(claim, question);
  const pays = candidate.reason === null;
  const isFirst = overrulesOwnCode(question, claim) || (policy === 'customer_wins' && pays);
  if (carried && !isFirst) {
    const reason = candidate.reason ?? 'own_code_or_click';
    return { winner: 'carried', rule: null, candidate: { ...candidate, reason }, draft: null };
  }
  if (!pays) return { winner: 'nobody', rule: null, candidate, draft: null };
  const { claimant, rule } = claim;
  return { winner: 'customer', rule, candidate: { ...candidate, outcome: 'won' }, draft: claimant?.draft ?? null };
}
