import { DAY_MS } from '../../kit/values/duration.ts';
import type { LinkType } from '../links/links.ts';
import { isBelow, type Rules } from '../rules/attribution-rules.ts';
import type { Attribution } from './orders.shapes.ts';

/** The facts of a code or link that the decision needs. */
export interface Assignment {
  id: string;
  type: LinkType;
  /** Null when it counts at every store of the brand. */
  integrationId: string | null;
  attributionDays: number;
  /** Null: it does not. */
  paysRenewals: boolean | null;
}

export interface RedeemedCode<A extends Assignment> {
  code: string;
  /** Undefined when no assignment of the brand has it. */
  assignment: A | undefined;
  /** Whether it was active when the order was placed. */
  wasActive: boolean;
}

export interface CarriedClick<A extends Assignment> {
  token: string;
  /** Undefined when we did not sign it. */
  click: { linkId: string; at: Date; id: string } | undefined;
  /** Undefined when the click's link is not the brand's. */
  assignment: A | undefined;
}

export interface OrderToAttribute<A extends Assignment> {
  integrationId: string;
  occurredAt: Date;
  baseMinor: number;
  currency: string;
  isTest: boolean;
  /** A later order of a subscription. */
  isRenewal: boolean;
  rules: Rules;
  /** In the order's own list. */
  codes: readonly RedeemedCode<A>[];
  clicks: readonly CarriedClick<A>[];
}

type Candidate = Attribution['candidates'][number];
type CodeCandidate = Extract<Candidate, { type: 'code' }>;
type ClickCandidate = Extract<Candidate, { type: 'click' }>;

export interface Decision<A> {
  rule: Attribution['rule'];
  reason: Attribution['reason'];
  winner: A | undefined;
  code: string | null;
  clickId: string | null;
  candidates: Candidate[];
}

/** Enough of what a store sent to find it again there; a click is named by its public part. */
const MAX_TEXT = 100;
export const truncate = (text: string) => text.slice(0, MAX_TEXT).toWellFormed();
export const toClickId = ({ token, click }: Pick<CarriedClick<Assignment>, 'token' | 'click'>) =>
  click?.id ?? truncate(token);

const isBoundElsewhere = ({ integrationId }: Assignment, store: string) =>
  integrationId !== null && integrationId !== store;

/** The facts of an order that keep an assignment from earning it, however the order came by it. */
export type OrderTerms = Pick<
  OrderToAttribute<Assignment>,
  'isTest' | 'isRenewal' | 'baseMinor' | 'currency' | 'rules'
>;

export function findTermsProblem({ paysRenewals }: Pick<Assignment, 'paysRenewals'>, order: OrderTerms) {
  if (order.isTest) return 'test_order' as const;
  if (order.isRenewal && paysRenewals !== true) return 'renewal' as const;
  return isBelow(order.rules, order) ? ('below_minimum' as const) : null;
}

function findCodeProblem<A extends Assignment>(
  { assignment, wasActive }: RedeemedCode<A>,
  order: OrderToAttribute<A>,
): CodeCandidate['reason'] {
  if (!assignment) return 'unknown_code';
  if (isBoundElsewhere(assignment, order.integrationId)) return 'other_store';
  return wasActive ? findTermsProblem(assignment, order) : 'code_inactive';
}

/** Stores report whole seconds, so a click within the second of an order counts as before it. */
export const getLatestClickMs = (orderedAt: Date): number =>
  orderedAt.getTime() + (orderedAt.getUTCMilliseconds() === 0 ? 999 : 0);

export function testWindow(
  { at }: { at: Date },
  { attributionDays }: Pick<Assignment, 'attributionDays'>,
  orderedAt: Date,
) {
  const endsAt = new Date(at.getTime() + attributionDays * DAY_MS);
  return {
    clicked_at: at.toISOString(),
    attribution_days: attributionDays,
    window_ends_at: endsAt.toISOString(),
    ordered_at: orderedAt.toISOString(),
    inside: at.getTime() <= getLatestClickMs(orderedAt) && orderedAt <= endsAt,
  };
}

function findClickProblem<A extends Assignment>(
  { click, assignment }: CarriedClick<A>,
  order: OrderToAttribute<A>,
): ClickCandidate['reason'] {
  const { integrationId, occurredAt } = order;
  if (!click) return 'invalid_signature';
  if (!assignment) return 'foreign_brand';
  if (isBoundElsewhere(assignment, integrationId)) return 'other_store';
  if (click.at.getTime() > getLatestClickMs(occurredAt)) return 'click_after_order';
  return testWindow(click, assignment, occurredAt).inside ? findTermsProblem(assignment, order) : 'click_outside_window';
}

