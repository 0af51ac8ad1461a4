import { ApiError, type ErrorCode, notFound, type Problem } from '../../kit/values/errors.ts';
import { approvalBlockers, type Blocker, type OrderEnd } from '../commissions/policy.ts';
import type { CommissionRow } from '../commissions/queries.ts';
import type { Review } from './queries.ts';

/** Why a commission cannot be moved. */
interface Refusal {
  code: 'not_found' | 'paid' | Blocker['code'];
  message: string;
  facts?: Blocker['facts'];
}

const SINGLE: Record<Exclude<Refusal['code'], 'not_found'>, ErrorCode> = {
  paid: 'COMMISSION_PAID',
  order_not_paid: 'ORDER_NOT_PAID',
  review_period_active: 'REVIEW_PERIOD_ACTIVE',
};

const NOT_FOUND: Refusal = { code: 'not_found', message: 'No such commission.' };

/** What a review is decided on: the locked row, and what ended its order, if anything. */
export interface Candidate {
  row: CommissionRow | undefined;
  end: OrderEnd;
}

/**
 * Why a review is refused; undefined if the commission may take the status, already has it, or had it when it was paid.
 */
export function refusalOf({ row, end }: Candidate, { status }: Review, now: Date): Refusal | undefined {
  if (!row) return NOT_FOUND;
  // A paid commission was approved, so approving it again is a repeat.
  if (row.status === 'paid' && status === 'approved') return undefined;
  if (row.status === 'paid') return { code: 'paid', message: 'The commission is paid; it no longer changes.' };
  if (row.status === status || status === 'rejected') return undefined;
  return approvalBlockers(row, end, now)[0];
}

export function refused({ code, message, facts = undefined }: Refusal): ApiError {
  if (code === 'not_found') return notFound('commission');
  return new ApiError(SINGLE[code], message, facts ? { facts } : {});
}

/** Names every id that cannot be moved, by its position in the list. */
export function selectionRefused(field: string, problems: readonly { index: number; id: string; refusal: Refusal }[]) {
  const details: Problem[] = problems.map(({ index, id, refusal }) => ({
    field: `${field}.${index}`,
    code: refusal.code,
    message: `${id}: ${refusal.message}`,
  }));
  const message = `${details.length} of the selected commissions cannot be moved; nothing was changed.`;
  return new ApiError('INVALID_SELECTION', message, { details });
}
