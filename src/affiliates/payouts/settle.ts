import type { Work } from '../../kit/operation/work.ts';
import type { Posting } from '../../kit/outbox/ledger-entry.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { amountProblem, MAX_AMOUNT_MINOR, toMinor } from '../../kit/values/money.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { getBrandCurrency } from '../../platform/brands/brands.ts';
import { listPayTo, setFirstAddress } from '../../workflow/payments/payments.ts';
import {
  announceCommissions,
  lockApproved,
  lockFirstApproved,
  lockPayable,
  type PayableCommission,
  postPayment,
  updatePaid,
} from '../commissions/commissions.ts';
import { assertFits, assertPayable, oldestFirst, type PayoutShare, type Plan, planPayment } from './allocate.ts';
import { mailPaid } from './payouts.mails.ts';
import { Payout, type PayoutCreate, type PayoutPatch, toPayout } from './payouts.shapes.ts';
import {
  findNettingFund,
  findPayee,
  getPayout,
  insertFundings,
  insertPayout,
  isBeforeSales,
  isPaid,
  listAllocated,
  listFreeFunds,
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
  const walletEmail = isWallet ? await takeWallet(work, creatorId, wallet_email) : wallet_email;
  const payout = await insertPayout(db, {
    id: newId('pay', now.getTime()),
    brandId,
    creatorId,
    amountMinor,
    currency,
    method,
    walletEmail,
    status: 'completed',
    note: input.note ?? input.description ?? null,
    paidAt: isWallet ? now : null,
    createdAt: now,
  });
  // A wallet payout is paid as soon as it is recorded.
  if (isWallet) await payOut(work, payout, toSelection(input), now);
  return await announcePayout(work, payout.id);
}

/**
 * Returns the address of a wallet payout. One that is given becomes the creator's payment address if there is none;
 * afterwards only the profile changes it, so that the old address hears of it.
 */
async function takeWallet(work: Work, creatorId: string, givenAddress: string | null): Promise<string | null> {
  const { db, brandId, now } = work;
  const payee = (await listPayTo(db, brandId, [creatorId], now)).get(creatorId);
  const refuse = (code: string, message: string) => validationError([{ field: 'wallet_email', code, message }]);
  if (payee?.blocked?.reason === 'payment_change_pending') {
    const until = payee.blocked.until?.toISOString();
    throw refuse('payment_change_pending', `is being changed: nothing is paid to this creator until ${until}.`);
  }
  if (givenAddress !== null) {
    if (await setFirstAddress(work, creatorId, givenAddress)) return givenAddress;
    const message = `is not the address that this creator is paid at, ${payee?.payTo}; change it with PUT /v1/roster/{id}/payment first.`;
    throw refuse('not_the_payment_address', message);
  }
  if (payee?.payTo === null) throw refuse('no_payment_address', 'is required: the creator has no address.');
  return payee === undefined || payee.payToSource === 'mail' ? null : payee.payTo;
}

async function announcePayout(work: Work, id: string): Promise<PayoutFacts> {
  const row = await getPayout(work.db, work.brandId, id);
  work.audit({
    resourceId: id,
    old: null,
    new: { ...row, commissionIds: await listAllocated(work.db, work.brandId, id) },
  });
  work.emit('payout.created', Payout.parse(toPayout(row)));
  await mailPaid(work, row);
  return row;
}

type NewPayout = Omit<Parameters<typeof insertPayout>[1], 'status' | 'paidAt'>;

/**
 * Records a payout that is already paid and pays these locked commissions. Lock their creator first. Without commissions
 * it only returns netted refunds that are due again.
 */
export async function insertPaidPayout(
  work: Work,
  row: NewPayout,
  { rows, withheldMinor }: { rows: PayableCommission[]; withheldMinor: number },
  paidAt: Date,
): Promise<PayoutFacts> {
  const status = row.method === 'wallet' ? ('completed' as const) : ('paid' as const);
  const payout = await insertPayout(work.db, { ...row, status, paidAt });
  await payOut(work, payout, { ids: rows.map(({ id }) => id), rows, isFee: false, withheldMinor }, paidAt);
  return await announcePayout(work, payout.id);
}

interface NextPart {
  cutoff: Date | undefined;
  /** Commissions that one step pays. */
  limit: number;
  withheldMinor: number;
  paidAt: Date;
}

/**
 * Pays the next commissions of a payout that a job spends in steps, oldest first. Returns how many it has paid, once
 * nothing is left to pay; undefined before. A payout that came back meanwhile pays nothing more.
 */
