import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { newId } from '../../kit/values/ids.ts';
import { fromMinor, toMinor } from '../../kit/values/money.ts';
import { matchesCreator } from '../../workflow/creators/creators.ts';
import { type CommissionRow, lockCommissions } from '../commissions/commissions.ts';
import { insertPaidPayout, paidAtOf } from './actions.ts';
import type { PayoutBatch } from './due-payouts.shapes.ts';
import { payoutOf } from './payouts.shapes.ts';
import { findPayee, listAllocated, listFunds, lockPayees, type Payee, type PayoutFacts, sumOutstanding } from './payouts.ts';
import { amountFor, type Fund, oldestFirst, type Plan, planPayment } from './policy.ts';

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

export interface DueWhere {
  creatorIds?: readonly string[] | undefined;
  creator_email?: string | undefined;
  currency?: string | undefined;
  /** Only commissions of sales up to this time are paid. */
  cutoff?: Date | undefined;
}

/** A creator's balance in one currency, in minor units. */
export interface Standing {
  creatorId: string;
  creatorEmail: string | null;
  creatorName: string | null;
  currency: string;
  /** Of sales whose review period is over, without a review. */
  pendingMinor: number;
  heldMinor: number;
  unpaidOrdersMinor: number;
  approvedMinor: number;
  /** The part of the approved amount that the cutoff allows to be paid. */
  dueMinor: number;
  dueCount: number;
  /** What refunds took back after payment and no payout has netted; negative if it is due again. */
  outstandingMinor: number;
  unallocatedMinor: number;
  /** Payouts that are recorded but not paid yet. */
  recordedMinor: number;
  earnedMinor: number;
}

/** Every creator with any money, one row per currency, ordered by e-mail address. */
export async function listStandings(
  db: Db,
  brandId: string,
  { creatorIds, creator_email: email, currency, cutoff }: DueWhere,
  now: Date,
): Promise<Standing[]> {
  const own = sql`brand_id = ${brandId}
    and (${currency ?? null}::text is null or currency = ${currency ?? null})
    and (${creatorIds === undefined} or creator_id = any(${creatorIds ?? []}::text[]))
    and ${matchesCreator('creatorId', brandId, email)}`;
  const inTime = sql`(${cutoff ?? null}::timestamptz is null or occurred_at <= ${cutoff ?? null})`;
  const minor = (filter: ReturnType<typeof sql>) => sql`coalesce(sum(commission_minor) filter (where ${filter}), 0)`;
  const { rows } = await sql<Standing>`
    select part.creator_id, creator.email as creator_email, creator.name as creator_name, part.currency,
      sum(pending)::bigint as pending_minor, sum(held)::bigint as held_minor,
      sum(unpaid_orders)::bigint as unpaid_orders_minor, sum(approved)::bigint as approved_minor,
      sum(due)::bigint as due_minor, sum(due_count)::bigint as due_count,
      (sum(adjusted) - sum(netted))::bigint as outstanding_minor, sum(unallocated)::bigint as unallocated_minor,
      sum(recorded)::bigint as recorded_minor, (sum(paid) - sum(netted))::bigint as earned_minor
    from (
      select creator_id, currency,
        ${minor(sql`status = 'pending' and hold_ends_at <= ${now}`)} as pending,
        ${minor(sql`status = 'pending' and hold_ends_at > ${now}`)} as held,
        ${minor(sql`status = 'pending' and hold_ends_at is null`)} as unpaid_orders,
        ${minor(sql`status = 'approved'`)} as approved,
        ${minor(sql`status = 'approved' and ${inTime}`)} as due,
        count(*) filter (where status = 'approved' and ${inTime}) as due_count,
        ${minor(sql`status = 'paid'`)} as paid,
        0 as adjusted, 0 as netted, 0 as unallocated, 0 as recorded
      from commissions where ${own} group by creator_id, currency
      union all
      select creator_id, currency, 0, 0, 0, 0, 0, 0, 0, sum(amount_minor), 0, 0, 0
      from commission_adjustments where ${own} group by creator_id, currency
      union all
      select creator_id, currency, 0, 0, 0, 0, 0, 0, 0, 0, sum(netted_minor), sum(unallocated_minor),
        coalesce(sum(amount_minor) filter (where status = 'completed' and method <> 'wallet'), 0)
      from payouts where ${own} group by creator_id, currency
    ) as part
    join creators as creator on creator.id = part.creator_id
    group by part.creator_id, creator.email, creator.name, part.currency
    order by lower(creator.email), part.creator_id, part.currency`.execute(db);
  return rows;
}

/** The payee's approved commissions, up to the cutoff. */
export async function listApproved(db: Db, payee: Payee, cutoff: Date | undefined): Promise<CommissionRow[]> {
  return await db
    .selectFrom('commissions')
    .selectAll()
    .where('brandId', '=', payee.brandId)
    .where('creatorId', '=', payee.creatorId)
    .where('currency', '=', payee.currency)
    .where('status', '=', 'approved')
    .where(sql<boolean>`(${cutoff ?? null}::timestamptz is null or occurred_at <= ${cutoff ?? null})`)
    .execute();
}

