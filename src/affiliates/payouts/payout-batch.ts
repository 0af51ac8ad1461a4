import type { z } from 'zod';
import type { Work } from '../../kit/operation/work.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { listPayTo, type PayTo } from '../../workflow/payments/payments.ts';
import { lockApproved, lockFirstApproved } from '../commissions/commissions.ts';
import { computeTransfer, oldestFirst } from './allocate.ts';
import { computeTotalDue, isDue, listBalances, type PayeeBalance } from './balances.ts';
import type { PayoutBatch, PayoutBatchMade } from './due-payouts.shapes.ts';
import { toPayout } from './payouts.shapes.ts';
import { findPayee, listAllocated, listFunds, lockPayees, type PayoutFacts, sumOutstanding } from './payouts.ts';
import { isPayable, toRailMinor } from './rails.ts';
import { allocateUnallocatedFunds, checkPaidAt, insertPaidPayout } from './settle.ts';

const MOST_PAYOUTS = 500;

/** Paying takes about a millisecond for each commission, and ten for each creator. */
const COMMISSIONS_OF_A_PAYEE = 10;

/** True if paying what is due takes longer than a call. */
export const isLarge = (balances: readonly PayeeBalance[], most: number): boolean =>
  balances.reduce((sum, { dueCount }) => sum + dueCount + COMMISSIONS_OF_A_PAYEE, 0) > most;

/** Maps the ids of the named creators to their addresses, and lists the addresses that the brand does not know. */
export async function findPayees({ db, brandId }: Pick<Work, 'db' | 'brandId'>, emails: readonly string[]) {
  const payeeEmails = new Map<string, string>();
  const unknownEmails: string[] = [];
  for (const email of new Set(emails)) {
    const id = await findPayee(db, brandId, email);
    if (id === undefined) unknownEmails.push(email);
    else payeeEmails.set(id, email);
  }
  return { payeeEmails, unknownEmails };
}

/**
 * Locks the payee's due commissions, or the first of them, and computes the amount that pays them all. The balance is
 * that of the locked creator, whose approved commissions nobody else changes.
 */
async function lockDue({ db, brandId }: Work, balance: PayeeBalance, cutoff: Date | undefined, limit: number) {
  const { creatorId, currency, dueCount, dueMinor } = balance;
  const payee = { brandId, creatorId, currency };
  const isPart = dueCount > limit;
  const locking = isPart ? lockFirstApproved(db, payee, { cutoff, limit }) : lockApproved(db, payee, cutoff);
  const rows = (await locking).sort(oldestFirst);
  const funds = await listFunds(db, payee);
  const amountMinor = computeTransfer(dueMinor, funds, await sumOutstanding(db, payee));
  return { payee, rows, isPart, amountMinor, isBeingPaid: funds.some(({ isSpent }) => isSpent) };
}

type SkipReason = Skipped['reason'];

/** Finds what keeps a payee from being paid by this batch. */
function findObstacle(
  { method, rail }: PayoutBatch,
  currency: string,
  payee: PayTo | undefined,
): SkipReason | undefined {
  const reason = payee?.blocked?.reason;
  if (reason === 'payment_change_pending') return reason;
  if (reason !== undefined && (method === 'wallet' || rail !== undefined)) return reason;
  return isPayable(rail, currency, payee?.country ?? null) ? undefined : 'currency_unsupported';
}

/** The address of a profile; null if the mail address is paid. */
const findWallet = (payee: PayTo | undefined): string | null =>
  payee === undefined || payee.payToSource === 'mail' ? null : payee.payTo;

/** Refuses to pay if the preview that the caller saw no longer holds. */
export function assertExpected(
  expected: NonNullable<PayoutBatch['expected']>,
  balances: readonly PayeeBalance[],
  batch: PayoutBatch,
): void {
  const dueBalances = balances.filter((one) => fromMinor(computeTotalDue(one), one.currency) >= (batch.minimum ?? 0));
  const payable = dueBalances.filter((one) => computeTotalDue(one) > 0);
  const actual = [...Map.groupBy(payable, (one) => one.currency)].map(([currency, rows]) => ({
    currency,
    total: fromMinor(
      rows.reduce((sum, one) => sum + computeTotalDue(one), 0),
      currency,
    ),
    payees: rows.length,
  }));
  const print = (sums: typeof actual) =>
    sums
      .filter(({ payees }) => payees > 0)
      .map(({ currency, total, payees }) => `${currency} ${total} ${payees}`)
      .sort()
      .join();
  if (print(expected) === print(actual)) return;
  const message = 'What is due is no longer what you expected; nothing was paid. Look at the preview again.';
  throw new ApiError('CONFLICT', message, { facts: { expected, actual } });
}

/** What a payee is due, locked, and what a rail sends of it. */
interface DuePayout extends Awaited<ReturnType<typeof lockDue>> {
  sentMinor: number;
}

type Skipped = z.input<typeof PayoutBatchMade>['skipped'][number];

/**
 * Locks what is due to a payee, or the first `limit` commissions of it, and finds whether the batch pays it. Lock the
 * creator first.
 */
