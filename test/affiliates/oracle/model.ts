/**
 * What decisions.md §4 to §6 says of one brand, as plainly as it can be said: facts in lists, and every figure computed
 * anew from all of them. Nothing of src/ decides anything here.
 */
import { attribute } from './attribution.ts';
import { attributeToCustomer, beginCustomer, type OracleCustomer } from './customers.ts';
import { DAY_MS } from './history.ts';

export interface OracleLink {
  id: string;
  creator: number;
  type: 'discount_code' | 'link';
  value: string;
  currency: string;
  ratePpm: number;
  holdDays: number;
  attributionDays: number;
  paysRenewals: boolean;
  store: number | null;
  /** What it was from when on, in order. */
  states: { at: number; active: boolean }[];
}

export interface OracleClick {
  id: string;
  token: string;
  /** Undefined: of another brand. */
  link: OracleLink | undefined;
  at: number;
  isCounted: boolean;
  /** What the redirect makes of it. */
  kind: 'counted' | 'repeat' | 'bot' | 'head' | 'prefetch';
  /** Empty: unknown. */
  country: string;
  device: 'mobile' | 'desktop' | 'bot';
  referrer: string;
}

export interface Refund {
  id: string;
  amountMinor: number;
  at: number;
  /** When the store made it, whatever day it counts for. */
  createdAt: number;
}

export interface Dispute {
  status: 'open' | 'won' | 'lost';
  at: number;
}

/** What a store says of an order at one time. */
export interface Reported {
  store: number;
  orderId: string;
  currency: string;
  baseMinor: number;
  occurredAt: number;
  paidAt: number | null;
  cancelledAt: number | null;
  updatedAt: number;
  /** Which creator of the brand the customer is. */
  customer: number | null;
  codes: string[];
  tokens: string[];
  refunds: Refund[];
  isTest: boolean;
  isRenewal: boolean;
  dispute: Dispute | null;
}

export interface OracleCommission {
  link: OracleLink;
  ratePpm: number;
  holdDays: number;
  clickId: string | null;
  code: string | null;
  /** What the brand made of it; the facts may say otherwise. */
  review: 'pending' | 'approved' | 'rejected' | 'paid';
  /** Fixed by its payment. */
  paidMinor: number;
  /** What the brand recorded without an order; null where an order decides. */
  manualMinor: number | null;
  /** The customer who decided it; undefined where what the order carried did. */
  customer?: OracleCustomer;
}

export interface OracleOrder {
  reported: Reported[];
  /** All that were ever reported, and when by the store's clock last. */
  refunds: (Refund & { isLate: boolean; toldAt: number })[];
  /** Undefined until the order itself is reported; null when it pays nobody. */
  commission: OracleCommission | null | undefined;
  /** What its store said of its one dispute. */
  disputes: Dispute[];
  /** Codes and tokens that a decision has seen. */
  seen: Set<string>;
}

export interface Oracle {
  currency: string;
  isAutomatic: boolean;
  links: OracleLink[];
  clicks: OracleClick[];
  orders: Map<string, OracleOrder>;
  payouts: OraclePayout[];
  customers: OracleCustomer[];
}

/** Money that went out. */
export interface OraclePayout {
  id: string;
  at: number;
  creator: number;
  currency: string;
  amountMinor: number;
  isFee: boolean;
  /** What is there for commissions to come. */
  leftMinor: number;
  allocatedMinor: number;
  nettedMinor: number;
}

export const keyOf = (store: number, orderId: string): string => `${store} ${orderId}`;

/** A share in millionths, half to even; exact up to 9 billion. */
function shareOf(minor: number, ppm: number): number {
  const product = minor * ppm;
  const whole = Math.floor(product / 1_000_000);
  const rest = product - whole * 1_000_000;
  if (rest === 500_000) return whole + (whole % 2);
  return rest > 500_000 ? whole + 1 : whole;
}

function orderOf(oracle: Oracle, key: string): OracleOrder {
  const order = oracle.orders.get(key) ?? {
    reported: [],
    refunds: [],
    commission: undefined,
    disputes: [],
    seen: new Set(),
  };
  oracle.orders.set(key, order);
  return order;
}

type HeardRefunds = Pick<Reported, 'refunds' | 'updatedAt'>;

export function hearRefunds(oracle: Oracle, key: string, { refunds, updatedAt: toldAt }: HeardRefunds): void {
  const order = orderOf(oracle, key);
  const isLate = order.commission?.review === 'paid';
  for (const refund of refunds) {
    const known = order.refunds.find(({ id }) => id === refund.id);
    if (known) known.toldAt = Math.max(known.toldAt, toldAt);
    else order.refunds.push({ ...refund, isLate, toldAt });
  }
}

export function hearOrder(oracle: Oracle, reported: Reported): void {
  const key = keyOf(reported.store, reported.orderId);
  hearRefunds(oracle, key, reported);
  const order = orderOf(oracle, key);
  order.reported.push(reported);
  if (reported.dispute) order.disputes.push(reported.dispute);
  const [first = reported] = order.reported;
  const isFirst = order.commission === undefined;
  // One that paid nobody may be decided again for a day, by what no decision has seen.
  if (!isFirst && (order.commission || reported.updatedAt > first.occurredAt + DAY_MS)) return;
  const codes = reported.codes.filter((code) => !order.seen.has(code.toUpperCase()));
  const tokens = reported.tokens.filter((token) => !order.seen.has(token));
  for (const one of [...codes.map((code) => code.toUpperCase()), ...tokens]) order.seen.add(one);
  if (!isFirst && codes.length + tokens.length === 0) return;
  decide(oracle, order, { ...reported, codes, tokens });
}

