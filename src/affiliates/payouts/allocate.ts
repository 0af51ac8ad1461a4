import { fromMinor } from '../../kit/values/decimals.ts';
import { ApiError, type Problem } from '../../kit/values/errors.ts';
import type { PayableCommission } from '../commissions/commissions.ts';
import type { PayoutRow } from './payouts.ts';

/** A budget's allocation to commissions, and the commissions that do not fit. */
interface Allocation<C> {
  chosen: C[];
  passedOver: C[];
  allocatedMinor: number;
}

export const oldestFirst = (a: PayableCommission, b: PayableCommission): number =>
  a.occurredAt.getTime() - b.occurredAt.getTime() || (a.id < b.id ? -1 : 1);

type AllocatedCommission = Pick<PayableCommission, 'id' | 'commissionMinor'>;

/** In the given order, each commission is paid in full or skipped, and the total never exceeds the budget. */
export function allocate<C extends Pick<AllocatedCommission, 'commissionMinor'>>(
  commissions: readonly C[],
  budgetMinor: number,
): Allocation<C> {
  const chosen: C[] = [];
  const passedOver: C[] = [];
  let allocatedMinor = 0;
  for (const commission of commissions) {
    const fits = allocatedMinor + commission.commissionMinor <= budgetMinor;
    (fits ? chosen : passedOver).push(commission);
    if (fits) allocatedMinor += commission.commissionMinor;
  }
  return { chosen, passedOver, allocatedMinor };
}

/** A payout and the part of its amount that is not spent. */
export interface Fund {
  id: string;
  leftMinor: number;
}

/** The contribution of a payout to a payment. */
export interface PayoutShare extends Fund {
  allocatedMinor: number;
  /** Refunds of paid commissions that this withholds; negative if it gives them back. */
  nettedMinor: number;
}

/** The part of a commission that one payout pays. */
export interface Funding {
  payoutId: string;
  commissionId: string;
  amountMinor: number;
}

export interface Plan<C> extends Allocation<C> {
  budgetMinor: number;
  nettedMinor: number;
  /** One for each fund, in order. */
  shares: PayoutShare[];
  fundings: Funding[];
}

/** Sums the funds and the amount to withhold for refunds, which pays commissions, too. */
const sumBudget = (funds: readonly Fund[], outstandingMinor: number): number =>
  funds.reduce((sum, { leftMinor }) => sum + leftMinor, 0) + Math.max(outstandingMinor, 0);

/** Takes an amount from the sources, in order. */
function takeFrom(sources: { leftMinor: number }[], amountMinor: number): number[] {
  let dueMinor = amountMinor;
  return sources.map((source) => {
    const partMinor = Math.min(source.leftMinor, dueMinor);
    source.leftMinor -= partMinor;
    dueMinor -= partMinor;
    return partMinor;
  });
}

/** Pays each commission from the payouts' shares in order. */
function toFundings(commissions: readonly AllocatedCommission[], shares: readonly PayoutShare[]): Funding[] {
  const sources = shares.map(({ id, allocatedMinor }) => ({ id, leftMinor: allocatedMinor }));
  return commissions.flatMap(({ id: commissionId, commissionMinor }) => {
    const lastId = sources.at(-1)?.id;
    const amounts = takeFrom(sources, commissionMinor);
    const parts = sources.map(({ id: payoutId }, i) => ({ payoutId, commissionId, amountMinor: amounts[i] ?? 0 }));
    const fundings = parts.filter(({ amountMinor }) => amountMinor > 0);
    return fundings.length > 0 || lastId === undefined
      ? fundings
      : [{ payoutId: lastId, commissionId, amountMinor: 0 }];
  });
}

/**
 * Pays whole commissions from the payouts' money, oldest payout first. Refunds of paid commissions are netted first, and
 * count towards the last payout. If `outstandingMinor` is negative, a store reverted a refund that was already netted;
 * payouts then give it back from the money that the commissions leave over, oldest payout first.
 */
