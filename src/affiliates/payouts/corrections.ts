import { sql } from 'kysely';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { Posting } from '../../kit/outbox/ledger-entry.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import { insertAdjustment, listAdjustments, replaceAdjustments } from '../commissions/adjustments.ts';
import {
  ACCOUNT_OF,
  announceCommissions,
  type CommissionRow,
  getCommission,
  lockCommissions,
  toLedgerEntry,
  updateCommission,
} from '../commissions/commissions.ts';
import { findOrderById } from '../orders/orders.ts';
import { CLAWED_BACK } from '../orders/recompute.ts';
import { alignCommission } from '../orders/record.ts';
import { Payout, type PayoutReturn, toPayout } from './payouts.shapes.ts';
import { getPayout, isPaid, lockPayees, lockPayout, type PayoutRow, updatePayout } from './payouts.ts';
import { allocateUnallocatedFunds, createStateError } from './settle.ts';

const RETURNED = { status: 'returned', allocatedMinor: 0, nettedMinor: 0, unallocatedMinor: 0 } as const;

const NO_SALE = { linkId: null, orderId: null, commissionId: null };

/** Writes the payout's audit entry and event after a correction. */
async function announceCorrection(work: Work, old: PayoutRow, row: PayoutRow): Promise<void> {
  const context = ['creatorId', 'amountMinor', 'currency'];
  work.audit({ resourceId: old.id, old, new: row, context });
  work.emit('payout.created', Payout.parse(toPayout(await getPayout(work.db, work.brandId, old.id))));
}

/** Withdraws a payout that was not paid. Repeating it changes nothing. */
export async function voidPayout(work: Work, id: string, reason: string): Promise<void> {
  const { db, now, brandId } = work;
  const old = await lockPayout(db, brandId, id);
  if (old.status === 'voided') return;
  if (old.status !== 'completed' || old.method === 'wallet') {
    const advice = isPaid(old) ? 'is paid: if the money came back, return it instead' : 'came back already';
    throw createStateError(old, `The payout ${advice}.`);
  }
  const correction = { correctedAt: now, correctionReason: reason, updatedAt: now };
  const row = await updatePayout(db, brandId, id, { status: 'voided', ...correction });
  const { creatorId, currency, createdAt: at } = row;
  const postings = (['unallocated', 'cash'] as const).map((account): Posting => ({ account, amountMinor: 0, at }));
  work.post({ kind: 'void', currency, creatorId, payoutId: id, ...NO_SALE, postings });
  await announceCorrection(work, old, row);
}

/**
 * The time at which the money came back: now by default, at most a day in the future. The start of the payment's day
 * stands for that day, so a time of up to a day before the payment becomes the payment's.
 */
function checkReturnedAt({ now }: Work, { returned_at: at }: PayoutReturn, { paidAt }: PayoutRow): Date {
  if (at === undefined) return now;
  const isFuture = at.getTime() > now.getTime() + DAY_MS;
  if (!isFuture && (paidAt === null || at >= paidAt)) return at;
  if (!isFuture && paidAt !== null && at.getTime() > paidAt.getTime() - DAY_MS) return paidAt;
  const message = `is more than a day ${isFuture ? 'in the future' : 'before the payment'}; got ${at.toISOString()}.`;
  throw validationError([{ field: 'returned_at', code: 'invalid', message }]);
}

const selectOwn = (db: Db, brandId: string, payoutId: string) =>
  db
    .selectFrom('payoutAllocations as own')
    .where('own.brandId', '=', brandId)
    .where('own.payoutId', '=', payoutId)
    .orderBy('own.commissionId');

/** Lists what every payout paid of the first commissions that this one paid, in whole or in part. */
async function listUndone(db: Db, brandId: string, payoutId: string, limit: number) {
  return await db
    .selectFrom('payoutAllocations as allocation')
    .select(['payoutId', 'commissionId', 'amountMinor'])
    .where('brandId', '=', brandId)
    .where('commissionId', 'in', selectOwn(db, brandId, payoutId).select('own.commissionId').limit(limit))
    .orderBy('commissionId')
    .execute();
}

/** Everything that the payout paid, as it is kept of a payout that came back. */
async function readUndone(db: Db, { brandId, id, nettedMinor }: PayoutRow): Promise<string> {
  const allocations = await selectOwn(db, brandId, id).select(['commissionId', 'amountMinor']).execute();
  return JSON.stringify({ nettedMinor, allocations });
}

export const countPaidCommissions = async (db: Db, brandId: string, payoutId: string): Promise<number> =>
  await countRows(selectOwn(db, brandId, payoutId).clearOrderBy().select(COUNT));

