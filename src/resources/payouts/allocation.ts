import { ApiError, type Problem } from '../../values/errors.ts';
import { fromMinor } from '../../values/money.ts';
import type { CommissionRow } from '../commissions/queries.ts';
import type { PayoutRow } from './queries.ts';

/** What a payout has to give, and what it gives. */
export interface Allocation<C> {
  chosen: C[];
  passedOver: C[];
  allocatedMinor: number;
}

export const oldestFirst = (a: CommissionRow, b: CommissionRow): number =>
  a.occurredAt.getTime() - b.occurredAt.getTime() || (a.id < b.id ? -1 : 1);

/** In the order given: a commission is paid whole or passed over, and all together never exceed the budget. */
export function allocate<C extends Pick<CommissionRow, 'commissionMinor'>>(
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

/**
 * What a payout settles of the outstanding refunds: as much as it pays. Below zero a store took back a refund that is netted
 * already: its creator is given that of what the commissions leave.
 */
export const netOf = (outstandingMinor: number, allocatedMinor: number, amountMinor: number): number =>
  outstandingMinor >= 0
    ? Math.min(outstandingMinor, allocatedMinor)
    : Math.max(outstandingMinor, allocatedMinor - amountMinor);

function problemOf(row: CommissionRow | undefined, payout: PayoutRow): Omit<Problem, 'field'> | undefined {
  if (!row) return { code: 'not_found', message: 'No such commission.' };
  if (row.creatorId !== payout.creatorId) return { code: 'other_creator', message: 'It is another creator’s.' };
  if (row.currency !== payout.currency) return { code: 'other_currency', message: `It is in ${row.currency}.` };
  if (row.status === 'paid') return { code: 'paid', message: 'It is paid already.' };
  if (row.status !== 'approved') return { code: 'not_approved', message: `It is ${row.status}.` };
  return undefined;
}

function problemsAt(ids: readonly string[], wrong: (id: string) => Omit<Problem, 'field'> | undefined): Problem[] {
  return ids.flatMap((id, i) => {
    const problem = wrong(id);
    return problem ? [{ ...problem, field: `commission_ids.${i}`, message: `${id}: ${problem.message}` }] : [];
  });
}

/** The listed commissions in the list's order; one that the payout cannot pay refuses the whole. */
export function assertPayable(
  ids: readonly string[],
  found: readonly CommissionRow[],
  payout: PayoutRow,
): CommissionRow[] {
  const byId = new Map(found.map((row) => [row.id, row]));
  const details = problemsAt(ids, (id) => problemOf(byId.get(id), payout));
  if (details.length === 0) return [...new Set(ids)].flatMap((id) => byId.get(id) ?? []);
  const message = `${details.length} of the selected commissions cannot be paid by this payout; nothing was changed.`;
  throw new ApiError('INVALID_SELECTION', message, { details });
}

/** Refuses a list that is worth more than the payout has to give, and names what fits. */
export function assertFits(
  ids: readonly string[],
  { chosen, passedOver }: Allocation<CommissionRow>,
  { currency }: PayoutRow,
  budgetMinor: number,
): void {
  if (passedOver.length === 0) return;
  const worth = new Map(passedOver.map(({ id, commissionMinor }) => [id, fromMinor(commissionMinor, currency)]));
  const available_amount = fromMinor(budgetMinor, currency);
  const details = problemsAt(ids, (id) => {
    const amount = worth.get(id);
    return amount === undefined
      ? undefined
      : { code: 'exceeds_amount', message: `Its ${amount} ${currency} do not fit.` };
  });
  const message = `The selected commissions exceed the ${available_amount} ${currency} that this payout can pay.`;
  const facts = { available_amount, fits: chosen.map(({ id }) => id) };
  throw new ApiError('INVALID_SELECTION', message, { details, facts });
}
