import { DAY_MS } from '../../kit/values/duration.ts';
import { DEFAULT_RULES, isBelowMinimum, type Rules } from '../rules/attribution-rules.ts';
import {
  type Decision,
  findTermsProblem,
  type JudgedCandidate,
  type OrderTerms,
  pickWinner,
  testWindow,
} from './attribute.ts';
import type { Attribution, AttributionCandidate, ClickCandidate, CodeCandidate } from './attribution.shapes.ts';
import { toRatePpm } from './pricing.ts';
import {
  type CommissionState,
  type KnownRefund,
  NEW_COMMISSION,
  type OrderSnapshot,
  recomputeCommission,
} from './recompute.ts';

/** Rules of a simulation. Undefined ones stay as each order was decided. */
export interface SimulatedRules {
  attributionDays: number | undefined;
  holdDays: number | undefined;
  model: Rules['model'] | undefined;
  couponPolicy: Rules['couponPolicy'] | undefined;
  ratePpm: number | undefined;
  /** Null for no minimum. */
  minOrder: Rules['minOrder'] | undefined;
}

type RecordedCustomer = Extract<AttributionCandidate, { type: 'customer' }>;

/** An order with its recorded decision. */
interface RecordedOrder extends Omit<OrderTerms, 'rules'> {
  occurredAt: Date;
  attribution: Attribution;
}

/** Reasons of candidates that only another candidate kept from winning. */
const LOST_TO_ANOTHER: readonly unknown[] = ['later_code', 'click_wins', 'older_click', 'later_click', 'code_wins'];
/** Problems that are checked after the attribution window. */
const AFTER_WINDOW: readonly unknown[] = [null, 'click_outside_window', 'test_order', 'renewal', 'below_minimum'];

type OrderAmount = Pick<RecordedOrder, 'baseMinor' | 'currency'>;

/** Applies another minimum, which is checked last. */
function applyMinimum<R extends string>(reason: R | null, order: OrderAmount, minOrder: SimulatedRules['minOrder']) {
  if (minOrder === undefined || (reason !== null && reason !== 'below_minimum')) return reason;
  return isBelowMinimum({ minOrder }, order) ? ('below_minimum' as const) : null;
}

const getOwnProblem = <R extends string>(reason: R | null): R | null =>
  LOST_TO_ANOTHER.includes(reason) ? null : reason;

const rejudgeCode = (candidate: CodeCandidate, order: OrderAmount, { minOrder }: SimulatedRules): CodeCandidate => ({
  ...candidate,
  outcome: 'lost',
  reason: applyMinimum(getOwnProblem(candidate.reason), order, minOrder),
});

function rejudgeClick(
  candidate: ClickCandidate,
  order: RecordedOrder & OrderTerms,
  { attributionDays, minOrder }: SimulatedRules,
  paysRenewals: boolean | null,
): ClickCandidate {
  const own = getOwnProblem(candidate.reason);
  const lostCandidate = { ...candidate, outcome: 'lost' as const, reason: applyMinimum(own, order, minOrder) };
  if (attributionDays === undefined || !candidate.window || !AFTER_WINDOW.includes(own)) return lostCandidate;
  const at = new Date(candidate.window.clicked_at);
  const window = testWindow({ at }, { attributionDays }, order.occurredAt);
  if (!window.inside) return { ...lostCandidate, window, reason: 'click_outside_window' };
  return own === 'click_outside_window'
    ? { ...lostCandidate, window, reason: findTermsProblem({ paysRenewals }, order) }
    : { ...lostCandidate, window };
}

/** Lets the customer decide as recorded, unless something that the order carries wins now. */
function addCustomer(
  carried: Decision<string>,
  claim: RecordedCustomer,
  order: OrderAmount,
  { minOrder }: SimulatedRules,
): Decision<string> {
  const own = applyMinimum(claim.reason === 'own_code_or_click' ? null : claim.reason, order, minOrder);
  const isWinner = carried.winner === undefined && own === null && claim.link_id !== null;
  if (!isWinner) {
    const lostClaim = { ...claim, outcome: 'lost' as const, reason: own ?? ('own_code_or_click' as const) };
    return { ...carried, candidates: [...carried.candidates, lostClaim] };
  }
  const won = { ...claim, outcome: 'won' as const, reason: null };
  return {
    rule: claim.by === 'subscription' || claim.by === 'product' ? 'subscription' : 'customer',
    reason: null,
    winner: claim.link_id ?? undefined,
    code: null,
    clickId: null,
    candidates: [...carried.candidates, won],
  };
}

export interface SimulatedDecision extends Decision<string> {
  rules: Rules;
}

/**
 * Decides a recorded order among the same candidates, by the same function, under other rules. The winner is its
 * id. What the rules do not concern stays as it was found when the order came.
 */