export async function weighPayee(
  work: Work,
  batch: PayoutBatch,
  balance: PayeeBalance,
  payTo: PayTo | undefined,
  limit = Number.POSITIVE_INFINITY,
): Promise<{ due: DuePayout; skipped: Skipped | undefined }> {
  const lockedPayout = await lockDue(work, balance, batch.cutoff, limit);
  const { currency } = lockedPayout.payee;
  const duePayout = { ...lockedPayout, sentMinor: toRailMinor(batch.rail, lockedPayout.amountMinor, currency) };
  const facts = { creator_email: balance.creatorEmail, currency, total: fromMinor(duePayout.sentMinor, currency) };
  if (duePayout.isBeingPaid) return { due: duePayout, skipped: { ...facts, reason: 'being_paid' } };
  if (duePayout.sentMinor === 0) {
    await allocateUnallocatedFunds(work, [duePayout.payee]);
    return { due: duePayout, skipped: { ...facts, reason: 'nothing_due' } };
  }
  const isSmall = fromMinor(duePayout.amountMinor, currency) < (batch.minimum ?? 0);
  const reason = isSmall ? 'below_minimum' : findObstacle(batch, currency, payTo);
  return { due: duePayout, skipped: reason && { ...facts, reason } };
}

/** The rail cannot pay this part, so it is due again. */
export const computeWithheld = ({ amountMinor, sentMinor }: DuePayout): number => amountMinor - sentMinor;

/** Sends a payee what was weighed, and pays the locked commissions. */
export async function payPayee(
  work: Work,
  batch: PayoutBatch,
  duePayout: DuePayout,
  payTo: PayTo | undefined,
  paidAt: Date,
): Promise<PayoutFacts> {
  const { payee, rows, isPart, sentMinor } = duePayout;
  const row = {
    ...payee,
    id: newId('pay', work.now.getTime()),
    amountMinor: sentMinor,
    method: batch.method,
    walletEmail: batch.method === 'wallet' ? findWallet(payTo) : null,
    note: batch.note ?? null,
    reference: batch.reference ?? null,
    createdAt: work.now,
  };
  const withheldMinor = isPart ? 0 : computeWithheld(duePayout);
  return await insertPaidPayout(work, row, { rows, withheldMinor }, paidAt);
}

/** Refuses what is due to so many that it would hold a call for minutes. A direct call of that size is a job. */
function assertIsSmall(balances: readonly PayeeBalance[], most: number): void {
  if (!isLarge(balances, most)) return;
  const commissions = balances.reduce((sum, { dueCount }) => sum + dueCount, 0);
  const message =
    `${commissions} commissions of ${balances.length} creators and currencies are due, more than can be planned or paid at once. ` +
    'Name creators in creator_emails, or have a person pay them: over REST, without mode=plan, they are paid by a job.';
  throw new ApiError('CONFLICT', message);
}

/** Pays everything due to many creators with one payout per creator and currency, all or none. */
export async function payBatch(work: Work, batch: PayoutBatch, most: number) {
  const { db, now, brandId } = work;
  const { creator_emails: emails, currency, cutoff, expected } = batch;
  const paidAt = await checkPaidAt(work, batch);
  const { payeeEmails, unknownEmails } = await findPayees(work, emails ?? []);
  const filter = { creatorIds: emails && [...payeeEmails.keys()], currency, cutoff };
  const payees = (await listBalances(db, brandId, filter, now)).filter(isDue);
  assertIsSmall(payees, most);
  const creatorIds = [...new Set(payees.map(({ creatorId }) => creatorId))];
  await lockPayees(db, brandId, creatorIds);
  // Read again with the creators locked, to include other payments and refunds made in the meantime.
  const balances = (await listBalances(db, brandId, { ...filter, creatorIds }, now)).filter(isDue);
  const nothing = { currency: null, total: null };
  const skipped: Skipped[] = [
    ...unknownEmails.map((email) => ({ ...nothing, creator_email: email, reason: 'not_found' as const })),
    ...[...payeeEmails]
      .filter(([id]) => !balances.some(({ creatorId }) => creatorId === id))
      .map(([, email]) => ({ ...nothing, creator_email: email, reason: 'nothing_due' as const })),
  ];
  const addresses = await listPayTo(db, brandId, creatorIds, now);
  if (expected !== undefined) assertExpected(expected, balances, batch);
  const rows: PayoutFacts[] = [];
  let remaining = 0;
  for (const balance of balances) {
    const payTo = addresses.get(balance.creatorId);
    const { due, skipped: obstacle } = await weighPayee(work, batch, balance, payTo);
    if (obstacle) skipped.push(obstacle);
    else if (rows.length === MOST_PAYOUTS) remaining += 1;
    else rows.push(await payPayee(work, batch, due, payTo, paidAt));
  }
  const payouts = [];
  for (const row of rows) {
    payouts.push({ ...toPayout(row), commission_ids: await listAllocated(db, brandId, row.id) });
  }
  return { payouts, skipped, remaining, by_currency: sumByCurrency(rows) };
}

/** Sums payouts, one row per currency. */
export const sumByCurrency = (rows: readonly Pick<PayoutFacts, 'currency' | 'amountMinor'>[]) =>
  [...Map.groupBy(rows, (row) => row.currency)].map(([currency, own]) => {
    const minor = own.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
    return { currency, total: fromMinor(minor, currency), payouts: own.length };
  });
