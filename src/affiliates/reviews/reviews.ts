import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError, type ErrorCode, notFound, type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { amountProblem, MAX_AMOUNT_MINOR, toMinor } from '../../kit/values/money.ts';
import { getBrandCurrency } from '../../platform/brands/brands.ts';
import {
  announceCommission,
  announceCommissions,
  type Blocker,
  type CommissionFacts,
  type CommissionRow,
  canAutoApprove,
  getCommission,
  insertCommission,
  isApprovable,
  listApprovalBlockers,
  listCommissionCreators,
  lockCommissions,
  type OrderEnd,
  orderEnd,
  postApproval,
  postRejection,
  toLedgerEntry,
} from '../commissions/commissions.ts';
import { mailAtEndOfWeek } from '../commissions/weekly-mail.ts';
import { makeRoomAgain } from '../orders/record.ts';
import { findPayee, lockPayees } from '../payouts/payouts.ts';
import { allocateUnallocatedFunds } from '../payouts/settle.ts';

/** Unchanged fields that the audit entry shows, because they say how much is owed to whom. */
const PAYABLE = ['creatorId', 'commissionMinor', 'currency'];

/**
 * Moves locked commissions, with their ledger entries and audit entries. The event and the mail follow only the first
 * approval, and the event of a rejection only if the commission was not rejected already.
 */
export async function moveCommissions(work: Work, rows: readonly CommissionRow[], review: Review): Promise<void> {
  const { db, now, brandId } = work;
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  const updatedRows = await updateReviewed(db, brandId, ids, { ...review, at: now });
  const after = new Map(updatedRows.map((row) => [row.id, row]));
  for (const row of rows) {
    if (review.status === 'approved') postApproval(work, row);
    else postRejection(work, row);
    work.audit({ resourceId: row.id, old: row, new: after.get(row.id) ?? row, context: PAYABLE });
  }
  const newlyReviewed = rows.filter((row) =>
    review.status === 'approved' ? row.approvedAt === null : row.status !== 'rejected',
  );
  await announceCommissions(
    work,
    review.status === 'approved' ? 'commission.approved' : 'commission.rejected',
    newlyReviewed.map(({ id }) => id),
  );
  if (review.status === 'rejected') return;
  await mailAtEndOfWeek(
    work,
    newlyReviewed.map(({ id }) => id),
  );
  await allocateUnallocatedFunds(work, updatedRows);
}

