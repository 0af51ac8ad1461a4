import type { Work } from '../../kit/operation/work.ts';
import { type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { amountProblem, MAX_AMOUNT_MINOR, toMinor } from '../../kit/values/money.ts';
import { getBrandCurrency } from '../../platform/brands/queries.ts';
import { announce, announceOne, entryOf, postApproval, postRejection } from '../commissions/actions.ts';
import { mayApproveItself } from '../commissions/policy.ts';
import {
  type CommissionFacts,
  type CommissionRow,
  getCommission,
  insertCommission,
  listCreatorsOf,
  lockCommissions,
} from '../commissions/queries.ts';
import { mailAtEndOfWeek } from '../commissions/weekly-mail/actions.ts';
import { useUnallocated } from '../payouts/actions.ts';
import { findPayee, lockPayees } from '../payouts/queries.ts';
import { type Candidate, refusalOf, refused, selectionRefused } from './policy.ts';
import { listDue, listEnds, lockDueCommissions, type Review, updateReviewed } from './queries.ts';

/** Fields about the money in the plan of a review. */
const PAYABLE = ['creatorId', 'commissionMinor', 'currency'];

/**
 * Moves locked commissions that may move, with their ledger entries, audit entries and, at the first approval, the
 * event.
 */
async function move(work: Work, rows: readonly CommissionRow[], review: Review): Promise<void> {
  const { db, now, brandId } = work;
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  const moved = await updateReviewed(db, brandId, ids, { ...review, at: now });
  const after = new Map(moved.map((row) => [row.id, row]));
  for (const row of rows) {
    if (review.status === 'approved') postApproval(work, row);
    else postRejection(work, row);
    work.audit({ resourceId: row.id, old: row, new: after.get(row.id) ?? row, context: PAYABLE });
  }
  const announced = rows.filter((row) =>
    review.status === 'approved' ? row.approvedAt === null : row.status !== 'rejected',
  );
  await announce(
    work,
    review.status === 'approved' ? 'commission.approved' : 'commission.rejected',
    announced.map(({ id }) => id),
  );
  if (review.status === 'rejected') return;
  await mailAtEndOfWeek(
    work,
    announced.map(({ id }) => id),
  );
  await useUnallocated(work, moved);
}

async function lockCandidates(
  { db, brandId }: Work,
  ids: readonly string[],
  { status }: Review,
): Promise<Map<string, Candidate>> {
  if (status === 'approved') await lockPayees(db, brandId, await listCreatorsOf(db, brandId, ids));
  const rows = await lockCommissions(db, brandId, ids);
  const ends = await listEnds(
    db,
    brandId,
    rows.flatMap(({ orderId }) => orderId ?? []),
  );
  return new Map(rows.map((row) => [row.id, { row, end: ends.get(row.orderId ?? '') ?? null }]));
}

const UNKNOWN: Candidate = { row: undefined, end: null };

/**
 * Commissions that facts (a refund or cancellation) keep rejected. The brand's own rejection replaces that, with its
 * note, and stays when the facts change.
 */
const isTakenOver = ({ status, rejectedFrom }: CommissionRow, review: Review) =>
  review.status === 'rejected' && status === 'rejected' && rejectedFrom !== null;

/**
 * Applies a review to the rows that it may move, and skips those that already have its status. Returns how many moved.
 */
async function apply(work: Work, rows: readonly CommissionRow[], review: Review): Promise<number> {
  const moving = rows.filter(({ status }) => status !== review.status && status !== 'paid');
  await move(work, [...moving, ...rows.filter((row) => isTakenOver(row, review))], review);
  return moving.length;
}

/** Moves all or none: if one cannot be moved, nothing changes. Returns how many moved. */
export async function reviewAll(work: Work, ids: readonly string[], review: Review): Promise<number> {
  const candidates = await lockCandidates(work, ids, review);
  const problems = ids.flatMap((id, index) => {
    const refusal = refusalOf(candidates.get(id) ?? UNKNOWN, review, work.now);
    return refusal ? [{ index, id, refusal }] : [];
  });
  if (problems.length > 0) throw selectionRefused('event_ids', problems);
  const rows = [...candidates.values()].flatMap(({ row }) => row ?? []);
  return await apply(work, rows, review);
}

/** Returns how many moved: none if it already has the status. */
export async function reviewOne(work: Work, id: string, review: Review): Promise<number> {
  const candidate = (await lockCandidates(work, [id], review)).get(id) ?? UNKNOWN;
  const refusal = refusalOf(candidate, review, work.now);
  if (refusal) throw refused(refusal);
  return candidate.row ? await apply(work, [candidate.row], review) : 0;
}

/** Approves the brand's next due commissions without a review. Returns how many. */
export async function approveNextDue(work: Work, limit: number): Promise<number> {
  const { db, now, brandId } = work;
  const ids = await listDue(db, brandId, now, limit);
  await lockPayees(db, brandId, await listCreatorsOf(db, brandId, ids));
  const found = await lockDueCommissions(db, brandId, ids);
  const rows = found.filter(({ end, ...row }) => mayApproveItself(row, end, now));
  await move(work, rows, { status: 'approved', note: 'auto' });
  return rows.length;
}

export interface ManualCommission {
  creator_email: string;
  /** What the creator gets, in major units of the brand's currency. */
  amount: number;
  description?: string | null | undefined;
  status?: 'pending' | 'approved' | undefined;
}

/** The payee and the amount; throws all problems at once. */
async function factsOf({ db, brandId }: Work, { creator_email, amount }: ManualCommission) {
  const creatorId = await findPayee(db, brandId, creator_email);
  const currency = await getBrandCurrency(db, brandId);
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
  const { creatorId, currency, commissionMinor } = await factsOf(work, input);
  await lockPayees(db, brandId, [creatorId]);
  const note = input.description ?? null;
  const row = await insertCommission(db, {
    ...{ id: newId('com', now.getTime()), brandId, creatorId, currency, commissionMinor, amountMinor: 0 },
    ...{ orderId: null, linkId: null, source: 'manual', commissionRatePpm: 0, holdDays: 0, fraudFlags: [] },
    ...{ status: 'pending', statusNote: note, paidAt: now, holdEndsAt: now },
    ...{ occurredAt: now, syncedAt: now, createdAt: now },
  });
  work.post(
    entryOf(row, 'manual', [
      { account: 'commission_expense', amountMinor: commissionMinor, at: now },
      { account: 'commission_pending', amountMinor: -commissionMinor, at: now },
    ]),
  );
  work.audit({ resourceId: row.id, old: null, new: row });
  announceOne(work, 'commission.created', row);
  if (input.status === 'approved') await reviewOne(work, row.id, { status: 'approved', note });
  return await getCommission(db, brandId, row.id);
}
