import type { Work } from '../../kit/operation/work.ts';
import type { Posting } from '../../kit/outbox/ledger-entry.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { amountProblem, MAX_AMOUNT_MINOR, toMinor } from '../../kit/values/money.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { getBrandCurrency } from '../../platform/brands/queries.ts';
import { announce, type CommissionRow, lockApproved, lockCommissions, postPayment, updatePaid } from '../commissions/commissions.ts';
import { mailPaid } from './payouts.mails.ts';
import { assertFits, assertPayable, oldestFirst, type Plan, planPayment, type Share } from './policy.ts';
import {
  findPayee,
  getPayout,
  insertFundings,
  insertPayout,
  isBeforeSales,
  listAllocated,
  listFunded,
  listFunds,
  lockPayees,
  lockPayout,
  type Payee,
  type PayoutFacts,
  type PayoutRow,
  sumOutstanding,
  updatePayout,
  updateShare,
} from './payouts.ts';
import { Payout, type PayoutCreate, type PayoutPatch, payoutOf } from './payouts.shapes.ts';

/** Time zones: the payer's day may have started before the UTC day. */
const DAY_MS = 24 * 60 * 60 * 1_000;

export async function createPayout(work: Work, input: PayoutCreate): Promise<PayoutFacts> {
  const { db, now, brandId } = work;
  const { creator_email, amount, method, wallet_email = null } = input;
  const creatorId = await findPayee(db, brandId, creator_email);
  const currency = input.currency ?? (await getBrandCurrency(db, brandId));
  const problem = amountProblem(amount, currency, MAX_AMOUNT_MINOR);
  const amountMinor = problem === undefined ? toMinor(amount, currency) : undefined;
  const problems = [];
  if (creatorId === undefined) {
    const message = `${creator_email} is not on the roster.`;
    problems.push({ field: 'creator_email', code: 'not_on_roster', message });
  }
  if (amountMinor === undefined) {
    problems.push({ field: 'amount', code: 'invalid', message: `${problem}; got ${amount}.` });
  }
  if (creatorId === undefined || amountMinor === undefined) throw validationError(problems);
  const isWallet = method === 'wallet';
  if (isWallet) await lockPayees(db, brandId, [creatorId]);
  const made = await insertPayout(db, {
    id: newId('pay', now.getTime()),
    ...{ brandId, creatorId, amountMinor, currency, method },
    walletEmail: wallet_email,
    status: 'completed',
    note: input.note ?? input.description ?? null,
    paidAt: isWallet ? now : null,
    createdAt: now,
  });
  // A wallet payout is paid as soon as it is recorded.
  if (isWallet) await payOut(work, made, selectionOf(input), now);
  return await announcePayout(work, made.id);
}

async function announcePayout(work: Work, id: string): Promise<PayoutFacts> {
  const row = await getPayout(work.db, work.brandId, id);
  work.audit({
    resourceId: id,
    old: null,
    new: { ...row, commissionIds: await listAllocated(work.db, work.brandId, id) },
  });
  work.emit('payout.created', Payout.parse(payoutOf(row)));
  await mailPaid(work, row);
  return row;
}

type Unpaid = Omit<Parameters<typeof insertPayout>[1], 'status' | 'paidAt'>;

/**
 * Records a payout that is already paid and pays these commissions. Their creator is locked. Without commissions it
 * pays what is due again.
 */
export async function insertPaidPayout(work: Work, row: Unpaid, ids: string[], paidAt: Date): Promise<PayoutFacts> {
  const status = row.method === 'wallet' ? ('completed' as const) : ('paid' as const);
  const made = await insertPayout(work.db, { ...row, status, paidAt });
  await payOut(work, made, { ids, isFee: false }, paidAt);
  return await announcePayout(work, made.id);
}

function wrongState({ status }: PayoutRow, message: string): ApiError {
  return new ApiError('INVALID_STATE_TRANSITION', message, { facts: { current_status: status, allowed: [] } });
}

/** Settling a paid payout again changes nothing, as long as it reports the recorded payment. */
async function assertSamePayment({ db, brandId }: Work, payout: PayoutRow, patch: PayoutPatch): Promise<void> {
  const { paid_at, reference, note, commission_ids } = patch;
  const differing = [];
  if (paid_at !== undefined && paid_at.getTime() !== payout.paidAt?.getTime()) differing.push('paid_at');
  if (reference !== undefined && reference !== payout.reference) differing.push('reference');
  if (note !== undefined && note !== payout.note) differing.push('note');
  if (commission_ids !== undefined) {
    const received = [...new Set(commission_ids)].sort();
    const kept = (payout.settledIds ?? (await listAllocated(db, brandId, payout.id))).toSorted();
    if (received.join() !== kept.join()) differing.push('commission_ids');
  }
  if (differing.length === 0) return;
  throw wrongState(payout, `The payout is already paid, with a different ${differing.join(', ')}.`);
}

