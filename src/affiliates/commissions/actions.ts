import type { Work } from '../../kit/operation/work.ts';
import type { Account, LedgerKind, NewEntry, Posting } from '../../kit/outbox/ledger-entry.ts';
import { type CommissionFacts, type CommissionStatus, listCommissionsById } from './queries.ts';
import { CommissionAnnounced, commissionOf } from './schema.ts';

/** The facts of a commission that the ledger records; `status` is the one before the change. */
export interface LedgeredCommission {
  id: string;
  /** Our own id of the order. */
  orderId: string | null;
  linkId: string | null;
  creatorId: string;
  currency: string;
  commissionMinor: number;
  status: CommissionStatus;
  occurredAt: Date;
  /** When the order was paid. */
  paidAt: Date | null;
}

/** The account that holds a commission, by its status. A rejected one is not owed. */
export const ACCOUNT_OF = {
  pending: 'commission_pending',
  approved: 'commission_approved',
  rejected: 'commission_expense',
  paid: 'commission_paid',
} as const satisfies Record<CommissionStatus, Account>;

export function entryOf(
  commission: LedgeredCommission,
  kind: LedgerKind,
  postings: readonly Posting[],
  payoutId: string | null = null,
): NewEntry {
  const { id, orderId, linkId, creatorId, currency } = commission;
  return { kind, currency, creatorId, linkId, orderId, commissionId: id, payoutId, postings };
}

/** Moves the commission from the account of its status to another. An unpaid order has nothing in the ledger to move. */
function move(commission: LedgeredCommission, to: CommissionStatus): Posting[] {
  const { commissionMinor, status, occurredAt: at, paidAt } = commission;
  if (paidAt === null || commissionMinor === 0 || status === to) return [];
  return [
    { account: ACCOUNT_OF[status], amountMinor: commissionMinor, at },
    { account: ACCOUNT_OF[to], amountMinor: -commissionMinor, at },
  ];
}

type Poster = Pick<Work, 'post'>;

function post(work: Poster, entry: NewEntry): void {
  if (entry.postings.length > 0) work.post(entry);
}

/** For a pending commission, or a rejected one that is reinstated. */
export function postApproval(work: Poster, commission: LedgeredCommission): void {
  post(work, entryOf(commission, 'approval', move(commission, 'approved')));
}

export function postRejection(work: Poster, commission: LedgeredCommission): void {
  post(work, entryOf(commission, 'rejection', move(commission, 'rejected')));
}

/** For an approved commission that payouts pay in whole. */
export function postPayment(work: Poster, commission: LedgeredCommission, payoutId: string | null): void {
  post(work, entryOf(commission, 'payment', move(commission, 'paid'), payoutId));
}

type Announced = 'commission.created' | 'commission.approved' | 'commission.rejected' | 'commission.paid';

export function announceOne(work: Work, event: Announced, facts: CommissionFacts): void {
  work.emit(event, CommissionAnnounced.parse(commissionOf(facts)));
}

/** Emits one event for each commission, in its current state. */
export async function announce(work: Work, event: Announced, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  for (const facts of await listCommissionsById(work.db, work.brandId, ids)) announceOne(work, event, facts);
}
