import { DAY_MS } from '../../kit/values/duration.ts';
import { foldCase } from '../../kit/values/fold.ts';
import type { LinkType } from '../links/links.ts';
import { isBelowMinimum, type Rules } from '../rules/attribution-rules.ts';
import type { Attribution, ClickCandidate, CodeCandidate } from './attribution.shapes.ts';

/** The facts of a code or link that the decision needs. */
export interface Assignment {
  id: string;
  type: LinkType;
  /** Null when it counts at every store of the brand. */
  integrationId: string | null;
  attributionDays: number;
  /** Null means false. */
  paysRenewals: boolean | null;
}

export interface RedeemedCode<A extends Assignment> {
  code: string;
  /** Undefined if no code of the brand matches. */
  assignment: A | undefined;
  /** True if it was active when the order was placed. */
  wasActive: boolean;
}

export interface CarriedClick<A extends Assignment> {
  token: string;
  /** Undefined if we did not sign it. */
  click: { linkId: string; at: Date; id: string } | undefined;
  /** Undefined if the link is not the brand's. */
  assignment: A | undefined;
}

interface OrderToAttribute<A extends Assignment> {
  integrationId: string;
  occurredAt: Date;
  baseMinor: number;
  currency: string;
  isTest: boolean;
  /** The order renews a subscription. */
  isRenewal: boolean;
  rules: Rules;
  /** Codes in the order's own sequence. */
  codes: readonly RedeemedCode<A>[];
  clicks: readonly CarriedClick<A>[];
}

/** A code or click that an order carries. */
type OrderCandidate = CodeCandidate | ClickCandidate;

export interface Decision<A> {
  rule: Attribution['rule'];
  reason: Attribution['reason'];
  winner: A | undefined;
  code: string | null;
  clickId: string | null;
  candidates: Attribution['candidates'];
}

/** Length at which codes and click ids of a store are cut; enough to find them there. */
const MAX_TEXT = 100;
export const truncate = (text: string) => text.slice(0, MAX_TEXT).toWellFormed();
export const toClickId = ({ token, click }: Pick<CarriedClick<Assignment>, 'token' | 'click'>) =>
  click?.id ?? truncate(token);

const isBoundElsewhere = ({ integrationId }: Assignment, store: string) =>
  integrationId !== null && integrationId !== store;

/** Facts of an order that can disqualify an assignment, whether a code or a click named it. */
export type OrderTerms = Pick<
  OrderToAttribute<Assignment>,
  'isTest' | 'isRenewal' | 'baseMinor' | 'currency' | 'rules'
>;

export function findTermsProblem({ paysRenewals }: Pick<Assignment, 'paysRenewals'>, order: OrderTerms) {
  if (order.isTest) return 'test_order' as const;
  if (order.isRenewal && paysRenewals !== true) return 'renewal' as const;
  return isBelowMinimum(order.rules, order) ? ('below_minimum' as const) : null;
}

function findCodeProblem<A extends Assignment>(
  { assignment, wasActive }: RedeemedCode<A>,
  order: OrderToAttribute<A>,
): CodeCandidate['reason'] {
  if (!assignment) return 'unknown_code';
  if (isBoundElsewhere(assignment, order.integrationId)) return 'other_store';
  return wasActive ? findTermsProblem(assignment, order) : 'code_inactive';
}

/** Returns the end of the order's second: stores report whole seconds, so a click within it counts as earlier. */
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
  return testWindow(click, assignment, occurredAt).inside
    ? findTermsProblem(assignment, order)
    : 'click_outside_window';
}

/** A candidate with its own problem, before it is compared with the others. */
export interface JudgedCandidate<A> {
  /** `reason` is the candidate's own problem; null if it qualifies. */
  candidate: OrderCandidate;
  assignment: A | undefined;
  /** As the customer redeemed it. */
  code: string | null;
}

/** Picks the first or last click, by the model. Ties are broken by id, so that the result is stable. */
function pickClick<A>(clicks: readonly JudgedCandidate<A>[], { model }: Rules): JudgedCandidate<A> | undefined {
  const sign = model === 'first_click' ? 1 : -1;
  const sortable = clicks.map((click) => {
    const { candidate } = click;
    if (candidate.type !== 'click') return { click, clickedMs: 0, clickId: '' };
    const clickedMs = candidate.window ? Date.parse(candidate.window.clicked_at) : 0;
    return { click, clickedMs, clickId: candidate.click_id };
  });
  sortable.sort((a, b) => sign * (a.clickedMs - b.clickedMs) || (a.clickId < b.clickId ? -1 : 1));
  return sortable[0]?.click;
}

/** Removes duplicates: a store may name a code for each line item, and a click both in a cookie and in a query. */
function uniqueBy<T>(values: readonly T[], toKey: (value: T) => string): T[] {
  const byKey = new Map<string, T>();
  for (const value of values) if (!byKey.has(toKey(value))) byKey.set(toKey(value), value);
  return [...byKey.values()];
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
  assignment: one.assignment,
  code: one.code,
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
  assignment: one.assignment,
  code: null,
});

/** Sets the recorded outcome of a candidate: its own problem, or the kind of candidate that it lost to. */
function recordOutcome(
  candidate: OrderCandidate,
  winner: OrderCandidate | undefined,
  { model }: Rules,
): OrderCandidate {
  if (candidate === winner) return { ...candidate, outcome: 'won', reason: null };
  if (candidate.type === 'code') {
    return { ...candidate, reason: candidate.reason ?? (winner?.type === 'click' ? 'click_wins' : 'later_code') };
  }
  const lostTo = model === 'first_click' ? 'later_click' : 'older_click';
  return { ...candidate, reason: candidate.reason ?? (winner?.type === 'code' ? 'code_wins' : lostTo) };
}

/**
 * Decides among what came with an order, in its own order: the first code that qualifies, else the click that the model
 * prefers; clicks come first if the rules say so. Every other candidate keeps the reason why it lost.
 */
export function pickWinner<A>(
  judgedCandidates: readonly JudgedCandidate<A>[],
  rules: Rules,
  order: { isTest: boolean },
): Decision<A> {
  const qualifiedCandidates = judgedCandidates.filter(({ candidate }) => candidate.reason === null);
  const code = qualifiedCandidates.find(({ candidate }) => candidate.type === 'code');
  const click = pickClick(
    qualifiedCandidates.filter(({ candidate }) => candidate.type === 'click'),
    rules,
  );
  const winner = rules.couponPolicy === 'click_wins' ? (click ?? code) : (code ?? click);
  const candidates = judgedCandidates.map(({ candidate }) => recordOutcome(candidate, winner?.candidate, rules));
  const won = winner?.candidate;
  const missing = candidates.length === 0 ? 'no_candidates' : 'no_candidate_qualified';
  return {
    rule: won ? (won.type === 'code' ? 'code' : rules.model) : null,
    reason: won ? null : order.isTest ? 'test_order' : missing,
    winner: winner?.assignment,
    code: winner?.code ?? null,
    clickId: won?.type === 'click' ? won.click_id : null,
    candidates,
  };
}

/** Decides who earns an order, by its codes and clicks and the brand's rules. */
export function attributeOrder<A extends Assignment>(order: OrderToAttribute<A>): Decision<A> {
  const codes = uniqueBy(order.codes, ({ code }) => foldCase(code));
  const clicks = uniqueBy(order.clicks, ({ token }) => token);
  const judgedCandidates = [
    ...codes.map((one) => judgeCode(one, order)),
    ...clicks.map((one) => judgeClick(one, order)),
  ];
  return pickWinner(judgedCandidates, order.rules, order);
}
