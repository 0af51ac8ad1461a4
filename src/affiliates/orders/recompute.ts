import type { Price } from '../../analytics/pricing/price.ts';
import type { CommissionsTable } from '../../kit/engines/postgres/database.ts';
import type { Account, LedgerKind, Posting } from '../../kit/outbox/ledger-entry.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { multiplyPpm } from '../../kit/values/money.ts';
import type { Posted } from '../commissions/adjustments.ts';
import { ACCOUNT_OF, type CommissionStatus } from '../commissions/commissions.ts';
import type { RefundFacts } from '../stores/formats/facts.ts';
import { listPricedTakeBacks, type Pricing, priceOrder } from './pricing.ts';

export interface KnownRefund extends RefundFacts {
  /** Part that was known before the commission was paid; it reduces the commission instead of being taken back. */
  proratedMinor: number;
}

export interface OrderRefund extends KnownRefund {
  /** The refund minus what earlier refunds used up: together they never exceed the order. */
  countedMinor: number;
}

/** Returns the cancellation or the lost dispute that ended the sale, whichever came first. */
function findSaleEnd({ cancelledAt, disputeLostAt }: OrderSnapshot): { refundId: string; at: Date } | undefined {
  const isLostFirst = disputeLostAt !== null && (cancelledAt === null || disputeLostAt < cancelledAt);
  if (isLostFirst) return { refundId: 'dispute_lost', at: disputeLostAt };
  return cancelledAt === null ? undefined : { refundId: 'cancelled', at: cancelledAt };
}

/**
 * Counts refunds by time and id, up to the order's amount. A cancellation or lost dispute of a paid order refunds the
 * rest.
 */
export function countRefunds(order: OrderSnapshot, refunds: readonly KnownRefund[]): OrderRefund[] {
  let remainingMinor = order.baseMinor;
  const sortedRefunds = refunds.toSorted(
    (a, b) => a.at.getTime() - b.at.getTime() || (a.refundId < b.refundId ? -1 : 1),
  );
  const countedRefunds = sortedRefunds.map((refund) => {
    const countedMinor = Math.min(remainingMinor, refund.amountMinor);
    remainingMinor -= countedMinor;
    return { ...refund, countedMinor };
  });
  const end = findSaleEnd(order);
  if (!end || !order.paidAt || remainingMinor === 0) return countedRefunds;
  // An end before the payment rejects the commission, so a paid commission was paid before it.
  return [...countedRefunds, { ...end, amountMinor: remainingMinor, countedMinor: remainingMinor, proratedMinor: 0 }];
}

/** State of an order, merged from all its deliveries. */
export interface OrderSnapshot {
  baseMinor: number;
  occurredAt: Date;
  paidAt: Date | null;
  cancelledAt: Date | null;
  /** Earliest cancellation in any delivery. */
  firstCancelledAt: Date | null;
  /** The store's own time of the newest delivery. */
  updatedAt: Date;
  /** True once any delivery said so. */
  isTest: boolean;
  /** Comes from disputes, not from deliveries of the order. */
  disputeLostAt: Date | null;
}

function earliest(a: Date | null, b: Date | null): Date | null {
  if (!a || !b) return a ?? b;
  return a <= b ? a : b;
}

/**
 * The result does not depend on the order of arrival. The newer snapshot wins; of two with the same time, the smaller
 * base and a cancellation win, so that nobody is paid for removed goods. A reported payment stays. Payments and
 * cancellations keep the earliest reported time, because a store may report the time of its latest edit.
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
    disputeLostAt: a.disputeLostAt,
  };
}

export function isSameSnapshot(a: OrderSnapshot, b: OrderSnapshot): boolean {
  const facts = ({ baseMinor, isTest, paidAt, cancelledAt, firstCancelledAt, updatedAt }: OrderSnapshot) =>
    [baseMinor, isTest, ...[paidAt, cancelledAt, firstCancelledAt, updatedAt].map(Number)].join();
  return facts(a) === facts(b);
}

/** Columns of an order's row that hold its snapshot. */
type SnapshotColumns = Omit<OrderSnapshot, 'updatedAt' | 'isTest'> & {
  storeUpdatedAt: Date;
  isTest: boolean | null;
};

