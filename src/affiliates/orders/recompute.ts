import type { Account, LedgerKind, Posting } from '../../kit/outbox/ledger-entry.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { multiplyPpm } from '../../kit/values/money.ts';
import { ACCOUNT_OF, type CommissionStatus } from '../commissions/commissions.ts';
import type { Posted } from '../commissions/adjustments.ts';
import type { ItemFacts, RefundedItem, RefundFacts } from '../stores/formats/facts.ts';

export interface KnownRefund extends RefundFacts {
  /** How much of it was known before the commission was paid. */
  proratedMinor: number;
}

export interface CountedRefund extends KnownRefund {
  /** What is left of this refund after all earlier ones: refunds never exceed the order. */
  countedMinor: number;
}

/** What ends a sale as a whole, by the cause of what it gives back; of two the earlier. */
function findSaleEnd({ cancelledAt, disputeLostAt }: OrderSnapshot): { refundId: string; at: Date } | undefined {
  const isLostFirst = disputeLostAt !== null && (cancelledAt === null || disputeLostAt < cancelledAt);
  if (isLostFirst) return { refundId: 'dispute_lost', at: disputeLostAt };
  return cancelledAt === null ? undefined : { refundId: 'cancelled', at: cancelledAt };
}

function compareRefunds(a: KnownRefund, b: KnownRefund): number {
  return a.at.getTime() - b.at.getTime() || (a.refundId < b.refundId ? -1 : 1);
}

/** By time and id, up to what the order is worth; a cancellation or lost dispute of a paid order refunds what is left. */
export function countRefunds(order: OrderSnapshot, refunds: readonly KnownRefund[]): CountedRefund[] {
  let left = order.baseMinor;
  const counted = [...refunds].sort(compareRefunds).map((refund) => {
    const countedMinor = Math.min(left, refund.amountMinor);
    left -= countedMinor;
    return { ...refund, countedMinor };
  });
  const end = findSaleEnd(order);
  if (!end || !order.paidAt || left === 0) return counted;
  // Before payment it rejects the commission, so whatever was paid was paid before it.
  return [...counted, { ...end, amountMinor: left, countedMinor: left, proratedMinor: 0 }];
}

/** What refunds took off a line. A cancellation or lost dispute takes all of it. */
export function sumLineRefunds(
  { lineId, amountMinor }: ItemFacts,
  refunds: readonly CountedRefund[],
  items: ReadonlyMap<string, readonly RefundedItem[]>,
): number {
  const named = refunds.flatMap(({ refundId }) => items.get(refundId) ?? []).filter((one) => one.lineId === lineId);
  const isEnded = refunds.some(({ refundId }) => refundId === 'cancelled' || refundId === 'dispute_lost');
  return isEnded
    ? amountMinor
    : Math.min(
        amountMinor,
        named.reduce((sum, one) => sum + one.amountMinor, 0),
      );
}

/** Everything known of an order from all its deliveries. */
export interface OrderSnapshot {
  baseMinor: number;
  occurredAt: Date;
  paidAt: Date | null;
  cancelledAt: Date | null;
  /** As any delivery ever reported it. */
  firstCancelledAt: Date | null;
  /** The newest delivery's own time at the store. */
  updatedAt: Date;
  /** As any delivery ever reported it, and so whether it is a renewal. */
  isTest: boolean;
  isRenewal: boolean;
  /** No part of a delivery of the order. */
  disputeLostAt: Date | null;
}

function earliest(a: Date | null, b: Date | null): Date | null {
  if (!a || !b) return a ?? b;
  return a <= b ? a : b;
}

/**
 * The result does not depend on the order of arrival. The newer snapshot wins; of two with the same time, the smaller base
 * and a cancellation win, so that nobody is paid for removed goods. A reported payment stays. Payments and cancellations
 * keep the earliest reported time, because a store may report the time of its latest edit.
 */
export function mergeSnapshots(a: OrderSnapshot, b: OrderSnapshot): OrderSnapshot {
  const byTime = a.updatedAt.getTime() - b.updatedAt.getTime();
  const newest = byTime > 0 || (byTime === 0 && a.baseMinor <= b.baseMinor) ? a : b;
  const isCancelled = byTime === 0 ? a.cancelledAt !== null || b.cancelledAt !== null : newest.cancelledAt !== null;
  const firstCancelledAt = earliest(a.firstCancelledAt, b.firstCancelledAt);
  return {
    baseMinor: newest.baseMinor,
    updatedAt: newest.updatedAt,
    occurredAt: a.occurredAt,
    paidAt: earliest(a.paidAt, b.paidAt),
    firstCancelledAt,
    cancelledAt: isCancelled ? firstCancelledAt : null,
    isTest: a.isTest || b.isTest,
    isRenewal: a.isRenewal || b.isRenewal,
    disputeLostAt: a.disputeLostAt,
  };
}

