import { DAY_MS } from '../../kit/values/duration.ts';
import { DEFAULT_RULES, isBelow, type Rules } from '../rules/attribution-rules.ts';
import {
  type Decision,
  decideAmong,
  type Judged,
  type OrderTerms,
  termsProblem,
  windowOf,
} from './attribute.ts';
import { type KnownRefund, type OrderSnapshot, recompute, type Standing } from './recompute.ts';
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
const BEATEN: readonly unknown[] = ['later_code', 'click_wins', 'older_click', 'later_click', 'code_wins'];
/** What is judged after a click's window. */
const AFTER_WINDOW: readonly unknown[] = [null, 'click_outside_window', 'test_order', 'renewal', 'below_minimum'];

type Order = Pick<RecordedOrder, 'baseMinor' | 'currency'>;

/** The problem with another minimum, which is judged last. */
function withMinimum<R extends string>(reason: R | null, order: Order, minOrder: SimulatedRules['minOrder']) {
  if (minOrder === undefined || (reason !== null && reason !== 'below_minimum')) return reason;
  return isBelow({ minOrder }, order) ? ('below_minimum' as const) : null;
}

const ownProblem = <R extends string>(reason: R | null): R | null => (BEATEN.includes(reason) ? null : reason);

const codeAgain = (candidate: CodeCandidate, order: Order, { minOrder }: SimulatedRules): CodeCandidate => ({
  ...candidate,
  outcome: 'lost',
  reason: withMinimum(ownProblem(candidate.reason), order, minOrder),
});

function clickAgain(
  candidate: ClickCandidate,
  order: RecordedOrder & OrderTerms,
  { attributionDays, minOrder }: SimulatedRules,
  paysRenewals: boolean | null,
): ClickCandidate {
  const own = ownProblem(candidate.reason);
  const judged = { ...candidate, outcome: 'lost' as const, reason: withMinimum(own, order, minOrder) };
  if (attributionDays === undefined || !candidate.window || !AFTER_WINDOW.includes(own)) return judged;
  const at = new Date(candidate.window.clicked_at);
  const window = windowOf({ at }, { attributionDays }, order.occurredAt);
  if (!window.inside) return { ...judged, window, reason: 'click_outside_window' };
  return own === 'click_outside_window'
    ? { ...judged, window, reason: termsProblem({ paysRenewals }, order) }
    : { ...judged, window };
}

export interface DecidedAnew extends Decision<string> {
  rules: Rules;
}

/**
 * Decides a recorded order among the same candidates, by the same function, under other rules. The winner is named by its
 * id. What the rules do not concern stays as it was found when the order came.
 */
export function decideAnew(
  order: RecordedOrder,
  simulated: SimulatedRules,
  paysRenewals: (linkId: string) => boolean | null,
): DecidedAnew {
  const { attribution } = order;
  const { rules: recorded } = attribution;
  const rules: Rules = {
    model: simulated.model ?? recorded?.model ?? DEFAULT_RULES.model,
    couponPolicy: simulated.couponPolicy ?? recorded?.coupon_policy ?? DEFAULT_RULES.couponPolicy,
    minOrder: simulated.minOrder === undefined ? (recorded?.min_order ?? null) : simulated.minOrder,
  };
  const judged = attribution.candidates.map((one): Judged<string> => {
    const { link_id: linkId } = one;
    const candidate =
      one.type === 'code'
        ? codeAgain(one, order, simulated)
        : clickAgain(one, { ...order, rules }, simulated, linkId === null ? null : paysRenewals(linkId));
    return { candidate, assignment: linkId ?? undefined, code: one.type === 'code' ? one.code : null };
  });
  return { ...decideAmong(judged, rules, { isTest: attribution.reason === 'test_order' }), rules };
}

/** What an order owes a creator, and until when that is under review. */
export interface Owed {
  linkId: string;
  creatorId: string;
  ratePpm: number;
  minor: number;
  holdEndsAt: Date | null;
}

/** The commission that an order has. */
export interface RecordedCommission extends Standing {
  linkId: string;
  creatorId: string;
  holdEndsAt: Date | null;
  /** What refunds took back after it was paid. */
  takenBackMinor: number;
}

/** A rejected commission owes nothing. */
export const owedNow = (row: RecordedCommission): Owed => ({
  ...{ linkId: row.linkId, creatorId: row.creatorId, ratePpm: row.ratePpm, holdEndsAt: row.holdEndsAt },
  minor: row.status === 'rejected' ? 0 : row.commissionMinor - row.takenBackMinor,
});

const NEW: Omit<Standing, 'ratePpm' | 'holdDays'> = {
  ...{ status: 'pending', statusNote: null, rejectedFrom: null, noteBeforeRejection: null },
  commissionMinor: 0,
};

/** The terms of the code or link that would win, as they are today. */
export interface PresentTerms {
  id: string;
  creatorId: string;
  commissionRatePpm: number;
  holdDays: number;
}

/** One that is paid is fixed at its own rate; at another it would have been paid differently. */
function standingAnew(row: RecordedCommission, { ratePpm, holdDays }: SimulatedRules): Standing {
  const terms = { ratePpm: ratePpm ?? row.ratePpm, holdDays: holdDays ?? row.holdDays };
  const isRepriced = row.status === 'paid' && terms.ratePpm !== row.ratePpm;
  return { ...row, ...terms, ...(isRepriced ? { status: 'approved' as const } : {}) };
}

/**
 * What the order would owe its winner. Of the same winner as before, reviews and payments count as they were; another
 * one has the terms of its code or link.
 */
export function owedAnew(
  order: { snapshot: OrderSnapshot; refunds: readonly KnownRefund[] },
  winner: PresentTerms,
  recorded: RecordedCommission | undefined,
  simulated: SimulatedRules,
): Owed {
  const isSame = recorded?.linkId === winner.id;
  const standing =
    recorded && isSame
      ? standingAnew(recorded, simulated)
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
