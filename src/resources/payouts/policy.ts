import type { z } from 'zod';
import { ApiError, type Problem } from '../../values/errors.ts';
import { fromMinor } from '../../values/money.ts';
import type { CommissionRow } from '../commissions/queries.ts';
import type { StatementLineRow } from './due/queries.ts';
import type { StatementLine } from './due/schema.ts';
import type { PayoutFacts, PayoutRow } from './queries.ts';

/** The commissions that a budget pays, and those it does not. */
export interface Allocation<C> {
  chosen: C[];
  passedOver: C[];
  allocatedMinor: number;
}

export const oldestFirst = (a: CommissionRow, b: CommissionRow): number =>
  a.occurredAt.getTime() - b.occurredAt.getTime() || (a.id < b.id ? -1 : 1);

type Payable = Pick<CommissionRow, 'id' | 'commissionMinor'>;

/** In the order given: a commission is paid whole or passed over, and all together never exceed the budget. */
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

/** A payout and the part of its amount that has paid nothing yet. */
export interface Fund {
  id: string;
  leftMinor: number;
}

/** What a payout gives now. */
export interface Share extends Fund {
  allocatedMinor: number;
  /** What refunds after an earlier payment took back, and is settled here; below zero: given back. */
  nettedMinor: number;
}

/** Which payout pays how much of a commission. */
export interface Funding {
  payoutId: string;
  commissionId: string;
  amountMinor: number;
}

export interface Plan<C> extends Allocation<C> {
  budgetMinor: number;
  nettedMinor: number;
  /** Of every fund, in their order. */
  shares: Share[];
  fundings: Funding[];
}

/** What the funds and the amounts owed back from refunds can pay together. */
const budgetOf = (funds: readonly Fund[], outstandingMinor: number): number =>
  funds.reduce((sum, { leftMinor }) => sum + leftMinor, 0) + Math.max(outstandingMinor, 0);

/** Takes an amount out of the sources, the first ones first. */
function takeFrom(sources: { leftMinor: number }[], amountMinor: number): number[] {
  let due = amountMinor;
  return sources.map((source) => {
    const taken = Math.min(source.leftMinor, due);
    source.leftMinor -= taken;
    due -= taken;
    return taken;
  });
}

/** Each commission is paid by the sources in turn; two of one payout are one. */
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
 * Pays whole commissions out of what payouts have, the oldest payout first. What refunds took back after an earlier
 * payment is netted first, and counts to the last payout. Below zero a store took back a refund that is netted already:
 * then payouts give it back, of what the commissions leave, the oldest payout first.
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

/** The amount that pays everything due; 0 when existing funds already cover it. */
export const amountFor = (dueMinor: number, funds: readonly Fund[], outstandingMinor: number): number =>
  Math.max(0, dueMinor - outstandingMinor - budgetOf(funds, 0));

function problemOf(row: CommissionRow | undefined, payout: PayoutRow): Omit<Problem, 'field'> | undefined {
  if (!row) return { code: 'not_found', message: 'No such commission.' };
  if (row.creatorId !== payout.creatorId) return { code: 'other_creator', message: 'It belongs to another creator.' };
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
      : { code: 'exceeds_amount', message: `Its ${amount} ${currency} do not fit.` };
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

/** What a payout's amount is made of: the lines add up to it. */
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