function decide(oracle: Oracle, order: OracleOrder, reported: Reported): void {
  const won = attribute(oracle, reported);
  order.commission = won
    ? {
        ...won,
        ...{ ratePpm: won.link.ratePpm, holdDays: won.link.holdDays, review: 'pending', paidMinor: 0 },
        manualMinor: null,
      }
    : attributeToCustomer(oracle, reported);
  const row = won && order.commission && beginCustomer(oracle, order, order.commission, reported);
  if (!row) return;
  // Renewals that came before the order that brought their customer, oldest first.
  const waiting = [...oracle.orders.values()].flatMap((one) => {
    const [first] = one.reported;
    const isOfRow = first && one.commission === null && first.customer === row.customer && first.occurredAt > row.since;
    return isOfRow ? [{ one, first }] : [];
  });
  for (const { one, first } of waiting.toSorted((a, b) => a.first.occurredAt - b.first.occurredAt)) {
    one.commission = attributeToCustomer(oracle, first);
  }
}

export function hearDispute(oracle: Oracle, key: string, dispute: Dispute): void {
  orderOf(oracle, key).disputes.push(dispute);
}

/** Since when a dispute is lost: by the last word on it, and the first report of the loss. */
function lostAtOf({ disputes }: OracleOrder): number | null {
  const decided = disputes.filter(({ status }) => status !== 'open');
  const last = Math.max(...decided.map(({ at }) => at));
  const isLost = decided.some(({ status, at }) => status === 'lost' && at === last);
  return isLost ? Math.min(...decided.filter(({ status }) => status === 'lost').map(({ at }) => at)) : null;
}

const earliest = (times: readonly (number | null)[]): number | null =>
  times.reduce((a, b) => (a === null ? b : b === null ? a : Math.min(a, b)), null);

/** All that the facts of an order say now. */
function factsOf(order: OracleOrder) {
  const { reported, refunds } = order;
  const newest = reported.reduce((a, b) => (b.updatedAt > a.updatedAt ? b : a));
  const { baseMinor, occurredAt, currency } = newest;
  const paidAt = earliest(reported.map((one) => one.paidAt));
  const cancelledAt = earliest(reported.map((one) => one.cancelledAt));
  let left = baseMinor;
  // The newest whole order has all of them: one that was last reported before it was taken back.
  const kept = refunds.filter(({ toldAt }) => toldAt >= newest.updatedAt);
  const inOrder = kept.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  const counted = inOrder.map(({ amountMinor, at, isLate }) => {
    const minor = Math.min(amountMinor, left);
    left -= minor;
    return { minor, at, isLate };
  });
  const endedAt = earliest([cancelledAt, lostAtOf(order)]);
  if (paidAt !== null && endedAt !== null && left > 0) {
    counted.push({ minor: left, at: endedAt, isLate: true });
    left = 0;
  }
  return { baseMinor, occurredAt, currency, paidAt, endedAt, counted, leftMinor: left };
}

type Facts = ReturnType<typeof factsOf>;

const isTakenBack = ({ baseMinor, leftMinor, endedAt }: Facts) =>
  endedAt !== null || (baseMinor > 0 && leftMinor === 0);

/** What a commission that was paid loses, and when: where a lowered sale counts, and at each late refund's time. */
function lossesOf({ baseMinor, occurredAt, counted }: Facts, { paidMinor, ratePpm }: OracleCommission) {
  const early = counted.filter(({ isLate }) => !isLate).reduce((sum, { minor }) => sum + minor, 0);
  let rest = baseMinor - early;
  let owed = paidMinor;
  const losses: { minor: number; at: number }[] = [];
  for (const step of [{ minor: 0, at: occurredAt }, ...counted.filter(({ isLate }) => isLate)]) {
    rest -= step.minor;
    const due = Math.min(owed, shareOf(rest, ratePpm));
    losses.push({ minor: owed - due, at: step.at });
    owed = due;
  }
  return losses.filter(({ minor }) => minor > 0);
}

/** Where a commission stands. */
function standingOf(order: OracleOrder, commission: OracleCommission) {
  const facts = factsOf(order);
  const { review, paidMinor, ratePpm, holdDays } = commission;
  const isPaid = review === 'paid';
  return {
    ...facts,
    status: !isPaid && isTakenBack(facts) ? ('rejected' as const) : review,
    dueMinor: isPaid ? paidMinor : (commission.manualMinor ?? shareOf(facts.leftMinor, ratePpm)),
    losses: isPaid && commission.manualMinor === null ? lossesOf(facts, commission) : [],
    approvableAt: facts.paidAt === null ? null : facts.paidAt + holdDays * DAY_MS,
  };
}

/** Every order that pays somebody. */
export function standings(oracle: Oracle) {
  return [...oracle.orders.values()].flatMap((order) => {
    const { commission } = order;
    return commission ? [{ ...standingOf(order, commission), commission, order }] : [];
  });
}

export type ReviewOutcome = 'moves' | 'skipped' | 'paid' | 'order_not_paid' | 'review_period_active';

export function reviewOutcome(order: OracleOrder, to: 'approved' | 'rejected', now: number): ReviewOutcome {
  if (!order.commission) throw new Error('It pays nobody.');
  const standing = standingOf(order, order.commission);
  const { status, approvableAt } = standing;
  if (status === 'paid') return to === 'approved' ? 'skipped' : 'paid';
  if (status === to) return 'skipped';
  if (to === 'rejected') return 'moves';
  if (isTakenBack(standing) || approvableAt === null) return 'order_not_paid';
  return approvableAt > now ? 'review_period_active' : 'moves';
}