export function planPayment<C extends AllocatedCommission>(
  commissions: readonly C[],
  funds: readonly Fund[],
  outstandingMinor: number,
): Plan<C> {
  const budgetMinor = sumBudget(funds, outstandingMinor);
  const allocation = allocate(commissions, budgetMinor);
  const nettableMinor = Math.min(Math.max(outstandingMinor, 0), allocation.allocatedMinor);
  const rests = funds.map(({ leftMinor }) => ({ leftMinor }));
  const cash = takeFrom(rests, allocation.allocatedMinor - nettableMinor);
  const returns = takeFrom(rests, Math.max(-outstandingMinor, 0));
  const shares = funds.map(({ id }, i): PayoutShare => {
    const withheldMinor = i === funds.length - 1 ? nettableMinor : 0;
    return {
      id,
      leftMinor: rests[i]?.leftMinor ?? 0,
      allocatedMinor: (cash[i] ?? 0) + withheldMinor,
      nettedMinor: withheldMinor - (returns[i] ?? 0),
    };
  });
  const fundings = toFundings(allocation.chosen, shares);
  const nettedMinor = shares.reduce((sum, share) => sum + share.nettedMinor, 0);
  return { ...allocation, budgetMinor, nettedMinor, shares, fundings };
}

/** The amount to transfer so that everything due is paid; 0 if existing funds already cover it. */
export const computeTransfer = (dueMinor: number, funds: readonly Fund[], outstandingMinor: number): number =>
  Math.max(0, dueMinor - outstandingMinor - sumBudget(funds, 0));

function findProblem(row: PayableCommission | undefined, payout: PayoutRow): Omit<Problem, 'field'> | undefined {
  if (!row) return { code: 'not_found', message: 'No such commission.' };
  if (row.creatorId !== payout.creatorId) return { code: 'other_creator', message: 'It belongs to another creator.' };
  if (row.currency !== payout.currency) return { code: 'other_currency', message: `It is in ${row.currency}.` };
  if (row.status === 'paid') return { code: 'paid', message: 'It is already paid.' };
  if (row.status !== 'approved') return { code: 'not_approved', message: `It is ${row.status}.` };
  return undefined;
}

function listProblems(ids: readonly string[], find: (id: string) => Omit<Problem, 'field'> | undefined): Problem[] {
  return ids.flatMap((id, i) => {
    const problem = find(id);
    return problem ? [{ ...problem, field: `commission_ids.${i}`, message: `${id}: ${problem.message}` }] : [];
  });
}

/** Returns the listed commissions in the list's order, or refuses all if the payout cannot pay one of them. */
export function assertPayable(
  ids: readonly string[],
  rows: readonly PayableCommission[],
  payout: PayoutRow,
): PayableCommission[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const details = listProblems(ids, (id) => findProblem(byId.get(id), payout));
  if (details.length === 0) return [...new Set(ids)].flatMap((id) => byId.get(id) ?? []);
  const message = `${details.length} of the selected commissions cannot be paid by this payout; nothing was changed.`;
  throw new ApiError('INVALID_SELECTION', message, { details });
}

/** Refuses a list that exceeds what the payout can pay, and names the commissions that fit. */
export function assertFits(
  ids: readonly string[],
  { chosen, passedOver, budgetMinor }: Pick<Plan<PayableCommission>, 'chosen' | 'passedOver' | 'budgetMinor'>,
  { currency }: PayoutRow,
): void {
  if (passedOver.length === 0) return;
  const worth = new Map(passedOver.map(({ id, commissionMinor }) => [id, fromMinor(commissionMinor, currency)]));
  const available_amount = fromMinor(budgetMinor, currency);
  const details = listProblems(ids, (id) => {
    const amount = worth.get(id);
    return amount === undefined
      ? undefined
      : { code: 'exceeds_amount', message: `Its ${amount} ${currency} do not fit into the payout.` };
  });
  const message = `The selected commissions exceed the ${available_amount} ${currency} that this payout can pay.`;
  const facts = { available_amount, fits: chosen.map(({ id }) => id) };
  throw new ApiError('INVALID_SELECTION', message, { details, facts });
}
