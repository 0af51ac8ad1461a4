import type { Work } from '../../operation/work.ts';
import { type Problem, validationError } from '../../values/errors.ts';
import { newId } from '../../values/ids.ts';
import { amountProblem, MAX_AMOUNT_MINOR, toMinor } from '../../values/money.ts';
import { getBrandCurrency } from '../brands/queries.ts';
import { announceOne } from '../commissions/announce-actions.ts';
import { insertCommission } from '../commissions/order-queries.ts';
import { entryOf } from '../commissions/posting-actions.ts';
import { type CommissionFacts, getCommission } from '../commissions/queries.ts';
import { findPayee, lockPayees } from '../payouts/queries.ts';
import { reviewOne } from './actions.ts';

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
    ...{ orderId: null, linkId: null, source: 'manual', commissionRatePpm: 0, holdDays: 0, fraudFlags: '[]' },
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