async function hasPaidMore(db: Db, brandId: string, payoutId: string, than: number): Promise<boolean> {
  const next = selectOwn(db, brandId, payoutId).select('own.commissionId').offset(than).limit(1);
  return (await next.executeTakeFirst()) !== undefined;
}

async function deleteAllocations(db: Db, brandId: string, rows: Awaited<ReturnType<typeof listUndone>>): Promise<void> {
  await db
    .deleteFrom('payoutAllocations')
    .where('brandId', '=', brandId)
    .where('commissionId', '=', sql<string>`any(${rows.map(({ commissionId }) => commissionId)})`)
    .execute();
}

const sumMinor = (rows: readonly { amountMinor: number }[]): number =>
  rows.reduce((sum, { amountMinor }) => sum + amountMinor, 0);

/** Takes commissions away from another payout that paid a part of them; the money stays with it for others. */
async function releaseShare(work: Work, payoutId: string, releasedMinor: number, at: Date): Promise<void> {
  const { db, now, brandId } = work;
  const { allocatedMinor, nettedMinor, unallocatedMinor, creatorId, currency } = await getPayout(db, brandId, payoutId);
  const leftAllocated = allocatedMinor - releasedMinor;
  // It cannot withhold more than it pays: the rest is owed back again.
  const restoredMinor = Math.max(0, nettedMinor - leftAllocated);
  const leftMinor = releasedMinor - restoredMinor;
  await updatePayout(db, brandId, payoutId, {
    allocatedMinor: leftAllocated,
    nettedMinor: nettedMinor - restoredMinor,
    unallocatedMinor: unallocatedMinor + leftMinor,
    updatedAt: now,
  });
  postReturn(work, { id: payoutId, creatorId, currency }, [
    { account: 'commission_settled', amountMinor: -releasedMinor, at },
    { account: 'adjustments_netted', amountMinor: restoredMinor, at },
    { account: 'unallocated', amountMinor: leftMinor, at },
  ]);
}

function postReturn(
  work: Pick<Work, 'post'>,
  { id: payoutId, creatorId, currency }: Pick<PayoutRow, 'id' | 'creatorId' | 'currency'>,
  lines: readonly Posting[],
): void {
  const postings = lines.filter(({ amountMinor }) => amountMinor !== 0);
  if (postings.length > 0) work.post({ kind: 'return', currency, creatorId, payoutId, ...NO_SALE, postings });
}

/** Makes a paid commission due again. One that was clawed back is rejected instead: it is not owed. */
async function reopenCommission(work: Work, commission: CommissionRow, payoutId: string): Promise<void> {
  const { db, now, brandId } = work;
  const { commissionMinor, occurredAt: at, orderId } = commission;
  const isClawedBack = commission.clawedBackAt !== null;
  const status = isClawedBack ? ('rejected' as const) : ('approved' as const);
  const lines: Posting[] = [
    { account: ACCOUNT_OF.paid, amountMinor: commissionMinor, at },
    { account: ACCOUNT_OF[status], amountMinor: -commissionMinor, at },
  ];
  // Refunds take nothing back from an unpaid commission; they make it smaller, which follows below.
  for (const { amountMinor, at } of await listAdjustments(db, commission)) {
    lines.push({ account: 'commission_expense', amountMinor, at });
    lines.push({ account: 'refund_adjustment', amountMinor: -amountMinor, at });
  }
  const postings = lines.filter(({ amountMinor }) => amountMinor !== 0);
  if (postings.length > 0) work.post(toLedgerEntry(commission, 'return', postings, payoutId));
  await replaceAdjustments(db, commission, []);
  const statusNote = isClawedBack ? commission.clawBackReason : commission.statusNote;
  const change = { status, statusNote, statusUpdatedAt: now, clawedBackAt: null, clawBackReason: null };
  await updateCommission(db, commission, change);
  const order = orderId === null ? undefined : await findOrderById(db, brandId, orderId);
  if (order) await alignCommission(work, order, { ...commission, ...change });
}

/** Posts the way back of everything that the payout's own entries say. */
function postMoneyBack(work: Pick<Work, 'post'>, payout: PayoutRow, at: Date): void {
  const { amountMinor, allocatedMinor, nettedMinor, unallocatedMinor, isFee } = payout;
  postReturn(work, payout, [
    { account: 'cash', amountMinor, at },
    { account: 'fees', amountMinor: isFee ? -amountMinor : 0, at },
    { account: 'unallocated', amountMinor: -unallocatedMinor, at },
    { account: 'commission_settled', amountMinor: -allocatedMinor, at },
    { account: 'adjustments_netted', amountMinor: nettedMinor, at },
  ]);
}