export function toSnapshot(row: SnapshotColumns): OrderSnapshot {
  return {
    baseMinor: row.baseMinor,
    occurredAt: row.occurredAt,
    paidAt: row.paidAt,
    cancelledAt: row.cancelledAt,
    // Rows from before this column existed have null.
    firstCancelledAt: row.firstCancelledAt ?? row.cancelledAt,
    disputeLostAt: row.disputeLostAt,
    updatedAt: row.storeUpdatedAt,
    isTest: row.isTest ?? false,
  };
}

/** The copied terms and the results of reviews and payouts; the facts of the order decide the rest. */
export interface CommissionState {
  /** Ignored beside `pricing`. */
  ratePpm: number;
  /** Absent where a percentage is all that the terms say. */
  pricing?: Pricing | undefined;
  holdDays: number;
  status: CommissionStatus;
  statusNote: string | null;
  /** Set while the facts, not the brand, keep it rejected. */
  rejectedFrom: CommissionsTable['rejectedFrom'];
  /** `statusNote` before the facts rejected the commission. */
  noteBeforeRejection: string | null;
  /** Fixed once the commission is paid. */
  commissionMinor: number;
  /** When the brand took back a paid commission, as much as refunds leave of it. */
  clawedBackAt: Date | null;
}

/** State of a commission that was just created, apart from its terms. */
export const NEW_COMMISSION: Omit<CommissionState, 'ratePpm' | 'holdDays'> = {
  status: 'pending',
  statusNote: null,
  rejectedFrom: null,
  noteBeforeRejection: null,
  commissionMinor: 0,
  clawedBackAt: null,
};

/** Amount that a refund or a newer snapshot takes back from a paid commission. */
export interface Adjustment {
  cause: string;
  amountMinor: number;
  at: Date;
}

export interface RecomputedCommission {
  /** Of terms that are not a percentage alone. */
  price: Price | null;
  /** Columns of the commission. */
  columns: {
    amountMinor: number;
    commissionMinor: number;
    refundedMinor: number;
    status: CommissionStatus;
    statusNote: string | null;
    rejectedFrom: CommissionsTable['rejectedFrom'];
    noteBeforeRejection: string | null;
    paidAt: Date | null;
    holdEndsAt: Date | null;
  };
  adjustments: Adjustment[];
  entries: { kind: LedgerKind; postings: Posting[] }[];
}

/** Accounts of money that was paid out, which the facts cannot change. */
const UNTOUCHED: readonly Account[] = ['cash', 'unallocated', 'fees', 'commission_settled', 'adjustments_netted'];

/** Returns the reason for which the facts alone reject an unpaid commission. */
function findRefusal(order: OrderSnapshot, refundedMinor: number): string | null {
  if (order.isTest) return 'test_order';
  if (order.disputeLostAt) return 'dispute_lost';
  if (order.cancelledAt && !order.paidAt) return 'order_cancelled';
  if (order.baseMinor > 0 && refundedMinor === order.baseMinor) return 'order_refunded';
  return order.cancelledAt ? 'order_cancelled' : null;
}

type ReviewState = Pick<CommissionState, 'status' | 'statusNote' | 'rejectedFrom' | 'noteBeforeRejection'>;

/**
 * Computes the status after the facts: a review's rejection and a payment stay. A rejection by the facts may end; then
 * the previous status returns with its note.
 */
function applyRefusal(state: CommissionState, refusal: string | null): ReviewState {
  const { status, statusNote, rejectedFrom } = state;
  const open = status === 'rejected' ? rejectedFrom : status;
  const none = { rejectedFrom: null, noteBeforeRejection: null };
  if (open === null || open === 'paid') return { status, statusNote, ...none };
  const note = rejectedFrom === null ? statusNote : state.noteBeforeRejection;
  if (refusal) return { status: 'rejected', statusNote: refusal, rejectedFrom: open, noteBeforeRejection: note };
  return { status: open, statusNote: note, ...none };
}

/** The cause of what the brand took back itself. */
export const CLAWED_BACK = 'clawed_back';

