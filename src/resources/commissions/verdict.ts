import { ApiError, type ErrorCode, notFound, type Problem } from '../../errors.ts';
import type { CommissionRow, Review } from './queries.ts';

/** Why a commission cannot be moved. */
interface Refusal {
  code: 'not_found' | 'paid' | 'order_not_paid' | 'review_period_active';
  message: string;
  facts?: { approvable_at: string };
}

const SINGLE: Record<Exclude<Refusal['code'], 'not_found'>, ErrorCode> = {
  paid: 'COMMISSION_PAID',
  order_not_paid: 'ORDER_NOT_PAID',
  review_period_active: 'REVIEW_PERIOD_ACTIVE',
};

const NOT_FOUND: Refusal = { code: 'not_found', message: 'No such commission.' };

/** What a review is decided on: the row that is held, and whether the store cancelled its order. */
export interface Candidate {
  row: CommissionRow | undefined;
  isCancelled: boolean;
}

function isTakenBack({ amountMinor, refundedMinor }: CommissionRow): boolean {
  return amountMinor > 0 && refundedMinor >= amountMinor;
}

/** Undefined when the commission has the status already, or may take it. */
export function refusalOf({ row, isCancelled }: Candidate, { status }: Review, now: Date): Refusal | undefined {
  if (!row) return NOT_FOUND;
  if (row.status === 'paid') return { code: 'paid', message: 'The commission is paid; it no longer changes.' };
  if (row.status === status || status === 'rejected') return undefined;
  if (isCancelled) return { code: 'order_not_paid', message: 'The order was cancelled.' };
  if (isTakenBack(row)) return { code: 'order_not_paid', message: 'The order was refunded in full.' };
  if (!row.paidAt || !row.holdEndsAt) return { code: 'order_not_paid', message: 'The order is not paid.' };
  if (row.holdEndsAt <= now) return undefined;
  const approvable_at = row.holdEndsAt.toISOString();
  const message = `The review period lasts until ${approvable_at}.`;
  return { code: 'review_period_active', message, facts: { approvable_at } };
}

export function refused({ code, message, facts = undefined }: Refusal): ApiError {
  if (code === 'not_found') return notFound('commission');
  return new ApiError(SINGLE[code], message, facts ? { facts } : {});
}

/** Every id that stands in the way, at its place in the list. */
export function selectionRefused(field: string, problems: readonly { index: number; id: string; refusal: Refusal }[]) {
  const details: Problem[] = problems.map(({ index, id, refusal }) => ({
    field: `${field}.${index}`,
    code: refusal.code,
    message: `${id}: ${refusal.message}`,
  }));
  const message = `${details.length} of the selected commissions cannot be moved; nothing was changed.`;
  return new ApiError('INVALID_SELECTION', message, { details });
}