export function simulateDecision(
  order: RecordedOrder,
  simulated: SimulatedRules,
  paysRenewals: (linkId: string) => boolean | null,
): SimulatedDecision {
  const { attribution } = order;
  const { rules: recorded } = attribution;
  const rules: Rules = {
    model: simulated.model ?? recorded?.model ?? DEFAULT_RULES.model,
    couponPolicy: simulated.couponPolicy ?? recorded?.coupon_policy ?? DEFAULT_RULES.couponPolicy,
    minOrder: simulated.minOrder === undefined ? (recorded?.min_order ?? null) : simulated.minOrder,
    customerPolicy: recorded?.customer_policy ?? DEFAULT_RULES.customerPolicy,
  };
  const judgedCandidates = attribution.candidates.flatMap((one): JudgedCandidate<string>[] => {
    const { link_id: linkId } = one;
    if (one.type === 'customer') return [];
    const candidate =
      one.type === 'code'
        ? rejudgeCode(one, order, simulated)
        : rejudgeClick(one, { ...order, rules }, simulated, linkId === null ? null : paysRenewals(linkId));
    return [{ candidate, assignment: linkId ?? undefined, code: one.type === 'code' ? one.code : null }];
  });
  const winnerDecision = pickWinner(judgedCandidates, rules, { isTest: attribution.reason === 'test_order' });
  const claim = attribution.candidates.find((one) => one.type === 'customer');
  return { ...(claim ? addCustomer(winnerDecision, claim, order, simulated) : winnerDecision), rules };
}

/** Amount that an order owes a creator, and the end of its review period. */
export interface Earning {
  linkId: string;
  creatorId: string;
  ratePpm: number;
  minor: number;
  holdEndsAt: Date | null;
}

/** Commission of an order as it is recorded. */
export interface RecordedCommission extends CommissionState {
  linkId: string;
  creatorId: string;
  holdEndsAt: Date | null;
  /** Sum that refunds took back after the payment. */
  takenBackMinor: number;
}

/** Computes what the order owes now: nothing if its commission is rejected. */
export const computeEarning = (row: RecordedCommission): Earning => ({
  linkId: row.linkId,
  creatorId: row.creatorId,
  ratePpm: row.ratePpm,
  holdEndsAt: row.holdEndsAt,
  minor: row.status === 'rejected' ? 0 : row.commissionMinor - row.takenBackMinor,
});

/** Present terms of the code or link that would win. */
interface CurrentTerms {
  id: string;
  creatorId: string;
  commissionRatePpm: number;
  holdDays: number;
}

/** Applies simulated terms. A paid commission is fixed at its rate, so another rate treats it as approved. */
function applyTerms(
  row: RecordedCommission,
  { ratePpm, holdDays }: SimulatedRules,
  triedPricing: CommissionState['pricing'],
): CommissionState {
  const pricing = triedPricing ?? (ratePpm === undefined ? row.pricing : undefined);
  const terms = { ratePpm: ratePpm ?? row.ratePpm, holdDays: holdDays ?? row.holdDays, pricing };
  const isRepriced = row.status === 'paid' && (triedPricing !== undefined || terms.ratePpm !== row.ratePpm);
  return { ...row, ...terms, ...(isRepriced ? { status: 'approved' as const } : {}) };
}

/**
 * Computes what the order would owe its winner. For the same winner, reviews and payments count as they were; another
 * one has the terms of its code or link.
 */
export function simulateEarning(
  order: { snapshot: OrderSnapshot; refunds: readonly KnownRefund[] },
  winner: CurrentTerms,
  recorded: RecordedCommission | undefined,
  simulated: SimulatedRules,
  triedPricing?: CommissionState['pricing'],
): Earning {
  const isSame = recorded?.linkId === winner.id;
  const state =
    recorded && isSame
      ? applyTerms(recorded, simulated, triedPricing)
      : {
          ...NEW_COMMISSION,
          ratePpm: simulated.ratePpm ?? winner.commissionRatePpm,
          holdDays: simulated.holdDays ?? winner.holdDays,
          pricing: triedPricing,
        };
  const { columns, adjustments, price } = recomputeCommission(order.snapshot, order.refunds, state);
  const takenBackMinor = adjustments.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  const { paidAt } = order.snapshot;
  return {
    linkId: winner.id,
    creatorId: recorded && isSame ? recorded.creatorId : winner.creatorId,
    ratePpm: triedPricing && price ? toRatePpm(price) : state.ratePpm,
    minor: columns.status === 'rejected' ? 0 : columns.commissionMinor - takenBackMinor,
    holdEndsAt: paidAt && new Date(paidAt.getTime() + state.holdDays * DAY_MS),
  };
}
