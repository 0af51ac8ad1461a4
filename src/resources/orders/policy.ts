import type { LinkType } from '../../engines/postgres/attribution-tables.ts';
import { DAY_MS } from '../../values/duration.ts';
import type { Attribution } from './schema.ts';

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
  isTest: boolean;
  /** A later order of a subscription. */
  isRenewal: boolean;
  /** In the order's own list. */
  codes: readonly RedeemedCode<A>[];
  clicks: readonly CarriedClick<A>[];
}

type Candidate = Attribution['candidates'][number];
type CodeCandidate = Extract<Candidate, { type: 'code' }>;
type ClickCandidate = Extract<Candidate, { type: 'click' }>;

export interface Decision<A extends Assignment> {
  rule: Attribution['rule'];
  reason: Attribution['reason'];
  winner: A | undefined;
  code: string | null;
  clickId: string | null;
  candidates: Candidate[];
}

/** Enough of what a store sent to find it again there; a click is named by its public part. */
const MAX_TEXT = 100;
export const shortened = (text: string) => text.slice(0, MAX_TEXT).toWellFormed();
export const nameOf = ({ token, click }: Pick<CarriedClick<Assignment>, 'token' | 'click'>) =>
  click?.id ?? shortened(token);

const isBoundElsewhere = ({ integrationId }: Assignment, store: string) =>
  integrationId !== null && integrationId !== store;

/** What keeps an assignment from earning an order, however it came by it. */
function termsProblem(
  { paysRenewals }: Assignment,
  { isTest, isRenewal }: Pick<OrderToAttribute<Assignment>, 'isTest' | 'isRenewal'>,
) {
  if (isTest) return 'test_order' as const;
  return isRenewal && paysRenewals !== true ? ('renewal' as const) : null;
}

function codeProblem<A extends Assignment>(
  { assignment, wasActive }: RedeemedCode<A>,
  order: OrderToAttribute<A>,
): CodeCandidate['reason'] {
  if (!assignment) return 'unknown_code';
  if (isBoundElsewhere(assignment, order.integrationId)) return 'other_store';
  return wasActive ? termsProblem(assignment, order) : 'code_inactive';
}

/** Stores report whole seconds, so a click within the second of an order counts as before it. */
export const lastMomentOf = (orderedAt: Date): number =>
  orderedAt.getTime() + (orderedAt.getUTCMilliseconds() === 0 ? 999 : 0);

function windowOf({ at }: { at: Date }, { attributionDays }: Assignment, orderedAt: Date) {
  const endsAt = new Date(at.getTime() + attributionDays * DAY_MS);
  return {
    clicked_at: at.toISOString(),
    attribution_days: attributionDays,
    window_ends_at: endsAt.toISOString(),
    ordered_at: orderedAt.toISOString(),
    inside: at.getTime() <= lastMomentOf(orderedAt) && orderedAt <= endsAt,
  };
}

function clickProblem<A extends Assignment>(
  { click, assignment }: CarriedClick<A>,
  order: OrderToAttribute<A>,
): ClickCandidate['reason'] {
  const { integrationId, occurredAt } = order;
  if (!click) return 'invalid_signature';
  if (!assignment) return 'foreign_brand';
  if (isBoundElsewhere(assignment, integrationId)) return 'other_store';
  if (click.at.getTime() > lastMomentOf(occurredAt)) return 'click_after_order';
  return windowOf(click, assignment, occurredAt).inside ? termsProblem(assignment, order) : 'click_outside_window';
}

/** The last qualifying click; of two at the same moment always the same one. */
function lastOf<A extends Assignment>(clicks: readonly CarriedClick<A>[]): CarriedClick<A> | undefined {
  return clicks.toSorted((a, b) => rankOf(b) - rankOf(a) || (a.token < b.token ? -1 : 1))[0];
}

const rankOf = <A extends Assignment>({ click }: CarriedClick<A>) => click?.at.getTime() ?? 0;

/** Each once: a store may name a code per line item, and a click both in a cookie and in a query. */
function distinct<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  const kept = new Map<string, T>();
  for (const value of values) if (!kept.has(keyOf(value))) kept.set(keyOf(value), value);
  return [...kept.values()];
}

function codeCandidate<A extends Assignment>(
  one: RedeemedCode<A>,
  order: OrderToAttribute<A>,
  winner: RedeemedCode<A> | undefined,
): CodeCandidate {
  const { code, assignment, wasActive } = one;
  const hasWon = one === winner;
  return {
    type: 'code',
    code: shortened(code),
    link_id: assignment?.id ?? null,
    active_at_order: assignment ? wasActive : null,
    outcome: hasWon ? 'won' : 'lost',
    reason: hasWon ? null : (codeProblem(one, order) ?? 'later_code'),
  };
}

function clickCandidate<A extends Assignment>(
  one: CarriedClick<A>,
  order: OrderToAttribute<A>,
  won: { click: CarriedClick<A> | undefined; byCode: boolean },
): ClickCandidate {
  const { click, assignment } = one;
  const hasWon = one === won.click;
  return {
    type: 'click',
    click_id: nameOf(one),
    link_id: assignment?.id ?? null,
    window: click && assignment ? windowOf(click, assignment, order.occurredAt) : null,
    outcome: hasWon ? 'won' : 'lost',
    reason: hasWon ? null : (clickProblem(one, order) ?? (won.byCode ? 'code_wins' : 'older_click')),
  };
}

function whyNobody({ isTest }: { isTest: boolean }, candidates: readonly Candidate[]): Decision<never>['reason'] {
  if (isTest) return 'test_order';
  return candidates.length === 0 ? 'no_candidates' : 'no_candidate_qualified';
}

/**
 * Decides who earns an order: the first redeemed code of the brand that was active when the order was placed, else the last
 * click within its link's window. Every other candidate keeps the reason why it lost.
 */
export function attribute<A extends Assignment>(order: OrderToAttribute<A>): Decision<A> {
  const codes = distinct(order.codes, ({ code }) => code.toLowerCase());
  const clicks = distinct(order.clicks, ({ token }) => token);
  const code = codes.find((one) => codeProblem(one, order) === null);
  const click = code ? undefined : lastOf(clicks.filter((one) => clickProblem(one, order) === null));
  const candidates = [
    ...codes.map((one) => codeCandidate(one, order, code)),
    ...clicks.map((one) => clickCandidate(one, order, { click, byCode: code !== undefined })),
  ];
  return {
    rule: code ? 'code' : click ? 'last_click' : null,
    reason: code || click ? null : whyNobody(order, candidates),
    winner: code?.assignment ?? click?.assignment,
    code: code?.code ?? null,
    clickId: click ? nameOf(click) : null,
    candidates,
  };
}
