import { DAY_MS } from '../../kit/values/duration.ts';
import { DEFAULT_RULES, isBelow, type Rules } from '../rules/attribution-rules.ts';
import {
  type Decision,
  pickWinner,
  type JudgedCandidate,
  type OrderTerms,
  findTermsProblem,
  testWindow,
} from './attribute.ts';
import { type KnownRefund, type OrderSnapshot, recompute, type CommissionState } from './recompute.ts';
import type { Attribution } from './orders.shapes.ts';

/** The rules of a simulation. Those that are undefined stay as they were when each order was decided. */
export interface SimulatedRules {
  attributionDays: number | undefined;
  holdDays: number | undefined;
  model: Rules['model'] | undefined;
  couponPolicy: Rules['couponPolicy'] | undefined;
  ratePpm: number | undefined;
  /** Null: without a minimum. */
  minOrder: Rules['minOrder'] | undefined;
}

type Candidate = Attribution['candidates'][number];
type CodeCandidate = Extract<Candidate, { type: 'code' }>;
type ClickCandidate = Extract<Candidate, { type: 'click' }>;

/** An order with its decision as it was recorded. */
export interface RecordedOrder extends Omit<OrderTerms, 'rules'> {
  occurredAt: Date;
  attribution: Attribution;
}

/** Those that only another candidate kept from winning. */
const LOST_TO_ANOTHER: readonly unknown[] = ['later_code', 'click_wins', 'older_click', 'later_click', 'code_wins'];
/** What is judged after a click's window. */
const AFTER_WINDOW: readonly unknown[] = [null, 'click_outside_window', 'test_order', 'renewal', 'below_minimum'];

type Order = Pick<RecordedOrder, 'baseMinor' | 'currency'>;

/** The problem with another minimum, which is judged last. */
function applyMinimum<R extends string>(reason: R | null, order: Order, minOrder: SimulatedRules['minOrder']) {
  if (minOrder === undefined || (reason !== null && reason !== 'below_minimum')) return reason;
  return isBelow({ minOrder }, order) ? ('below_minimum' as const) : null;
}

const getOwnProblem = <R extends string>(reason: R | null): R | null => (LOST_TO_ANOTHER.includes(reason) ? null : reason);

const rejudgeCode = (candidate: CodeCandidate, order: Order, { minOrder }: SimulatedRules): CodeCandidate => ({
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
  const judged = { ...candidate, outcome: 'lost' as const, reason: applyMinimum(own, order, minOrder) };
  if (attributionDays === undefined || !candidate.window || !AFTER_WINDOW.includes(own)) return judged;
  const at = new Date(candidate.window.clicked_at);
  const window = testWindow({ at }, { attributionDays }, order.occurredAt);
  if (!window.inside) return { ...judged, window, reason: 'click_outside_window' };
  return own === 'click_outside_window'
    ? { ...judged, window, reason: findTermsProblem({ paysRenewals }, order) }
    : { ...judged, window };
}

export interface SimulatedDecision extends Decision<string> {
  rules: Rules;
}

/**
 * Decides a recorded order among the same candidates, by the same function, under other rules. The winner is named by its
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
  };
  const judged = attribution.candidates.map((one): JudgedCandidate<string> => {
    const { link_id: linkId } = one;
    const candidate =
      one.type === 'code'
        ? rejudgeCode(one, order, simulated)
        : rejudgeClick(one, { ...order, rules }, simulated, linkId === null ? null : paysRenewals(linkId));
    return { candidate, assignment: linkId ?? undefined, code: one.type === 'code' ? one.code : null };
  });
  return { ...pickWinner(judged, rules, { isTest: attribution.reason === 'test_order' }), rules };
}

/** What an order owes a creator, and until when that is under review. */
export interface Earning {
  linkId: string;
  creatorId: string;
  ratePpm: number;
  minor: number;
  holdEndsAt: Date | null;
}

/** The commission that an order has. */
export interface RecordedCommission extends CommissionState {
  linkId: string;
  creatorId: string;
  holdEndsAt: Date | null;
  /** What refunds took back after it was paid. */
  takenBackMinor: number;
}

/** A rejected commission owes nothing. */
export const computeEarning = (row: RecordedCommission): Earning => ({
  ...{ linkId: row.linkId, creatorId: row.creatorId, ratePpm: row.ratePpm, holdEndsAt: row.holdEndsAt },
  minor: row.status === 'rejected' ? 0 : row.commissionMinor - row.takenBackMinor,
});

const NEW: Omit<CommissionState, 'ratePpm' | 'holdDays'> = {
  ...{ status: 'pending', statusNote: null, rejectedFrom: null, noteBeforeRejection: null },
  commissionMinor: 0,
};

/** The terms of the code or link that would win, as they are today. */
export interface CurrentTerms {
  id: string;
  creatorId: string;
  commissionRatePpm: number;
  holdDays: number;
}

/** One that is paid is fixed at its own rate; at another it would have been paid differently. */
function applyTerms(row: RecordedCommission, { ratePpm, holdDays }: SimulatedRules): CommissionState {
  const terms = { ratePpm: ratePpm ?? row.ratePpm, holdDays: holdDays ?? row.holdDays };
  const isRepriced = row.status === 'paid' && terms.ratePpm !== row.ratePpm;
  return { ...row, ...terms, ...(isRepriced ? { status: 'approved' as const } : {}) };
}

/**
 * What the order would owe its winner. Of the same winner as before, reviews and payments count as they were; another
 * one has the terms of its code or link.
 */
export function simulateEarning(
  order: { snapshot: OrderSnapshot; refunds: readonly KnownRefund[] },
  winner: CurrentTerms,
  recorded: RecordedCommission | undefined,
  simulated: SimulatedRules,
): Earning {
  const isSame = recorded?.linkId === winner.id;
  const standing =
    recorded && isSame
      ? applyTerms(recorded, simulated)
      : {
          ...NEW,
          ratePpm: simulated.ratePpm ?? winner.commissionRatePpm,
          holdDays: simulated.holdDays ?? winner.holdDays,
        };
  const { columns, adjustments } = recompute(order.snapshot, order.refunds, standing, []);
  const takenBackMinor = adjustments.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  const { paidAt } = order.snapshot;
  return {
    linkId: winner.id,
    creatorId: recorded && isSame ? recorded.creatorId : winner.creatorId,
    ratePpm: standing.ratePpm,
    minor: columns.status === 'rejected' ? 0 : columns.commissionMinor - takenBackMinor,
    holdEndsAt: paidAt && new Date(paidAt.getTime() + standing.holdDays * DAY_MS),
  };
}
