import type { z } from 'zod';
import { ApiError, type Problem } from '../../kit/values/errors.ts';
import { fromMinor } from '../../kit/values/money.ts';
import type { CommissionRow } from '../commissions/commissions.ts';
import type { StatementLineRow } from './balances.ts';
import type { StatementLine } from './due-payouts.shapes.ts';
import type { PayoutFacts, PayoutRow } from './payouts.ts';

/** The commissions that a budget pays, and those that it does not. */
export interface Allocation<C> {
  chosen: C[];
  passedOver: C[];
  allocatedMinor: number;
}

export const oldestFirst = (a: CommissionRow, b: CommissionRow): number =>
  a.occurredAt.getTime() - b.occurredAt.getTime() || (a.id < b.id ? -1 : 1);

type Payable = Pick<CommissionRow, 'id' | 'commissionMinor'>;

/** In the given order, each commission is paid in full or skipped, and the total never exceeds the budget. */
export function allocate<C extends Pick<Payable, 'commissionMinor'>>(
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

/** A payout and the part of its amount that has not paid anything yet. */
export interface Fund {
  id: string;
  leftMinor: number;
}

/** What a payout contributes now. */
export interface Share extends Fund {
  allocatedMinor: number;
  /** What refunds took back after an earlier payment and this settles; negative if it is given back. */
  nettedMinor: number;
}

/** How much of a commission each payout pays. */
export interface Funding {
  payoutId: string;
  commissionId: string;
  amountMinor: number;
}

export interface Plan<C> extends Allocation<C> {
  budgetMinor: number;
  nettedMinor: number;
  /** One for each fund, in order. */
  shares: Share[];
  fundings: Funding[];
}

/** What the funds can pay, together with the amounts to withhold for refunds. */
const budgetOf = (funds: readonly Fund[], outstandingMinor: number): number =>
  funds.reduce((sum, { leftMinor }) => sum + leftMinor, 0) + Math.max(outstandingMinor, 0);

/** Takes an amount from the sources, in order. */
function takeFrom(sources: { leftMinor: number }[], amountMinor: number): number[] {
  let due = amountMinor;
  return sources.map((source) => {
    const taken = Math.min(source.leftMinor, due);
    source.leftMinor -= taken;
    due -= taken;
    return taken;
  });
}

/** Each commission is paid from the sources in order; sources of one payout are combined. */
function fundingsOf(chosen: readonly Payable[], shares: readonly Share[]): Funding[] {
  const sources = shares.map(({ id, allocatedMinor }) => ({ id, leftMinor: allocatedMinor }));
  return chosen.flatMap(({ id: commissionId, commissionMinor }) => {
    const host = sources.at(-1)?.id;
    const taken = takeFrom(sources, commissionMinor);
    const parts = sources.map(({ id: payoutId }, i) => ({ payoutId, commissionId, amountMinor: taken[i] ?? 0 }));
    const used = parts.filter(({ amountMinor }) => amountMinor > 0);
    return used.length > 0 || host === undefined ? used : [{ payoutId: host, commissionId, amountMinor: 0 }];
  });
}

/**
 * Pays whole commissions from the payouts' money, oldest payout first. What refunds took back after an earlier payment
 * is netted first, and counts towards the last payout. If the amount is negative, a store reverted a refund that was
 * already netted; payouts then give it back from what the commissions leave over, oldest payout first.
 */
export function planPayment<C extends Payable>(
  commissions: readonly C[],
  funds: readonly Fund[],
  outstandingMinor: number,
): Plan<C> {
  const budgetMinor = budgetOf(funds, outstandingMinor);
  const allocation = allocate(commissions, budgetMinor);
  const takenBack = Math.min(Math.max(outstandingMinor, 0), allocation.allocatedMinor);
  const left = funds.map(({ leftMinor }) => ({ leftMinor }));
  const cash = takeFrom(left, allocation.allocatedMinor - takenBack);
  const givenBack = takeFrom(left, Math.max(-outstandingMinor, 0));
  const shares = funds.map(({ id }, i): Share => {
    const netted = i === funds.length - 1 ? takenBack : 0;
    return {
      id,
      leftMinor: left[i]?.leftMinor ?? 0,
      allocatedMinor: (cash[i] ?? 0) + netted,
      nettedMinor: netted - (givenBack[i] ?? 0),
    };
  });
  const fundings = fundingsOf(allocation.chosen, shares);
  const nettedMinor = shares.reduce((sum, share) => sum + share.nettedMinor, 0);
  return { ...allocation, budgetMinor, nettedMinor, shares, fundings };
}

/** The amount that pays everything due; 0 if existing funds already cover it. */
export const amountFor = (dueMinor: number, funds: readonly Fund[], outstandingMinor: number): number =>
  Math.max(0, dueMinor - outstandingMinor - budgetOf(funds, 0));

function problemOf(row: CommissionRow | undefined, payout: PayoutRow): Omit<Problem, 'field'> | undefined {
  if (!row) return { code: 'not_found', message: 'No such commission.' };
  if (row.creatorId !== payout.creatorId) return { code: 'other_creator', message: 'It belongs to another creator.' };
  if (row.currency !== payout.currency) return { code: 'other_currency', message: `It is in ${row.currency}.` };
  if (row.status === 'paid') return { code: 'paid', message: 'It is already paid.' };
  if (row.status !== 'approved') return { code: 'not_approved', message: `It is ${row.status}.` };
  return undefined;
}

function problemsAt(ids: readonly string[], wrong: (id: string) => Omit<Problem, 'field'> | undefined): Problem[] {
  return ids.flatMap((id, i) => {
    const problem = wrong(id);
    return problem ? [{ ...problem, field: `commission_ids.${i}`, message: `${id}: ${problem.message}` }] : [];
  });
}

/** The listed commissions, in the list's order. If the payout cannot pay one of them, all are refused. */
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

/** Refuses a list that exceeds what the payout can pay, and names the commissions that fit. */
export function assertFits(
  ids: readonly string[],
  { chosen, passedOver, budgetMinor }: Pick<Plan<CommissionRow>, 'chosen' | 'passedOver' | 'budgetMinor'>,
  { currency }: PayoutRow,
): void {
  if (passedOver.length === 0) return;
  const worth = new Map(passedOver.map(({ id, commissionMinor }) => [id, fromMinor(commissionMinor, currency)]));
  const available_amount = fromMinor(budgetMinor, currency);
  const details = problemsAt(ids, (id) => {
    const amount = worth.get(id);
    return amount === undefined
      ? undefined
      : { code: 'exceeds_amount', message: `Its ${amount} ${currency} do not fit into the payout.` };
  });
  const message = `The selected commissions exceed the ${available_amount} ${currency} that this payout can pay.`;
  const facts = { available_amount, fits: chosen.map(({ id }) => id) };
  throw new ApiError('INVALID_SELECTION', message, { details, facts });
}

type Line = z.input<typeof StatementLine>;

const NOTHING = {
  ...{ commission_id: null, order_id: null, customer_email: null, code: null, occurred_at: null },
  ...{ sale_amount: null, refunded_amount: null, commission: null },
};

function commissionLine({ currency, ...row }: StatementLineRow, payout: PayoutFacts): Line {
  const major = (minor: number) => fromMinor(minor, currency);
  const isSale = row.storeOrderId !== null;
  return {
    type: 'commission',
    commission_id: row.commissionId,
    order_id: row.storeOrderId,
    customer_email: row.customerEmail,
    code: row.discountCode ?? row.affiliateCode,
    occurred_at: row.occurredAt.toISOString(),
    sale_amount: isSale ? major(row.saleMinor) : null,
    refunded_amount: isSale ? major(row.refundedMinor) : null,
    commission: major(row.commissionMinor),
    paid_at: (row.paidAt ?? payout.paidAt)?.toISOString() ?? null,
    amount: major(row.amountMinor),
  };
}

/** The lines of a payout, which add up to its amount. */
export function statementLines(payout: PayoutFacts, rows: readonly StatementLineRow[]): Line[] {
  const { currency, amountMinor, allocatedMinor, nettedMinor, paidAt } = payout;
  const lines = rows.map((row) => commissionLine(row, payout));
  const at = paidAt?.toISOString() ?? null;
  const rest = amountMinor - (allocatedMinor - nettedMinor);
  const more = (type: Line['type'], minor: number): Line[] =>
    minor === 0 ? [] : [{ ...NOTHING, type, paid_at: at, amount: fromMinor(minor, currency) }];
  const isPaid = payout.status === 'paid' || payout.method === 'wallet';
  const kind = payout.isFee ? 'fee' : isPaid ? 'unallocated' : 'not_paid';
  return [...lines, ...more('refunds', -nettedMinor), ...more(kind, rest)];
}