export async function lockCandidates(
  { db, brandId }: Work,
  ids: readonly string[],
  { status }: Review,
): Promise<Map<string, ReviewCandidate>> {
  if (status === 'approved') await lockPayees(db, brandId, await listCommissionCreators(db, brandId, ids));
  const rows = await lockCommissions(db, brandId, ids);
  // The commissions are locked, so the ends of their orders stay true.
  const orders = await db
    .selectFrom('orders')
    .select(['id', orderEnd.as('end')])
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${rows.flatMap(({ orderId }) => orderId ?? [])})`)
    .execute();
  const ends = new Map(orders.map(({ id, end }) => [id, end]));
  return new Map(rows.map((row) => [row.id, { row, end: ends.get(row.orderId ?? '') ?? null }]));
}

const MISSING: ReviewCandidate = { row: undefined, end: null };

/**
 * Applies a review to the rows that it may move, and skips those that already have its status. A rejection also takes
 * over commissions that a refund or cancellation rejected, so that they stay rejected when the order changes again.
 * Returns how many moved.
 */
async function applyReview(work: Work, rows: readonly CommissionRow[], review: Review): Promise<number> {
  const moving = rows.filter(({ status }) => status !== review.status && status !== 'paid');
  const takenOver = rows.filter(
    ({ status, rejectedFrom }) => review.status === 'rejected' && status === 'rejected' && rejectedFrom !== null,
  );
  const isBack = ({ status, room }: CommissionRow) =>
    review.status === 'approved' && status === 'rejected' && room !== null;
  const back = moving.filter(isBack);
  await moveCommissions(work, [...moving.filter((row) => !isBack(row)), ...takenOver], review);
  for (const row of back) await moveCommissions(work, [await makeRoomAgain(work, row)], review);
  return moving.length;
}

/** Moves all or none, and returns how many moved. */
export async function reviewAll(work: Work, ids: readonly string[], review: Review): Promise<number> {
  const candidates = await lockCandidates(work, ids, review);
  const details = ids.flatMap((id, i): Problem[] => {
    const refusal = findRefusal(candidates.get(id) ?? MISSING, review, work.now);
    return refusal ? [{ field: `event_ids.${i}`, code: refusal.code, message: `${id}: ${refusal.message}` }] : [];
  });
  if (details.length > 0) {
    const message = `${details.length} of the selected commissions cannot be moved; nothing was changed.`;
    throw new ApiError('INVALID_SELECTION', message, { details });
  }
  const rows = [...candidates.values()].flatMap(({ row }) => row ?? []);
  return await applyReview(work, rows, review);
}

/** Returns 1 if the commission moved, and 0 if it already has the status. */
export async function reviewOne(work: Work, id: string, review: Review): Promise<number> {
  const candidate = (await lockCandidates(work, [id], review)).get(id) ?? MISSING;
  const refusal = findRefusal(candidate, review, work.now);
  if (refusal) {
    const { code, message, facts } = refusal;
    if (code === 'not_found') throw notFound('commission');
    throw new ApiError(ERROR_CODES[code], message, facts ? { facts } : {});
  }
  return candidate.row ? await applyReview(work, [candidate.row], review) : 0;
}

/** Approves the brand's next due commissions without a review. Returns how many. */
export async function approveNextDue(work: Work, limit: number): Promise<number> {
  const { db, now, brandId } = work;
  const ids = await listDue(db, brandId, now, limit);
  await lockPayees(db, brandId, await listCommissionCreators(db, brandId, ids));
  const candidates = await lockDueCommissions(db, brandId, ids);
  const rows = candidates.filter(({ end, ...row }) => canAutoApprove(row, end, now));
  await moveCommissions(work, rows, { status: 'approved', note: 'auto' });
  return rows.length;
}

export interface ManualCommission {
  creator_email: string;
  /** Amount that the creator earns, in major units. */
  amount: number;
  /** The brand's if undefined. */
  currency?: string | undefined;
  description?: string | null | undefined;
  status?: 'pending' | 'approved' | undefined;
}

/** Returns the payee and the amount, or throws all problems at once. */
async function checkManualCommission({ db, brandId }: Work, { creator_email, amount, ...input }: ManualCommission) {
  const creatorId = await findPayee(db, brandId, creator_email);
  const currency = input.currency ?? (await getBrandCurrency(db, brandId));
  const problem = amount > 0 ? amountProblem(amount, currency, MAX_AMOUNT_MINOR) : 'must be more than 0';
  const commissionMinor = problem === undefined ? toMinor(amount, currency) : undefined;
  const problems: Problem[] = [];
  if (creatorId === undefined) {
    const message = `${creator_email} is not on the roster.`;
    problems.push({ field: 'creator_email', code: 'not_on_roster', message });
  }
  if (commissionMinor === undefined) {
    problems.push({ field: 'amount', code: 'invalid', message: `${problem}; got ${amount}.` });
  }
  if (creatorId === undefined || commissionMinor === undefined) throw validationError(problems);
  return { creatorId, currency, commissionMinor };
}

/**
 * Records a commission without an order. It can be approved at once, is paid like any other, and counts as commission,
 * not as a sale. If it is approved from the start, leftover payout money pays it like any approval.
 */
export async function createManualCommission(work: Work, input: ManualCommission): Promise<CommissionFacts> {
  const { db, now, brandId } = work;
  const { creatorId, currency, commissionMinor } = await checkManualCommission(work, input);
  await lockPayees(db, brandId, [creatorId]);
  const note = input.description ?? null;
  const row = await insertCommission(db, {
    id: newId('com', now.getTime()),
    brandId,
    creatorId,
    currency,
    commissionMinor,
    amountMinor: 0,
    orderId: null,
    linkId: null,
    source: 'manual',
    commissionRatePpm: 0,
    holdDays: 0,
    fraudFlags: [],
    status: 'pending',
    statusNote: note,
    paidAt: now,
    holdEndsAt: now,
    occurredAt: now,
    syncedAt: now,
    createdAt: now,
  });
  work.post(
    toLedgerEntry(row, 'manual', [
      { account: 'commission_expense', amountMinor: commissionMinor, at: now },
      { account: 'commission_pending', amountMinor: -commissionMinor, at: now },
    ]),
  );
  work.audit({ resourceId: row.id, old: null, new: row });
  announceCommission(work, 'commission.created', row);
  if (input.status === 'approved') await reviewOne(work, row.id, { status: 'approved', note });
  return await getCommission(db, brandId, row.id);
}

/** A reason that keeps a commission from being moved. */
interface Refusal {
  code: 'not_found' | 'paid' | Blocker['code'];
  message: string;
  facts?: Blocker['facts'];
}

const ERROR_CODES: Record<Exclude<Refusal['code'], 'not_found'>, ErrorCode> = {
  paid: 'COMMISSION_PAID',
  order_not_paid: 'ORDER_NOT_PAID',
  review_period_active: 'REVIEW_PERIOD_ACTIVE',
};

const NOT_FOUND: Refusal = { code: 'not_found', message: 'No such commission.' };

/** A locked commission, and what ended its order, if anything. */
interface ReviewCandidate {
  row: CommissionRow | undefined;
  end: OrderEnd;
}

/** Returns undefined if the commission may take the status, already has it, or had it when it was paid. */
function findRefusal({ row, end }: ReviewCandidate, { status }: Review, now: Date): Refusal | undefined {
  if (!row) return NOT_FOUND;
  // A paid commission was approved, so approving it again is a repeat.
  if (row.status === 'paid' && status === 'approved') return undefined;
  if (row.status === 'paid') return { code: 'paid', message: 'The commission is paid; it no longer changes.' };
  if (row.status === status || status === 'rejected') return undefined;
  return listApprovalBlockers(row, end, now)[0];
}

export interface Review {
  status: 'approved' | 'rejected';
  note: string | null;
}

/** A review overrides the order's own rejection. The time of the first approval never changes, as it is announced once. */
async function updateReviewed(
  db: Db,
  brandId: string,
  ids: readonly string[],
  { status, note, at }: Review & { at: Date },
): Promise<CommissionRow[]> {
  return await db
    .updateTable('commissions')
    .set({
      status,
      statusNote: note,
      statusUpdatedAt: at,
      rejectedFrom: null,
      noteBeforeRejection: null,
      ...(status === 'approved' ? { approvedAt: sql<Date>`coalesce(approved_at, ${at})` } : {}),
    })
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .returningAll()
    .execute();
}

/**
 * Lists brands that approve automatically and may have something to approve. The index gives the earliest commission of
 * each brand: 2 ms for 60,000 due ones, where a search for one that is surely approvable reads them all in 120 ms.
 */
export async function listWithDue(db: Db, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('brands')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('commissions')
          .select('commissions.id')
          .whereRef('commissions.brandId', '=', 'brands.id')
          .where('commissions.status', '=', 'pending')
          .where('commissions.holdEndsAt', '<=', now)
          .orderBy('commissions.holdEndsAt')
          .limit(1)
          .as('due'),
      (join) => join.onTrue(),
    )
    .select('brands.id')
    .where('brands.autoApproveCommissions', '=', true)
    .orderBy('brands.id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Lists the brand's next commissions that look approvable without a review. */
async function listDue(db: Db, brandId: string, now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('commissions')
    .innerJoin('brands', 'brands.id', 'commissions.brandId')
    .select('commissions.id')
    .where('commissions.brandId', '=', brandId)
    .where('brands.autoApproveCommissions', '=', true)
    .where(isApprovable(now))
    .where(sql<boolean>`not commissions.fraud_flags @> '[{"severity": "high"}]'`)
    .where(sql<boolean>`not exists (select from referrer_checks where commission_id = commissions.id)`)
    .orderBy('commissions.holdEndsAt')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Locks the commissions until the transaction ends, except for those that another worker or review has locked. */
async function lockDueCommissions(db: Db, brandId: string, ids: readonly string[]) {
  return await db
    .selectFrom('commissions')
    .leftJoin('orders', 'orders.id', 'commissions.orderId')
    .selectAll('commissions')
    .select(orderEnd.as('end'))
    .where('commissions.brandId', '=', brandId)
    .where('commissions.id', '=', sql<string>`any(${ids})`)
    .orderBy('commissions.id')
    .forUpdate('commissions')
    .skipLocked()
    .execute();
}