/** Locks a payout whose money came back, and refuses one that was not paid. */
export async function lockReturned(work: Work, id: string, patch: PayoutReturn): Promise<{ old: PayoutRow; at: Date }> {
  const old = await lockPayout(work.db, work.brandId, id);
  if (old.status === 'returned') return { old, at: work.now };
  if (!isPaid(old)) throw createStateError(old, 'Only a paid payout can come back; void one that was not paid.');
  return { old, at: checkReturnedAt(work, patch, old) };
}

/**
 * Records that the money of a paid payout came back, for the first `limit` commissions that it paid: they are due again.
 * With the last of them the payout is `returned`, and what it netted is owed back again; true is returned. Until then, it
 * keeps their money, and pays nothing of it.
 */
export async function returnNextPart(work: Work, id: string, patch: PayoutReturn, limit: number): Promise<boolean> {
  const { db, now, brandId } = work;
  const { old, at } = await lockReturned(work, id, patch);
  if (old.status === 'returned') return true;
  const isLast = !(await hasPaidMore(db, brandId, id, limit));
  const undone = old.undone === null ? { undone: await readUndone(db, old) } : {};
  const parts = await listUndone(db, brandId, id, limit);
  const ownIds = parts.flatMap(({ payoutId, commissionId }) => (payoutId === id ? [commissionId] : []));
  const commissions = await lockCommissions(db, brandId, ownIds);
  await deleteAllocations(db, brandId, parts);
  const row = await updatePayout(db, brandId, id, {
    ...undone,
    ...(isLast ? { ...RETURNED, correctedAt: at, correctionReason: patch.reason } : {}),
    updatedAt: now,
  });
  if (isLast) postMoneyBack(work, old, at);
  for (const [payoutId, own] of Map.groupBy(parts, (one) => one.payoutId)) {
    if (payoutId !== id || !isLast) await releaseShare(work, payoutId, sumMinor(own), at);
  }
  for (const commission of commissions) await reopenCommission(work, commission, id);
  if (!isLast) return false;
  await allocateUnallocatedFunds(work, [old]);
  await announceCorrection(work, old, row);
  return true;
}

/**
 * Records that the money of a paid payout came back: what it paid is due again, and what it netted is owed back again.
 * Repeating it changes nothing.
 */
export async function returnPayout(work: Work, id: string, patch: PayoutReturn, most: number): Promise<void> {
  const count = await countPaidCommissions(work.db, work.brandId, id);
  if (count > most) {
    const message =
      `It paid ${count} commissions, more than can be planned or returned at once. Have a person return it: over REST, ` +
      'without mode=plan, a job does it.';
    throw new ApiError('CONFLICT', message);
  }
  await returnNextPart(work, id, patch, most);
}

/** Takes back a paid commission, as much as refunds leave of it. The next payout deducts it. Repeating it changes nothing. */
export async function clawBackCommission(work: Work, id: string, reason: string): Promise<void> {
  const { db, now, brandId } = work;
  const { creatorId } = await getCommission(db, brandId, id);
  await lockPayees(db, brandId, [creatorId]);
  const [row] = await lockCommissions(db, brandId, [id]);
  if (row === undefined || row.clawedBackAt !== null) return;
  const leftMinor = row.commissionMinor - sumMinor(await listAdjustments(db, row));
  if (row.status !== 'paid' || leftMinor <= 0) {
    const problem = row.status === 'paid' ? 'Refunds took it back already.' : 'Reject it instead: it is not paid.';
    throw new ApiError('INVALID_STATE_TRANSITION', problem, { facts: { current_status: row.status, allowed: [] } });
  }
  const change = { clawedBackAt: now, clawBackReason: reason };
  await updateCommission(db, row, change);
  const { currency } = row;
  const facts = { brandId, commissionId: id, creatorId, currency, createdAt: now };
  await insertAdjustment(db, { ...facts, cause: CLAWED_BACK, amountMinor: leftMinor, at: now });
  work.post(
    toLedgerEntry(row, 'claw_back', [
      { account: 'refund_adjustment', amountMinor: leftMinor, at: now },
      { account: 'commission_expense', amountMinor: -leftMinor, at: now },
    ]),
  );
  const context = ['creatorId', 'commissionMinor', 'currency'];
  work.audit({ resourceId: id, old: row, new: { ...row, ...change }, context });
  await announceCommissions(work, 'commission.rejected', [id]);
  await allocateUnallocatedFunds(work, [row]);
}