function computePricedAdjustments(
  order: OrderSnapshot,
  refunds: readonly OrderRefund[],
  { commissionMinor, clawedBackAt }: CommissionState,
  pricing: Pricing,
): Adjustment[] {
  const takeBacks = listPricedTakeBacks(order, refunds, pricing, commissionMinor);
  const owedMinor = takeBacks.reduce((owed, { amountMinor }) => owed - amountMinor, commissionMinor);
  if (clawedBackAt === null || owedMinor === 0) return takeBacks;
  return [...takeBacks, { cause: CLAWED_BACK, amountMinor: owedMinor, at: clawedBackAt }];
}

/**
 * Computes what is taken back from a paid commission, by cause: first a lowered order, then each refund, and last what the
 * brand clawed back.
 */
function computeAdjustments(
  order: OrderSnapshot,
  refunds: readonly OrderRefund[],
  state: CommissionState,
): Adjustment[] {
  if (state.pricing) return computePricedAdjustments(order, refunds, state, state.pricing);
  const getProrated = ({ countedMinor, proratedMinor }: OrderRefund) => Math.min(countedMinor, proratedMinor);
  let saleMinor = order.baseMinor - refunds.reduce((sum, refund) => sum + getProrated(refund), 0);
  let owedMinor = state.commissionMinor;
  const adjustments: Adjustment[] = [];
  const takeBack = (cause: string, at: Date) => {
    const dueMinor = Math.min(owedMinor, multiplyPpm(saleMinor, state.ratePpm));
    if (dueMinor < owedMinor) adjustments.push({ cause, amountMinor: owedMinor - dueMinor, at });
    owedMinor = dueMinor;
  };
  // A lowered sale counts from the order's time: with the delivery's time, each later delivery would move it.
  takeBack('order_updated', order.occurredAt);
  for (const refund of refunds) {
    saleMinor -= refund.countedMinor - getProrated(refund);
    takeBack(refund.refundId, refund.at);
  }
  if (state.clawedBackAt !== null) {
    saleMinor = 0;
    takeBack(CLAWED_BACK, state.clawedBackAt);
  }
  return adjustments;
}

/** Creates both postings of an amount that `account` is credited with. */
function toPostings(account: Account, counter: Account, amountMinor: number, at: Date): Posting[] {
  return [
    { account: counter, amountMinor, at },
    { account, amountMinor: -amountMinor, at },
  ];
}

/** Lists everything that the ledger should contain for a paid order's commission. */
function computeTarget(
  order: OrderSnapshot,
  refunds: readonly OrderRefund[],
  { columns, adjustments }: RecomputedCommission,
) {
  const { occurredAt: at } = order;
  return [
    ...toPostings('sales', 'customers', order.baseMinor, at),
    ...refunds.flatMap((refund) => toPostings('customers', 'sales_refunds', refund.countedMinor, refund.at)),
    ...(columns.status === 'rejected'
      ? []
      : toPostings(ACCOUNT_OF[columns.status], 'commission_expense', columns.commissionMinor, at)),
    // Money back goes the opposite way.
    ...adjustments.flatMap((one) => toPostings('commission_expense', 'refund_adjustment', one.amountMinor, one.at)),
  ];
}

/** Subtracts `posted` from `target` for each account and time, in a fixed order. */
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

/** Creates the entry of the whole sale before any refund: each paid order has exactly one. */
function toSalePostings(
  order: OrderSnapshot,
  { columns }: RecomputedCommission,
  { ratePpm, pricing }: CommissionState,
): Posting[] {
  const sale = toPostings('sales', 'customers', order.baseMinor, order.occurredAt);
  const open = columns.status === 'rejected' ? columns.rejectedFrom : columns.status;
  const dueMinor = pricing ? priceOrder(order, [], pricing).commissionMinor : multiplyPpm(order.baseMinor, ratePpm);
  if (open === null || dueMinor === 0) return sale;
  return [...sale, ...toPostings(ACCOUNT_OF[open], 'commission_expense', dueMinor, order.occurredAt)];
}

