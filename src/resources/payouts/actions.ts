import { given } from '../../api/patch.ts';
import type { Work } from '../../api/work.ts';
import { ApiError, validationError } from '../../values/errors.ts';
import { newId } from '../../values/ids.ts';
import { amountProblem, toMinor } from '../../values/money.ts';
import { getBrandCurrency } from '../brands/queries.ts';
import { holdApproved, holdCommissions, updatePaid } from '../commissions/queries.ts';
import { postPayment } from '../orders/actions.ts';
import { allocate, assertFits, assertPayable, netOf, oldestFirst } from './allocation.ts';
import {
  findPayee,
  getPayout,
  holdPayout,
  insertAllocations,
  insertPayout,
  listAllocated,
  type PayoutFacts,
  type PayoutRow,
  sumOutstanding,
  updatePayout,
} from './queries.ts';
import { Payout, type PayoutCreate, type PayoutPatch, payoutOf } from './schema.ts';

/** A payer's day may have begun before ours. */
const AHEAD_MS = 24 * 60 * 60 * 1_000;

export async function createPayout(work: Work, input: PayoutCreate): Promise<PayoutFacts> {
  const { db, now, brandId } = work;
  const { creator_email, amount, method, wallet_email = null } = input;
  const creatorId = await findPayee(db, brandId, creator_email);
  const currency = input.currency ?? (await getBrandCurrency(db, brandId));
  const amountMinor = toMinor(amount, currency);
  const problems = [];
  if (creatorId === undefined) {
    const message = `${creator_email} is not on the roster.`;
    problems.push({ field: 'creator_email', code: 'not_on_roster', message });
  }
  if (amountMinor === undefined) {
    const message = `${amountProblem(amount, currency)}; got ${amount}.`;
    problems.push({ field: 'amount', code: 'invalid', message });
  }
  if (creatorId === undefined || amountMinor === undefined) throw validationError(problems);
  const { id } = await insertPayout(db, {
    id: newId('pay', now.getTime()),
    ...{ brandId, creatorId, amountMinor, currency, method },
    walletEmail: wallet_email,
    status: 'completed',
    note: input.note ?? input.description ?? null,
    createdAt: now,
  });
  const row = await getPayout(db, brandId, id);
  work.audit({ resourceId: id, old: null, new: row });
  work.emit('payout.created', Payout.parse(payoutOf(row)));
  return row;
}

function wrongState({ status }: PayoutRow, message: string): ApiError {
  return new ApiError('INVALID_STATE_TRANSITION', message, { facts: { current_status: status, allowed: [] } });
}

/** Paid again: nothing changes, as long as the payment told of is the one on record. */
async function assertSamePayment({ db, brandId }: Work, payout: PayoutRow, patch: PayoutPatch): Promise<void> {
  const { paid_at, reference, note, commission_ids } = patch;
  const differing = [];
  if (paid_at !== undefined && paid_at.getTime() !== payout.paidAt?.getTime()) differing.push('paid_at');
  if (reference !== undefined && reference !== payout.reference) differing.push('reference');
  if (note !== undefined && note !== payout.note) differing.push('note');
  if (commission_ids !== undefined) {
    const told = [...new Set(commission_ids)].sort();
    const kept = (await listAllocated(db, brandId, payout.id)).sort();
    if (told.join() !== kept.join()) differing.push('commission_ids');
  }
  if (differing.length === 0) return;
  throw wrongState(payout, `The payout is paid already, with another ${differing.join(', ')}.`);
}

/** What it pays, in what order: as listed, or everything approved, oldest first. All of it is held. */
async function holdPayable({ db, brandId }: Work, payout: PayoutRow, ids: string[] | undefined) {
  if (ids === undefined) return (await holdApproved(db, payout)).sort(oldestFirst);
  return assertPayable(ids, await holdCommissions(db, brandId, ids), payout);
}

interface Paid {
  allocatedMinor: number;
  /** What refunds after an earlier payment had taken back, and is settled with this payout; below zero: given back. */
  nettedMinor: number;
}

/** Pays whole commissions with the amount and with what the creator owes from refunds. */
async function payCommissions(work: Work, payout: PayoutRow, ids: string[] | undefined): Promise<Paid> {
  const { db, now, brandId } = work;
  const payable = await holdPayable(work, payout, ids);
  const outstanding = await sumOutstanding(db, payout);
  const budgetMinor = payout.amountMinor + Math.max(outstanding, 0);
  const allocation = allocate(payable, budgetMinor);
  if (ids) assertFits(ids, allocation, payout, budgetMinor);
  const { chosen, allocatedMinor } = allocation;
  const chosenIds = chosen.map(({ id }) => id);
  await insertAllocations(db, payout, chosenIds);
  await updatePaid(db, brandId, chosenIds, now);
  for (const commission of chosen) postPayment(work, commission, payout.id);
  const paysNone = ids?.length === 0;
  return { allocatedMinor, nettedMinor: paysNone ? 0 : netOf(outstanding, allocatedMinor, payout.amountMinor) };
}

function postNetting(work: Work, { id, creatorId, currency }: PayoutRow, nettedMinor: number, at: Date): void {
  if (nettedMinor === 0) return;
  work.post({
    ...{ kind: 'payment', currency, creatorId, payoutId: id },
    ...{ linkId: null, orderId: null, commissionId: null },
    postings: [
      { account: 'cash', amountMinor: nettedMinor, at },
      { account: 'adjustments_netted', amountMinor: -nettedMinor, at },
    ],
  });
}

function paidAtOf({ paid_at }: PayoutPatch, now: Date): Date {
  if (paid_at === undefined) return now;
  if (paid_at.getTime() <= now.getTime() + AHEAD_MS) return paid_at;
  const message = `is in the future; got ${paid_at.toISOString()}.`;
  throw validationError([{ field: 'paid_at', code: 'invalid', message }]);
}

/** Records that an external payout was paid, and allocates it. */
export async function settlePayout(work: Work, id: string, patch: PayoutPatch): Promise<void> {
  const { db, now, brandId } = work;
  const old = await holdPayout(db, brandId, id);
  if (old.method === 'wallet') throw wrongState(old, 'Only manual payouts and bank transfers are settled like this.');
  if (old.status === 'paid') return await assertSamePayment(work, old, patch);
  const paidAt = paidAtOf(patch, now);
  const paid = await payCommissions(work, old, patch.commission_ids);
  const { reference, note } = patch;
  const change = { ...given({ reference, note }), ...paid, status: 'paid' as const, paidAt, updatedAt: now };
  const row = await updatePayout(db, brandId, id, change);
  postNetting(work, old, paid.nettedMinor, paidAt);
  work.audit({ resourceId: id, old, new: { ...row, commissionIds: await listAllocated(db, brandId, id) } });
}