export function isSameSnapshot(a: OrderSnapshot, b: OrderSnapshot): boolean {
  const facts = ({ baseMinor, isTest, isRenewal, paidAt, cancelledAt, firstCancelledAt, updatedAt }: OrderSnapshot) =>
    [baseMinor, isTest, isRenewal, ...[paidAt, cancelledAt, firstCancelledAt, updatedAt].map(Number)].join();
  return facts(a) === facts(b);
}

/** The columns of an order's row that are of its snapshot. */
type SnapshotColumns = Omit<OrderSnapshot, 'updatedAt' | 'isTest' | 'isRenewal'> & {
  storeUpdatedAt: Date;
  isTest: boolean | null;
  isRenewal: boolean | null;
};

export function toSnapshot(row: SnapshotColumns): OrderSnapshot {
  const { baseMinor, occurredAt, paidAt, cancelledAt, storeUpdatedAt, disputeLostAt } = row;
  const { isTest, isRenewal } = { isTest: row.isTest ?? false, isRenewal: row.isRenewal ?? false };
  // Rows from before this column existed have null.
  const firstCancelledAt = row.firstCancelledAt ?? cancelledAt;
  const times = { occurredAt, paidAt, cancelledAt, firstCancelledAt, disputeLostAt, updatedAt: storeUpdatedAt };
  return { baseMinor, ...times, isTest, isRenewal };
}

/** The copied terms, and what reviews and payouts decided; the facts of the order decide the rest. */
export interface CommissionState {
  ratePpm: number;
  holdDays: number;
  status: CommissionStatus;
  statusNote: string | null;
  /** Not null while the facts, not the brand, keep it rejected. */
  rejectedFrom: 'pending' | 'approved' | null;
  /** What `statusNote` was before they did. */
  noteBeforeRejection: string | null;
  /** Fixed once the commission is paid. */
  commissionMinor: number;
}

/** What a refund or a newer snapshot takes back from a paid commission. */
export interface Adjustment {
  cause: string;
  amountMinor: number;
  at: Date;
}

export interface RecomputedCommission {
  /** The commission's columns. */
  columns: {
    amountMinor: number;
    commissionMinor: number;
    refundedMinor: number;
    status: CommissionStatus;
    statusNote: string | null;
    rejectedFrom: 'pending' | 'approved' | null;
    noteBeforeRejection: string | null;
    paidAt: Date | null;
    holdEndsAt: Date | null;
  };
  adjustments: Adjustment[];
  entries: { kind: LedgerKind; postings: Posting[] }[];
}

/** Of money that went out, which the facts cannot change. */
const UNTOUCHED: readonly Account[] = ['cash', 'unallocated', 'fees', 'commission_settled', 'adjustments_netted'];

/** Why the facts alone reject an unpaid commission. */
function findRefusal(order: OrderSnapshot, refundedMinor: number): string | null {
  if (order.isTest) return 'test_order';
  if (order.disputeLostAt) return 'dispute_lost';
  if (order.cancelledAt && !order.paidAt) return 'order_cancelled';
  if (order.baseMinor > 0 && refundedMinor === order.baseMinor) return 'order_refunded';
  return order.cancelledAt ? 'order_cancelled' : null;
}

type ReviewState = Pick<CommissionState, 'status' | 'statusNote' | 'rejectedFrom' | 'noteBeforeRejection'>;

/**
 * The status after the facts: a review's rejection and a payment stay. A rejection by the facts may end; then the previous
 * status returns with its note.
 */
function applyRefusal(standing: CommissionState, refusal: string | null): ReviewState {
  const { status, statusNote, rejectedFrom } = standing;
  const open = status === 'rejected' ? rejectedFrom : status;
  const none = { rejectedFrom: null, noteBeforeRejection: null };
  if (open === null || open === 'paid') return { status, statusNote, ...none };
  const note = rejectedFrom === null ? statusNote : standing.noteBeforeRejection;
  if (refusal) return { status: 'rejected', statusNote: refusal, rejectedFrom: open, noteBeforeRejection: note };
  return { status: open, statusNote: note, ...none };
}

/** What is taken back from a paid commission, by cause: first a lower snapshot, then each refund. */
function computeAdjustments(order: OrderSnapshot, refunds: readonly CountedRefund[], standing: CommissionState): Adjustment[] {
  const proratedOf = ({ countedMinor, proratedMinor }: CountedRefund) => Math.min(countedMinor, proratedMinor);
  let left = order.baseMinor - refunds.reduce((sum, refund) => sum + proratedOf(refund), 0);
  let owed = standing.commissionMinor;
  const found: Adjustment[] = [];
  const takeBack = (cause: string, at: Date) => {
    const due = Math.min(owed, multiplyPpm(left, standing.ratePpm));
    if (due < owed) found.push({ cause, amountMinor: owed - due, at });
    owed = due;
  };
  // Where the sale itself is lowered: at the delivery's time, every later delivery that changes nothing would move it.
  takeBack('order_updated', order.occurredAt);
  for (const refund of refunds) {
    left -= refund.countedMinor - proratedOf(refund);
    takeBack(refund.refundId, refund.at);
  }
  return found;
}