export async function payNextPart(
  work: Work,
  payoutId: string,
  { cutoff, limit, withheldMinor, paidAt }: NextPart,
): Promise<number | undefined> {
  const { db, brandId } = work;
  const payout = await lockPayout(db, brandId, payoutId);
  if (!isPaid(payout)) return 0;
  const next = (await lockFirstApproved(db, payout, { cutoff, limit: limit + 1 })).sort(oldestFirst);
  const isLast = next.length <= limit;
  const others = (await listFunds(db, payout)).filter(({ id, isSpent }) => id !== payoutId && !isSpent);
  const funds = [...others, { id: payoutId, leftMinor: payout.unallocatedMinor }];
  // What the rail cannot pay is withheld at the end: before, it would be given back out of money that is planned.
  const owedMinor = (await sumOutstanding(db, payout)) + (isLast ? withheldMinor : 0);
  const plan = planPayment(next.slice(0, limit), funds, owedMinor);
  if (plan.chosen.length > 0 || plan.nettedMinor !== 0) await payByPlan(work, payout, plan, paidAt);
  if (!isLast && plan.chosen.length > 0) return undefined;
  const settledIds = await listAllocated(db, brandId, payoutId);
  const row = await updatePayout(db, brandId, payoutId, { settledIds });
  work.audit({ resourceId: payoutId, old: payout, new: row, context: ['creatorId', 'amountMinor', 'currency'] });
  work.emit('payout.created', Payout.parse(toPayout(await getPayout(db, brandId, payoutId))));
  return settledIds.length;
}

export function createStateError({ status }: PayoutRow, message: string): ApiError {
  return new ApiError('INVALID_STATE_TRANSITION', message, { facts: { current_status: status, allowed: [] } });
}

/** Accepts a paid payout that is settled again, as long as it reports the recorded payment. */
async function assertSamePayment({ db, brandId }: Work, payout: PayoutRow, patch: PayoutPatch): Promise<void> {
  const { paid_at, reference, note, commission_ids } = patch;
  const differences = [];
  if (paid_at !== undefined && paid_at.getTime() !== payout.paidAt?.getTime()) differences.push('paid_at');
  if (reference !== undefined && reference !== payout.reference) differences.push('reference');
  if (note !== undefined && note !== payout.note) differences.push('note');
  if (commission_ids !== undefined) {
    const requestedIds = [...new Set(commission_ids)].sort();
    const settledIds = (payout.settledIds ?? (await listAllocated(db, brandId, payout.id))).toSorted();
    if (requestedIds.join() !== settledIds.join()) differences.push('commission_ids');
  }
  if (differences.length === 0) return;
  throw createStateError(payout, `The payout is already paid, with a different ${differences.join(', ')}.`);
}

/**
 * The time of the payment: now by default, at most a day in the future or before the brand's first sale, because callers
 * may be a day ahead of UTC, and a day without a time is its start.
 */
export async function checkPaidAt(
  { db, brandId, now }: Work,
  { paid_at: paidAt }: Pick<PayoutPatch, 'paid_at'>,
): Promise<Date> {
  if (paidAt === undefined) return now;
  const dayAfter = new Date(paidAt.getTime() + DAY_MS);
  const isFuture = paidAt.getTime() > now.getTime() + DAY_MS;
  if (!isFuture && !(await isBeforeSales(db, brandId, dayAfter))) return paidAt;
  const message = `is more than a day ${isFuture ? 'in the future' : "before the brand's first sale"}; got ${paidAt.toISOString()}.`;
  throw validationError([{ field: 'paid_at', code: 'invalid', message }]);
}

/** The commissions that a payout pays; without ids, all approved ones. */
interface PayoutSelection {
  ids: string[] | undefined;
  /** The commissions of `ids`, if they are locked already. */
  rows?: PayableCommission[];
  isFee: boolean;
  /** What the rail cannot pay of what is due. The payout withholds it like a refund, so it is due again. */
  withheldMinor?: number;
}

const toSelection = ({ commission_ids: ids }: Pick<PayoutPatch, 'commission_ids'>): PayoutSelection => ({
  ids,
  isFee: ids?.length === 0,
});

/** Pays commissions with the sent money and the rest of earlier payouts, and keeps the remainder for later. */
async function payOut(
  work: Work,
  payout: PayoutRow,
  { ids, rows, isFee, withheldMinor = 0 }: PayoutSelection,
  paidAt: Date,
): Promise<PayoutRow> {
  const { db, brandId } = work;
  const { id, amountMinor } = payout;
  postPaidOut(work, payout, paidAt, isFee);
  if (isFee) {
    return await updatePayout(db, brandId, id, { isFee: true, settledIds: [] });
  }
  const payable = ids
    ? assertPayable(ids, rows ?? (await lockPayable(db, brandId, ids)), payout)
    : (await lockApproved(db, payout)).sort(oldestFirst);
  const funds = [...(await listFreeFunds(db, payout)), { id, leftMinor: amountMinor }];
  const plan = planPayment(payable, funds, (await sumOutstanding(db, payout)) + withheldMinor);
  if (ids) assertFits(ids, plan, payout);
  await payByPlan(work, payout, plan, paidAt);
  const settledIds = plan.chosen.map((commission) => commission.id);
  return await updatePayout(db, brandId, id, { settledIds });
}