/** Lines of 0 at the time of a sale. */
const toNothing = (sale: readonly Posting[]): Posting[] =>
  sale.slice(0, 2).map((posting) => ({ ...posting, amountMinor: 0 }));

/** An order that turned out to be a test: the sale, which is listed first, no longer counts as an order. */
const toTestEntry = (rest: readonly Posting[], none: Posting[]): RecomputedCommission['entries'][number] => {
  const isSale = ({ account }: Posting) => account === 'sales';
  const postings = [...rest.filter(isSale), ...rest.filter((posting) => !isSale(posting))];
  return { kind: 'test', postings: postings.length > 0 ? postings : none };
};

function toEntries(
  target: readonly Posting[],
  sale: Posting[],
  posted: readonly Posted[],
  isTest: boolean,
): RecomputedCommission['entries'] {
  const entries: RecomputedCommission['entries'] = [];
  const lines = posted.flatMap(({ postings }) => postings);
  if (!posted.some(({ kind }) => kind === 'sale')) {
    entries.push({ kind: 'sale', postings: sale });
    lines.push(...sale);
  }
  const rest = subtractPostings(target, lines);
  if (isTest && !posted.some(({ kind }) => kind === 'test')) return [...entries, toTestEntry(rest, toNothing(sale))];
  const isRefund = !rest.some(({ account }) => account === 'sales');
  if (rest.length > 0) entries.push({ kind: isRefund ? 'refund' : 'adjustment', postings: rest });
  return entries;
}

/** What the order pays now if no other order used up a limit. */
export const computePayable = (order: OrderSnapshot, refunds: readonly KnownRefund[], pricing: Pricing): number =>
  priceOrder(order, countRefunds(order, refunds), { ...pricing, room: null }).commissionMinor;

/** An order as money counts it: one that turns out to be a test sold nothing. */
const toCounted = (snapshot: OrderSnapshot): OrderSnapshot =>
  snapshot.isTest ? { ...snapshot, baseMinor: 0 } : snapshot;

function recomputeFrom(
  order: OrderSnapshot,
  countedRefunds: readonly OrderRefund[],
  state: CommissionState,
): Omit<RecomputedCommission, 'entries'> {
  const refundedMinor = countedRefunds.reduce((sum, { countedMinor }) => sum + countedMinor, 0);
  const isPaid = state.status === 'paid';
  const { paidAt } = order;
  const price = state.pricing ? priceOrder(order, countedRefunds, state.pricing) : null;
  const dueMinor = price?.commissionMinor ?? multiplyPpm(order.baseMinor - refundedMinor, state.ratePpm);
  return {
    price,
    columns: {
      ...applyRefusal(state, findRefusal(order, refundedMinor)),
      amountMinor: order.baseMinor,
      commissionMinor: isPaid ? state.commissionMinor : dueMinor,
      refundedMinor,
      paidAt,
      holdEndsAt: paidAt && new Date(paidAt.getTime() + state.holdDays * DAY_MS),
    },
    adjustments: isPaid ? computeAdjustments(order, countedRefunds, state) : [],
  };
}

/** Computes the commission from all known facts of its order, for those who ask and do not post. */
export function recomputeCommission(snapshot: OrderSnapshot, refunds: readonly KnownRefund[], state: CommissionState) {
  const order = toCounted(snapshot);
  return recomputeFrom(order, countRefunds(order, refunds), state);
}

/**
 * Computes the commission from all known facts of its order, and the entries that bring the ledger there. The result
 * does not depend on the order in which the facts arrived.
 */
export function recompute(
  snapshot: OrderSnapshot,
  refunds: readonly KnownRefund[],
  state: CommissionState,
  posted: readonly Posted[],
): RecomputedCommission {
  const order = toCounted(snapshot);
  const countedRefunds = countRefunds(order, refunds);
  const recomputedCommission: RecomputedCommission = { ...recomputeFrom(order, countedRefunds, state), entries: [] };
  if (!order.paidAt) return recomputedCommission;
  const target = computeTarget(order, countedRefunds, recomputedCommission);
  return {
    ...recomputedCommission,
    entries: toEntries(target, toSalePostings(order, recomputedCommission, state), posted, order.isTest),
  };
}
