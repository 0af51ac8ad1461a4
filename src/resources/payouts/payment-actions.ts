import type { Work } from '../../api/work.ts';
import type { Posting } from '../../ledger/entry.ts';
import { announce } from '../commissions/announce-actions.ts';
import { postPayment } from '../commissions/posting-actions.ts';
import { type CommissionRow, updatePaid } from '../commissions/queries.ts';
import { oldestFirst, type Plan, planPayment, type Share } from './allocation.ts';
import { insertFundings, listFunds, type Payee, type PayoutRow, sumOutstanding, updateShare } from './queries.ts';

interface PaidOut {
  payout: Pick<PayoutRow, 'id' | 'creatorId' | 'currency' | 'amountMinor'>;
  paidAt: Date;
  isFee: boolean;
  leftMinor: number;
}

const NOWHERE = { linkId: null, orderId: null, commissionId: null };

/** Money went out, on the day it went: it pays nothing yet, or a fee. */
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

/** What a payout gives to commissions: out of what it has left, and of what is netted. */
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

/** Pays what was planned; commissions, payouts and their creator are locked. */
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

/** What earlier payouts left pays commissions that were approved since; their creators are locked. */
export async function payFromUnallocated(work: Work, approved: readonly CommissionRow[]): Promise<void> {
  const byPayee = Map.groupBy(approved, ({ creatorId, currency }) => `${creatorId} ${currency}`);
  for (const commissions of byPayee.values()) {
    const [payee] = commissions;
    const funds = payee ? await listFunds(work.db, payee) : [];
    if (!payee || funds.length === 0) continue;
    const plan = planPayment(commissions.toSorted(oldestFirst), funds, await sumOutstanding(work.db, payee));
    if (plan.chosen.length > 0) await payByPlan(work, payee, plan, work.now);
  }
}
