import type { z } from 'zod';
import type { Work } from '../../kit/operation/work.ts';
import { newId } from '../../kit/values/ids.ts';
import { fromMinor } from '../../kit/values/money.ts';
import { lockCommissions } from '../commissions/commissions.ts';
import { computeTransfer, oldestFirst } from './allocate.ts';
import { isDue, listApproved, listBalances, type PayeeBalance } from './balances.ts';
import type { PayoutBatch, PayoutBatchMade } from './due-payouts.shapes.ts';
import { toPayout } from './payouts.shapes.ts';
import { findPayee, listAllocated, listFunds, lockPayees, type PayoutFacts, sumOutstanding } from './payouts.ts';
import { checkPaidAt, insertPaidPayout } from './settle.ts';

const MOST_PAYOUTS = 500;

/** Maps the ids of the named creators to their addresses, and lists the addresses that the brand does not know. */
async function findPayees({ db, brandId }: Work, emails: readonly string[]) {
  const payeeEmails = new Map<string, string>();
  const unknownEmails: string[] = [];
  for (const email of new Set(emails)) {
    const id = await findPayee(db, brandId, email);
    if (id === undefined) unknownEmails.push(email);
    else payeeEmails.set(id, email);
  }
  return { payeeEmails, unknownEmails };
}

/** Locks the payee's due commissions, and computes the amount that pays them all. */
async function lockDue({ db, brandId }: Work, { creatorId, currency }: PayeeBalance, cutoff: Date | undefined) {
  const payee = { brandId, creatorId, currency };
  const approvedIds = (await listApproved(db, payee, cutoff)).map(({ id }) => id);
  const commissions = await lockCommissions(db, brandId, approvedIds);
  const rows = commissions.filter(({ status }) => status === 'approved').sort(oldestFirst);
  const dueMinor = rows.reduce((sum, { commissionMinor }) => sum + commissionMinor, 0);
  const amountMinor = computeTransfer(dueMinor, await listFunds(db, payee), await sumOutstanding(db, payee));
  return { payee, ids: rows.map(({ id }) => id), amountMinor };
}

/** Pays everything due to many creators with one payout per creator and currency, all or none. */
export async function payBatch(work: Work, batch: PayoutBatch) {
  const { db, now, brandId } = work;
  const { creator_emails: emails, currency, cutoff, minimum = 0 } = batch;
  const paidAt = await checkPaidAt(work, batch);
  const { payeeEmails, unknownEmails } = await findPayees(work, emails ?? []);
  const filter = { creatorIds: emails && [...payeeEmails.keys()], currency, cutoff };
  const payees = (await listBalances(db, brandId, filter, now)).filter(isDue);
  const creatorIds = [...new Set(payees.map(({ creatorId }) => creatorId))];
  await lockPayees(db, brandId, creatorIds);
  // Read again with the creators locked, to include other payments and refunds made in the meantime.
  const balances = (await listBalances(db, brandId, { ...filter, creatorIds }, now)).filter(isDue);
  const nothing = { currency: null, total: null };
  const skipped: z.input<typeof PayoutBatchMade>['skipped'] = [
    ...unknownEmails.map((email) => ({ ...nothing, creator_email: email, reason: 'not_found' as const })),
    ...[...payeeEmails]
      .filter(([id]) => !balances.some(({ creatorId }) => creatorId === id))
      .map(([, email]) => ({ ...nothing, creator_email: email, reason: 'nothing_due' as const })),
  ];
  const rows: PayoutFacts[] = [];
  let remaining = 0;
  for (const balance of balances) {
    const { payee, ids, amountMinor } = await lockDue(work, balance, cutoff);
    const total = fromMinor(amountMinor, payee.currency);
    const facts = { creator_email: balance.creatorEmail, currency: payee.currency, total };
    if (amountMinor === 0) skipped.push({ ...facts, reason: 'nothing_due' });
    else if (total < minimum) skipped.push({ ...facts, reason: 'below_minimum' });
    else if (rows.length === MOST_PAYOUTS) remaining += 1;
    else {
      const row = {
        ...payee,
        id: newId('pay', now.getTime()),
        amountMinor,
        method: batch.method,
        note: batch.note ?? null,
        reference: batch.reference ?? null,
        createdAt: now,
      };
      rows.push(await insertPaidPayout(work, row, ids, paidAt));
    }
  }
  const payouts = [];
  for (const row of rows) {
    payouts.push({ ...toPayout(row), commission_ids: await listAllocated(db, brandId, row.id) });
  }
  const by_currency = [...Map.groupBy(rows, (row) => row.currency)].map(([code, own]) => {
    const minor = own.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
    return { currency: code, total: fromMinor(minor, code), payouts: own.length };
  });
  return { payouts, skipped, remaining, by_currency };
}