const sumCounted = (refunds: readonly CountedRefund[]) => refunds.reduce((sum, { countedMinor }) => sum + countedMinor, 0);

/** Both sides of one amount: what `account` is credited with. */
function toPostings(account: Account, counter: Account, amountMinor: number, at: Date): Posting[] {
  return [
    { account: counter, amountMinor, at },
    { account, amountMinor: -amountMinor, at },
  ];
}

/** Everything that the ledger should contain for a paid order's commission, given the current facts. */
function computeTarget(order: OrderSnapshot, refunds: readonly CountedRefund[], { columns, adjustments }: RecomputedCommission) {
  const { occurredAt: at } = order;
  return [
    ...toPostings('sales', 'customers', order.baseMinor, at),
    ...refunds.flatMap((refund) => toPostings('customers', 'sales_refunds', refund.countedMinor, refund.at)),
    ...(columns.status === 'rejected'
      ? []
      : toPostings(ACCOUNT_OF[columns.status], 'commission_expense', columns.commissionMinor, at)),
    // The opposite way of a credit: it is money back.
    ...adjustments.flatMap((one) => toPostings('commission_expense', 'refund_adjustment', one.amountMinor, one.at)),
  ];
}

/** `target` minus `posted`, per account and time, in a fixed order. */
function subtractPostings(target: readonly Posting[], posted: readonly Posting[]): Posting[] {
  const lines = new Map<string, Posting>();
  const add = ({ account, amountMinor, at }: Posting, sign: 1 | -1) => {
    const key = `${String(at.getTime()).padStart(16, '0')} ${account}`;
    const line = lines.get(key) ?? { account, amountMinor: 0, at };
    lines.set(key, { ...line, amountMinor: line.amountMinor + sign * amountMinor });
  };
  for (const posting of target) add(posting, 1);
  for (const posting of posted) if (!UNTOUCHED.includes(posting.account)) add(posting, -1);
  return [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, line]) => (line.amountMinor === 0 ? [] : [line]));
}

/** The whole sale as if nothing had been refunded yet: every paid order has exactly one such entry. */
function toSalePostings(order: OrderSnapshot, { columns }: RecomputedCommission, ratePpm: number): Posting[] {
  const sale = toPostings('sales', 'customers', order.baseMinor, order.occurredAt);
  const open = columns.status === 'rejected' ? columns.rejectedFrom : columns.status;
  const due = multiplyPpm(order.baseMinor, ratePpm);
  if (open === null || due === 0) return sale;
  return [...sale, ...toPostings(ACCOUNT_OF[open], 'commission_expense', due, order.occurredAt)];
}

function toEntries(target: readonly Posting[], sale: Posting[], posted: readonly Posted[]): RecomputedCommission['entries'] {
  const entries: RecomputedCommission['entries'] = [];
  const lines = posted.flatMap(({ postings }) => postings);
  if (!posted.some(({ kind }) => kind === 'sale')) {
    entries.push({ kind: 'sale', postings: sale });
    lines.push(...sale);
  }
  const rest = subtractPostings(target, lines);
  const isRefund = !rest.some(({ account }) => account === 'sales');
  if (rest.length > 0) entries.push({ kind: isRefund ? 'refund' : 'adjustment', postings: rest });
  return entries;
}

/**
 * Computes the commission from all known facts of its order, and the entries that bring the ledger there. The result does
 * not depend on the order in which the facts arrived.
 */
export function recompute(
  snapshot: OrderSnapshot,
  refunds: readonly KnownRefund[],
  standing: CommissionState,
  posted: readonly Posted[],
): RecomputedCommission {
  // One that turns out to be a test sold nothing.
  const order = snapshot.isTest ? { ...snapshot, baseMinor: 0 } : snapshot;
  const counted = countRefunds(order, refunds);
  const refundedMinor = sumCounted(counted);
  const isPaid = standing.status === 'paid';
  const { paidAt } = order;
  const recomputed: RecomputedCommission = {
    columns: {
      ...applyRefusal(standing, findRefusal(order, refundedMinor)),
      amountMinor: order.baseMinor,
      commissionMinor: isPaid ? standing.commissionMinor : multiplyPpm(order.baseMinor - refundedMinor, standing.ratePpm),
      refundedMinor,
      paidAt,
      holdEndsAt: paidAt && new Date(paidAt.getTime() + standing.holdDays * DAY_MS),
    },
    adjustments: isPaid ? computeAdjustments(order, counted, standing) : [],
    entries: [],
  };
  if (!paidAt) return recomputed;
  const target = computeTarget(order, counted, recomputed);
  return { ...recomputed, entries: toEntries(target, toSalePostings(order, recomputed, standing.ratePpm), posted) };
}