/** A code or click with what keeps it from winning, if anything does but the others. */
export interface JudgedCandidate<A> {
  /** Its `reason` is its own problem; null if it qualifies. */
  candidate: Candidate;
  assignment: A | undefined;
  /** As the customer redeemed it. */
  code: string | null;
}

/** The click that the model prefers of those that qualify; of two at the same moment always the same one. */
function pickClick<A>(clicks: readonly JudgedCandidate<A>[], { model }: Rules): JudgedCandidate<A> | undefined {
  const sign = model === 'first_click' ? 1 : -1;
  const atOf = ({ candidate }: JudgedCandidate<A>) =>
    candidate.type === 'click' && candidate.window ? Date.parse(candidate.window.clicked_at) : 0;
  const nameOfOne = ({ candidate }: JudgedCandidate<A>) => (candidate.type === 'click' ? candidate.click_id : '');
  return clicks.toSorted((a, b) => sign * (atOf(a) - atOf(b)) || (nameOfOne(a) < nameOfOne(b) ? -1 : 1))[0];
}

/** Each once: a store may name a code per line item, and a click both in a cookie and in a query. */
function uniqueBy<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  const kept = new Map<string, T>();
  for (const value of values) if (!kept.has(keyOf(value))) kept.set(keyOf(value), value);
  return [...kept.values()];
}

const judgeCode = <A extends Assignment>(one: RedeemedCode<A>, order: OrderToAttribute<A>): JudgedCandidate<A> => ({
  candidate: {
    type: 'code',
    code: truncate(one.code),
    link_id: one.assignment?.id ?? null,
    active_at_order: one.assignment ? one.wasActive : null,
    outcome: 'lost',
    reason: findCodeProblem(one, order),
  },
  ...{ assignment: one.assignment, code: one.code },
});

const judgeClick = <A extends Assignment>(one: CarriedClick<A>, order: OrderToAttribute<A>): JudgedCandidate<A> => ({
  candidate: {
    type: 'click',
    click_id: toClickId(one),
    link_id: one.assignment?.id ?? null,
    window: one.click && one.assignment ? testWindow(one.click, one.assignment, order.occurredAt) : null,
    outcome: 'lost',
    reason: findClickProblem(one, order),
  },
  ...{ assignment: one.assignment, code: null },
});

/** The candidate as it is recorded: with its own problem, or what it lost to. */
function recordOutcome(candidate: Candidate, winner: Candidate | undefined, { model }: Rules): Candidate {
  if (candidate === winner) return { ...candidate, outcome: 'won', reason: null };
  if (candidate.type === 'code') {
    return { ...candidate, reason: candidate.reason ?? (winner?.type === 'click' ? 'click_wins' : 'later_code') };
  }
  const lostTo = model === 'first_click' ? 'later_click' : 'older_click';
  return { ...candidate, reason: candidate.reason ?? (winner?.type === 'code' ? 'code_wins' : lostTo) };
}

function getUnattributedReason({ isTest }: { isTest: boolean }, candidates: readonly Candidate[]): Decision<never>['reason'] {
  if (isTest) return 'test_order';
  return candidates.length === 0 ? 'no_candidates' : 'no_candidate_qualified';
}

/**
 * Decides among what came with an order, in its own order: the first code that qualifies, else the click that the model
 * prefers; clicks come first if the rules say so. Every other candidate keeps the reason why it lost.
 */
export function pickWinner<A>(judged: readonly JudgedCandidate<A>[], rules: Rules, order: { isTest: boolean }): Decision<A> {
  const qualified = judged.filter(({ candidate }) => candidate.reason === null);
  const code = qualified.find(({ candidate }) => candidate.type === 'code');
  const click = pickClick(
    qualified.filter(({ candidate }) => candidate.type === 'click'),
    rules,
  );
  const winner = rules.couponPolicy === 'click_wins' ? (click ?? code) : (code ?? click);
  const candidates = judged.map(({ candidate }) => recordOutcome(candidate, winner?.candidate, rules));
  const won = winner?.candidate;
  return {
    rule: won ? (won.type === 'code' ? 'code' : rules.model) : null,
    reason: won ? null : getUnattributedReason(order, candidates),
    winner: winner?.assignment,
    code: winner?.code ?? null,
    clickId: won?.type === 'click' ? won.click_id : null,
    candidates,
  };
}

/** Decides who earns an order, by its codes and clicks and the brand's rules. */
export function attributeOrder<A extends Assignment>(order: OrderToAttribute<A>): Decision<A> {
  const codes = uniqueBy(order.codes, ({ code }) => code.toLowerCase());
  const clicks = uniqueBy(order.clicks, ({ token }) => token);
  const judged = [...codes.map((one) => judgeCode(one, order)), ...clicks.map((one) => judgeClick(one, order))];
  return pickWinner(judged, order.rules, order);
}