export type StatementLineRow = Awaited<ReturnType<typeof listStatementLines>>[number];

/** What a payout paid, with the order of each commission, oldest sale first. */
export async function listStatementLines(db: Db, brandId: string, payoutId: string) {
  return await db
    .selectFrom('payoutAllocations as allocation')
    .innerJoin('commissions as commission', 'commission.id', 'allocation.commissionId')
    .leftJoin('orders', 'orders.id', 'commission.orderId')
    .select([
      'commission.id as commissionId',
      'commission.currency',
      'commission.occurredAt',
      'commission.amountMinor as saleMinor',
      'commission.refundedMinor',
      'commission.commissionMinor',
      'commission.affiliateCode',
      'commission.discountCode',
      'commission.statusNote',
      'orders.orderId as storeOrderId',
      'orders.customerEmail',
      'allocation.amountMinor',
      'allocation.at as paidAt',
    ])
    .where('allocation.brandId', '=', brandId)
    .where('allocation.payoutId', '=', payoutId)
    .orderBy('commission.occurredAt')
    .orderBy('commission.id')
    .execute();
}

const shown =
  (currency: string) =>
  ({ id, commissionMinor, occurredAt }: CommissionRow) => ({
    commission_id: id,
    amount: fromMinor(commissionMinor, currency),
    occurred_at: occurredAt.toISOString(),
  });

const payeeOf = ({ creatorId, creatorEmail, creatorName, currency, recordedMinor }: Standing) => ({
  creator_id: creatorId,
  creator_email: creatorEmail,
  creator_name: creatorName,
  currency,
  recorded: fromMinor(recordedMinor, currency),
});

/** The amount that pays everything due to a creator in a currency. */
export const totalDueOf = ({ dueMinor, outstandingMinor, unallocatedMinor }: Standing): number =>
  amountFor(dueMinor, [{ id: '', leftMinor: unallocatedMinor }], outstandingMinor);

/** Whether there are unpaid approved commissions, or a netted refund is due again. */
export const isDue = (standing: Standing): boolean => standing.dueCount > 0 || totalDueOf(standing) > 0;

/** For all creators: only the totals, because nothing is skipped when everything is paid. */
export function previewRow(standing: Standing) {
  const { currency, dueMinor, dueCount, outstandingMinor, unallocatedMinor } = standing;
  const major = (minor: number) => fromMinor(minor, currency);
  const nettedMinor = outstandingMinor >= 0 ? Math.min(outstandingMinor, dueMinor) : outstandingMinor;
  const totalMinor = totalDueOf(standing);
  return {
    ...payeeOf(standing),
    commission_count: dueCount,
    commissions_amount: major(dueMinor),
    netted_amount: major(nettedMinor),
    unallocated_used: major(Math.min(unallocatedMinor, Math.max(0, dueMinor - nettedMinor))),
    total: major(totalMinor),
    unallocated: 0,
  };
}

export interface Offer {
  standing: Standing;
  approved: readonly CommissionRow[];
  funds: readonly Fund[];
  /** Undefined: the amount that pays everything. */
  amount: number | undefined;
}

const PREVIEWED = 'previewed';

/** What a payout to one creator would pay, by the same rules that pay it. */
export function previewOf({ standing, approved, funds, amount }: Offer) {
  const { currency, outstandingMinor } = standing;
  const major = (minor: number) => fromMinor(minor, currency);
  const dueMinor = approved.reduce((sum, { commissionMinor }) => sum + commissionMinor, 0);
  const own = amount === undefined ? undefined : toMinor(amount, currency);
  const amountMinor = own ?? amountFor(dueMinor, funds, outstandingMinor);
  const all = [...funds, { id: PREVIEWED, leftMinor: amountMinor }];
  const plan: Plan<CommissionRow> = planPayment(approved.toSorted(oldestFirst), all, outstandingMinor);
  const left = plan.shares.at(-1)?.leftMinor ?? 0;
  return {
    ...payeeOf(standing),
    commission_count: plan.chosen.length,
    commissions_amount: major(plan.allocatedMinor),
    netted_amount: major(plan.nettedMinor),
    unallocated_used: major(plan.allocatedMinor - plan.nettedMinor - (amountMinor - left)),
    total: major(amountMinor - left),
    unallocated: major(left),
    payable: plan.chosen.map(shown(currency)),
    passed_over: plan.passedOver.map(shown(currency)),
  };
}

/** The wire shape of what a creator is owed in a currency. */
export function balanceOf(standing: Standing) {
  const { currency, approvedMinor, outstandingMinor, unallocatedMinor } = standing;
  const major = (minor: number) => fromMinor(minor, currency);
  const payableMinor = amountFor(approvedMinor, [{ id: '', leftMinor: unallocatedMinor }], outstandingMinor);
  return {
    currency,
    pending: major(standing.pendingMinor),
    held: major(standing.heldMinor),
    order_unpaid: major(standing.unpaidOrdersMinor),
    approved: major(approvedMinor),
    owed_back: major(outstandingMinor),
    unallocated: major(unallocatedMinor),
    payable_now: major(payableMinor),
    recorded: major(standing.recordedMinor),
    earned: major(standing.earnedMinor),
  };
}
