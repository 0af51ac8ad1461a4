import type { DeliverableStatus } from '../../engines/postgres/work-tables.ts';
import { type ApiError, wrongState } from '../../values/errors.ts';

/** What the brand may make of it, state by state. */
const BRAND = {
  pending: ['cancelled'],
  in_progress: ['cancelled'],
  submitted: ['approved', 'revision_requested', 'cancelled'],
  revision_requested: ['cancelled'],
  declined: ['cancelled'],
  approved: [],
  cancelled: [],
} as const satisfies Record<DeliverableStatus, readonly DeliverableStatus[]>;

/** What its creator may make of it. */
const CREATOR = {
  pending: ['submitted', 'declined'],
  in_progress: ['submitted', 'declined'],
  submitted: [],
  revision_requested: ['submitted', 'declined'],
  declined: [],
  approved: [],
  cancelled: [],
} as const satisfies Record<DeliverableStatus, readonly DeliverableStatus[]>;

const MOVES: Record<'brand' | 'creator', Record<DeliverableStatus, readonly DeliverableStatus[]>> = {
  brand: BRAND,
  creator: CREATOR,
};

export const allowedOf = (who: 'brand' | 'creator', status: DeliverableStatus): readonly DeliverableStatus[] =>
  MOVES[who][status];

/** Why a move is refused; undefined when it is allowed. */
export function refusalOf(
  who: 'brand' | 'creator',
  status: DeliverableStatus,
  target: DeliverableStatus,
): ApiError | undefined {
  const allowed = allowedOf(who, status);
  return allowed.includes(target) ? undefined : wrongState('deliverable', status, target, allowed);
}

/** Whether its creator may see it: what a contract promises is theirs to do once they signed. */
export const isKnownToCreator = (row: { contractId: string | null; contractStatus: string | null }): boolean =>
  row.contractId === null || row.contractStatus === 'signed';

/** Which states a contract's end ends: what was handed in or approved stays as it is. */
export const ENDED_WITH_CONTRACT: readonly DeliverableStatus[] = ['pending', 'in_progress', 'revision_requested'];