/** The commissions to pay, in order: the listed ones, or all approved ones, oldest first. All are locked. */
async function lockPayable({ db, brandId }: Work, payout: PayoutRow, ids: string[] | undefined) {
  if (ids === undefined) return (await lockApproved(db, payout)).sort(oldestFirst);
  return assertPayable(ids, await lockCommissions(db, brandId, ids), payout);
}

/** The time of the payment: now by default, never in the future, and not on a day before the brand's first sale. */
export async function paidAtOf(
  { db, brandId, now }: Work,
  { paid_at: paidAt }: Pick<PayoutPatch, 'paid_at'>,
): Promise<Date> {
  if (paidAt === undefined) return now;
  const dayAfter = new Date(paidAt.getTime() + DAY_MS);
  const isFuture = paidAt.getTime() > now.getTime() + DAY_MS;
  if (!isFuture && !(await isBeforeSales(db, brandId, dayAfter))) return paidAt;
  const message = `is ${isFuture ? 'in the future' : "before the brand's first sale"}; got ${paidAt.toISOString()}.`;
  throw validationError([{ field: 'paid_at', code: 'invalid', message }]);
}

/** What a payout pays: these commissions or, without ids, all approved ones. */
interface Selection {
  ids: string[] | undefined;
  isFee: boolean;
}

const selectionOf = ({ commission_ids: ids }: Pick<PayoutPatch, 'commission_ids'>): Selection => ({
  ids,
  isFee: ids?.length === 0,
});

/**
 * Pays commissions with the money that was sent and with what earlier payouts left over, and keeps the rest for later.
 */
async function payOut(work: Work, payout: PayoutRow, { ids, isFee }: Selection, paidAt: Date): Promise<PayoutRow> {
  const { db, brandId } = work;
  const { id, amountMinor } = payout;
  if (isFee) {
    postPaidOut(work, { payout, paidAt, leftMinor: 0, isFee: true });
    return await updatePayout(db, brandId, id, { isFee: true, settledIds: [] });
  }
  const payable = await lockPayable(work, payout, ids);
  const funds = [...(await listFunds(db, payout)), { id, leftMinor: amountMinor }];
  const plan = planPayment(payable, funds, await sumOutstanding(db, payout));
  if (ids) assertFits(ids, plan, payout);
  postPaidOut(work, { payout, paidAt, leftMinor: amountMinor, isFee: false });
  await payByPlan(work, payout, plan, paidAt);
  const settledIds = plan.chosen.map((commission) => commission.id);
  return await updatePayout(db, brandId, id, { settledIds });
}

/** Records that an external payout was paid, and allocates it. */
export async function settlePayout(work: Work, id: string, patch: PayoutPatch): Promise<void> {
  const { db, now, brandId } = work;
  const old = await lockPayout(db, brandId, id);
  if (old.method === 'wallet') throw wrongState(old, 'Only manual payouts and bank transfers are settled like this.');
  if (old.status === 'paid') return await assertSamePayment(work, old, patch);
  const paidAt = await paidAtOf(work, patch);
  const { reference, note } = patch;
  const change = { ...omitUndefined({ reference, note }), status: 'paid' as const, paidAt, updatedAt: now };
  const paid = await updatePayout(db, brandId, id, change);
  const row = await payOut(work, paid, selectionOf(patch), paidAt);
  const settled = { ...row, commissionIds: await listAllocated(db, brandId, id) };
  work.audit({ resourceId: id, old, new: settled, context: ['creatorId', 'amountMinor', 'currency'] });
  await mailPaid(work, await getPayout(db, brandId, id));
}

interface PaidOut {
  payout: Pick<PayoutRow, 'id' | 'creatorId' | 'currency' | 'amountMinor'>;
  paidAt: Date;
  isFee: boolean;
  leftMinor: number;
}

const NOWHERE = { linkId: null, orderId: null, commissionId: null };

/** Posts the sent money on the day it was sent, either as unallocated or as a fee. */
function postPaidOut(work: Pick<Work, 'post'>, { payout, paidAt: at, isFee }: PaidOut): void {
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
async function payByPlan(work: Work, payee: Payee, plan: Plan<CommissionRow>, at: Date): Promise<void> {
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
  const { db, now, brandId } = work;
  const creatorIds = [...new Set(payees.map(({ creatorId }) => creatorId))];
  if (creatorIds.length === 0) return;
  const funded = await listFunded(db, brandId, creatorIds);
  const distinct = new Map(payees.map((payee) => [`${payee.creatorId} ${payee.currency}`, payee]));
  for (const payee of distinct.values()) {
    if (!funded.has(payee.creatorId)) continue;
    const funds = await listFunds(db, payee);
    if (funds.length === 0) continue;
    const approved = (await lockApproved(db, payee)).sort(oldestFirst);
    const plan = planPayment(approved, funds, await sumOutstanding(db, payee));
    if (plan.chosen.length > 0 || plan.nettedMinor !== 0) await payByPlan(work, payee, plan, now);
  }
}