/** Records that an external payout was paid, and allocates it. */
export async function settlePayout(work: Work, id: string, patch: PayoutPatch): Promise<void> {
  const { db, now, brandId } = work;
  const old = await lockPayout(db, brandId, id);
  if (old.method === 'wallet')
    throw createStateError(old, 'Only manual payouts and bank transfers are settled like this.');
  if (old.status === 'paid') return await assertSamePayment(work, old, patch);
  if (old.status !== 'completed') throw createStateError(old, `The payout was ${old.status}; record a new one.`);
  const paidAt = await checkPaidAt(work, patch);
  const { reference, note } = patch;
  const change = { ...omitUndefined({ reference, note }), status: 'paid' as const, paidAt, updatedAt: now };
  const paidPayout = await updatePayout(db, brandId, id, change);
  const row = await payOut(work, paidPayout, toSelection(patch), paidAt);
  const settledPayout = { ...row, commissionIds: await listAllocated(db, brandId, id) };
  work.audit({ resourceId: id, old, new: settledPayout, context: ['creatorId', 'amountMinor', 'currency'] });
  await mailPaid(work, await getPayout(db, brandId, id));
}

const NO_SALE = { linkId: null, orderId: null, commissionId: null };

/** Posts the sent money on the day it was sent, either as unallocated or as a fee. */
function postPaidOut(work: Pick<Work, 'post'>, payout: PayoutRow, at: Date, isFee: boolean): void {
  const { id: payoutId, creatorId, currency, amountMinor } = payout;
  work.post({
    kind: 'payout',
    currency,
    creatorId,
    payoutId,
    ...NO_SALE,
    postings: [
      { account: isFee ? 'fees' : 'unallocated', amountMinor, at },
      { account: 'cash', amountMinor: -amountMinor, at },
    ],
  });
}

/** Posts the commissions that a payout pays, from its own money and from withheld refunds. */
function postShare(work: Pick<Work, 'post'>, payee: Payee, share: Omit<PayoutShare, 'leftMinor'>, at: Date): void {
  const { id: payoutId, allocatedMinor, nettedMinor } = share;
  const { creatorId, currency } = payee;
  const lines: Posting[] = [
    { account: 'commission_settled', amountMinor: allocatedMinor, at },
    { account: 'adjustments_netted', amountMinor: -nettedMinor, at },
    { account: 'unallocated', amountMinor: nettedMinor - allocatedMinor, at },
  ];
  const postings = lines.filter(({ amountMinor }) => amountMinor !== 0);
  if (postings.length === 0) return;
  work.post({ kind: 'payout', currency, creatorId, payoutId, ...NO_SALE, postings });
}

/** Each row is sealed, so that a statement about all commissions of a large creator would take half a minute. */
const PAID_AT_ONCE = 2_000;

/** Carries out the plan. Lock the creator, the payouts and the commissions first. */
async function payByPlan(work: Work, payee: Payee, plan: Plan<PayableCommission>, at: Date): Promise<void> {
  const { db, now, brandId } = work;
  const { chosen, shares, fundings } = plan;
  await insertFundings(db, brandId, fundings, at);
  for (let from = 0; from < chosen.length; from += PAID_AT_ONCE) {
    const ids = chosen.slice(from, from + PAID_AT_ONCE).map(({ id }) => id);
    await updatePaid(db, brandId, ids, now);
    await announceCommissions(work, 'commission.paid', ids);
  }
  const firstPayouts = new Map(fundings.toReversed().map(({ commissionId, payoutId }) => [commissionId, payoutId]));
  for (const commission of chosen) postPayment(work, commission, firstPayouts.get(commission.id) ?? null);
  for (const share of shares) {
    await updateShare(db, brandId, share, now);
    postShare(work, payee, share, at);
  }
}

/**
 * Pays the payees' approved commissions from the rest of earlier payouts, oldest first, and gives back netted refunds
 * that are due again. If what is owed back covers all of them, they are netted without a payment. Call it after an approval, a refund or a reverted refund, with the creators locked.
 */
export async function allocateUnallocatedFunds(work: Work, payees: readonly Payee[]): Promise<void> {
  const { db, now, brandId } = work;
  const creatorIds = [...new Set(payees.map(({ creatorId }) => creatorId))];
  if (creatorIds.length === 0) return;
  const fundedCreators = await listFunded(db, brandId, creatorIds);
  const distinct = new Map(payees.map((payee) => [`${payee.creatorId} ${payee.currency}`, payee]));
  for (const payee of distinct.values()) {
    if (!fundedCreators.has(payee.creatorId)) continue;
    const funds = await listFreeFunds(db, payee);
    const outstandingMinor = await sumOutstanding(db, payee);
    if (funds.length === 0 && outstandingMinor <= 0) continue;
    const approvedCommissions = (await lockApproved(db, payee)).sort(oldestFirst);
    // If what is owed back covers everything, no payment will come that could net it.
    const dueMinor = approvedCommissions.reduce((sum, { commissionMinor }) => sum + commissionMinor, 0);
    if (funds.length === 0 && dueMinor <= outstandingMinor) funds.push(...(await findNettingFund(db, payee)));
    if (funds.length === 0) continue;
    const plan = planPayment(approvedCommissions, funds, outstandingMinor);
    if (plan.chosen.length > 0 || plan.nettedMinor !== 0) await payByPlan(work, payee, plan, now);
  }
}
