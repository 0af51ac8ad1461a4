import type { Work } from '../../../kit/operation/work.ts';
import { newId } from '../../../kit/values/ids.ts';
import { fromMinor } from '../../../kit/values/money.ts';
import { lockCommissions } from '../../commissions/queries.ts';
import { insertPaidPayout, paidAtOf } from '../actions.ts';
import { amountFor, oldestFirst } from '../policy.ts';
import {
  findPayee,
  listAllocated,
  listFunds,
  lockPayees,
  type Payee,
  type PayoutFacts,
  sumOutstanding,
} from '../queries.ts';
import { payoutOf } from '../schema.ts';
import { isDue } from './policy.ts';
import { listApproved, listStandings, type Standing } from './queries.ts';
import type { PayoutBatch } from './schema.ts';

const MOST = 500;

/** The named creators by id, and the addresses that the brand does not know. */
async function namedCreators({ db, brandId }: Work, emails: readonly string[] | undefined) {
  const named = new Map<string, string>();
  const unknown: string[] = [];
  if (emails === undefined) return { named, unknown };
  for (const email of new Set(emails)) {
    const id = await findPayee(db, brandId, email);
    if (id === undefined) unknown.push(email);
    else named.set(id, email);
  }
  return { named, unknown };
}

interface Due {
  payee: Payee;
  ids: string[];
  amountMinor: number;
}

/** What pays everything due to the payee; its commissions are locked. */
async function lockDue({ db, brandId }: Work, { creatorId, currency }: Standing, cutoff: Date | undefined) {
  const payee = { brandId, creatorId, currency };
  const found = (await listApproved(db, payee, cutoff)).map(({ id }) => id);
  const locked = await lockCommissions(db, brandId, found);
  const rows = locked.filter(({ status }) => status === 'approved').sort(oldestFirst);
  const dueMinor = rows.reduce((sum, { commissionMinor }) => sum + commissionMinor, 0);
  const amountMinor = amountFor(dueMinor, await listFunds(db, payee), await sumOutstanding(db, payee));
  return { payee, ids: rows.map(({ id }) => id), amountMinor };
}

async function payOne(
  work: Work,
  { payee, ids, amountMinor }: Due,
  batch: PayoutBatch,
  paidAt: Date,
): Promise<PayoutFacts> {
  const { now } = work;
  const row = {
    ...{ ...payee, id: newId('pay', now.getTime()), amountMinor, method: batch.method },
    ...{ note: batch.note ?? null, reference: batch.reference ?? null, createdAt: now },
  };
  return await insertPaidPayout(work, row, ids, paidAt);
}

const NOWHERE = { currency: null, total: null };

const skippedOf = ({ creatorEmail, currency }: Standing, reason: 'below_minimum' | 'nothing_due', minor: number) => ({
  creator_email: creatorEmail,
  currency,
  reason,
  total: fromMinor(minor, currency),
});

function totalsOf(made: readonly PayoutFacts[]) {
  return [...Map.groupBy(made, ({ currency }) => currency)].map(([currency, rows]) => ({
    currency,
    total: fromMinor(
      rows.reduce((sum, { amountMinor }) => sum + amountMinor, 0),
      currency,
    ),
    payouts: rows.length,
  }));
}

/** Pays everything due to many creators with one payout per creator and currency, all or none. */
export async function payBatch(work: Work, batch: PayoutBatch) {
  const { db, now, brandId } = work;
  const paidAt = await paidAtOf(work, batch);
  const { named, unknown } = await namedCreators(work, batch.creator_emails);
  const ids = batch.creator_emails && [...named.keys()];
  const where = { creatorIds: ids, currency: batch.currency, cutoff: batch.cutoff };
  const found = (await listStandings(db, brandId, where, now)).filter(isDue);
  const creatorIds = [...new Set(found.map(({ creatorId }) => creatorId))];
  await lockPayees(db, brandId, creatorIds);
  // Read again with the creators locked, to include other payments and refunds made in the meantime.
  const standings = (await listStandings(db, brandId, { ...where, creatorIds }, now)).filter(isDue);
  const idle = [...named].filter(([id]) => !standings.some(({ creatorId }) => creatorId === id));
  const made: PayoutFacts[] = [];
  const skipped: (
    | ReturnType<typeof skippedOf>
    | { creator_email: string; currency: null; reason: 'not_found' | 'nothing_due'; total: null }
  )[] = [
    ...unknown.map((email) => ({ ...NOWHERE, creator_email: email, reason: 'not_found' as const })),
    ...idle.map(([, email]) => ({ ...NOWHERE, creator_email: email, reason: 'nothing_due' as const })),
  ];
  let remaining = 0;
  for (const standing of standings) {
    const due = await lockDue(work, standing, batch.cutoff);
    if (due.amountMinor === 0) skipped.push(skippedOf(standing, 'nothing_due', 0));
    else if (fromMinor(due.amountMinor, standing.currency) < (batch.minimum ?? 0)) {
      skipped.push(skippedOf(standing, 'below_minimum', due.amountMinor));
    } else if (made.length === MOST) remaining += 1;
    else made.push(await payOne(work, due, batch, paidAt));
  }
  const payouts = [];
  for (const row of made) {
    payouts.push({ ...payoutOf(row), commission_ids: await listAllocated(db, brandId, row.id) });
  }
  return { payouts, skipped, remaining, by_currency: totalsOf(made) };
}
