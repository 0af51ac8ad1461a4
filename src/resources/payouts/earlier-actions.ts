import type { Work } from '../../operation/work.ts';
import type { Posting } from '../../outbox/ledger-entry.ts';
import { lockPayout, updatePayout } from './queries.ts';

/**
 * Posts a payout that was paid before the ledger knew of money that goes out. What it netted stands in `cash` the other
 * way round from then. One that paid nothing was a fee, as it was said to be; of another the rest is there for approvals.
 */
export async function postEarlierPayout(work: Work, id: string): Promise<void> {
  const { db, now, brandId } = work;
  const payout = await lockPayout(db, brandId, id);
  if (!payout.isUnposted) return;
  const { amountMinor, allocatedMinor, nettedMinor, creatorId, currency, method } = payout;
  const at = payout.paidAt ?? payout.createdAt;
  const restMinor = amountMinor - (allocatedMinor - nettedMinor);
  const isFee = method !== 'wallet' && allocatedMinor === 0 && nettedMinor === 0;
  const lines: Posting[] = [
    { account: 'commission_settled', amountMinor: allocatedMinor, at },
    { account: isFee ? 'fees' : 'unallocated', amountMinor: restMinor, at },
    { account: 'cash', amountMinor: -amountMinor - nettedMinor, at },
  ];
  const postings = lines.filter((line) => line.amountMinor !== 0);
  const nowhere = { linkId: null, orderId: null, commissionId: null };
  work.post({ kind: 'payout', currency, creatorId, payoutId: id, ...nowhere, postings });
  const unallocatedMinor = isFee ? 0 : restMinor;
  await updatePayout(db, brandId, id, { isUnposted: false, isFee, unallocatedMinor, updatedAt: now });
}
