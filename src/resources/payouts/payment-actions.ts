import type { Work } from '../../operation/work.ts';
import type { Posting } from '../../outbox/ledger-entry.ts';
import { announce } from '../commissions/announce-actions.ts';
import { postPayment } from '../commissions/posting-actions.ts';
import { type CommissionRow, lockApproved, updatePaid } from '../commissions/queries.ts';
import { oldestFirst, type Plan, planPayment, type Share } from './allocation.ts';
import { insertFundings, listFunds, type Payee, type PayoutRow, sumOutstanding, updateShare } from './queries.ts';

interface PaidOut {
  payout: Pick<PayoutRow, 'id' | 'creatorId' | 'currency' | 'amountMinor'>;
  paidAt: Date;
  isFee: boolean;
  leftMinor: number;
}

const NOWHERE = { linkId: null, orderId: null, commissionId: null };

/** Posts the sent money on the day it was sent, either as unallocated or as a fee. */
export function postPaidOut(work: Pick<Work, 'post'>, { payout, paidAt: at, isFee }: PaidOut): void {
  const { id: payoutId, creatorId, currency, amountMinor } = payout;
  work.post({
    ...{ kind: 'payout', currency, creatorId, payoutId, ...NOWHERE },
    postings: [
      { account: isFee ? 'fees' : 'unallocated', amountMinor, at },
      { account: 'cash', amountMinor: -amountMinor, at },
    ],
  });
}

/** Posts what a payout pays for commissions, from its own money and from what it withholds. */
function postShare(work: Pick<Work, 'post'>, payee: Payee, share: Omit<Share, 'leftMinor'>, at: Date): void {
  const { id: payoutId, allocatedMinor, nettedMinor } = share;
  const { creatorId, currency } = payee;
  const lines: Posting[] = [
    { account: 'commission_settled', amountMinor: allocatedMinor, at },
    { account: 'adjustments_netted', amountMinor: -nettedMinor, at },
    { account: 'unallocated', amountMinor: nettedMinor - allocatedMinor, at },
  ];
  const postings = lines.filter(({ amountMinor }) => amountMinor !== 0);
  if (postings.length === 0) return;
  work.post({ kind: 'payout', currency, creatorId, payoutId, ...NOWHERE, postings });
}

/** Carries out the plan. Commissions, payouts and their creator must be locked. */
export async function payByPlan(work: Work, payee: Payee, plan: Plan<CommissionRow>, at: Date): Promise<void> {
  const { db, now, brandId } = work;
  const { chosen, shares, fundings } = plan;
  await insertFundings(db, brandId, fundings, at);
  await updatePaid(
    db,
    brandId,
    chosen.map(({ id }) => id),
    now,
  );
  await announce(
    work,
    'commission.paid',
    chosen.map(({ id }) => id),
  );
  const first = new Map(fundings.toReversed().map(({ commissionId, payoutId }) => [commissionId, payoutId]));
  for (const commission of chosen) postPayment(work, commission, first.get(commission.id) ?? null);
  for (const share of shares) {
    await updateShare(db, brandId, share, now);
    postShare(work, payee, share, at);
  }
}

/**
 * Pays the payees' approved commissions that fit, oldest first, from what earlier payouts left over, and gives back
 * what is due again. Call it after an approval, a refund or a reverted refund, with the creators locked.
 */
export async function useUnallocated(work: Work, payees: readonly Payee[]): Promise<void> {
  const { db, now } = work;
  const distinct = new Map(payees.map((payee) => [`${payee.creatorId} ${payee.currency}`, payee]));
  for (const payee of distinct.values()) {
    const funds = await listFunds(db, payee);
    if (funds.length === 0) continue;
    const approved = (await lockApproved(db, payee)).sort(oldestFirst);
    const plan = planPayment(approved, funds, await sumOutstanding(db, payee));
    if (plan.chosen.length > 0 || plan.nettedMinor !== 0) await payByPlan(work, payee, plan, now);
  }
}
