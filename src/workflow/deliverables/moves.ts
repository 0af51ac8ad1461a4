import type { MailFacts } from '../../kit/mail/template.ts';
import { YEAR_MS } from '../../kit/values/duration.ts';
import { type ApiError, wrongState } from '../../kit/values/errors.ts';
import { computeRightsEnd } from '../assets/rights.ts';
import { ContractTerms } from './deliverables.shapes.ts';
import type { DeliverableStatus } from './deliverables.ts';

/** The brand's moves, by status. */
const BRAND = {
  pending: ['cancelled'],
  in_progress: ['cancelled'],
  submitted: ['approved', 'revision_requested', 'cancelled'],
  revision_requested: ['cancelled'],
  declined: ['cancelled'],
  approved: [],
  cancelled: [],
} as const satisfies Record<DeliverableStatus, readonly DeliverableStatus[]>;

/** The creator's moves, by status. */
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

export const listMoves = (who: 'brand' | 'creator', status: DeliverableStatus): readonly DeliverableStatus[] =>
  MOVES[who][status];

/** Explains why a move is refused; undefined when it is allowed. */
export function findMoveError(
  who: 'brand' | 'creator',
  status: DeliverableStatus,
  target: DeliverableStatus,
): ApiError | undefined {
  const allowed = listMoves(who, status);
  return allowed.includes(target) ? undefined : wrongState('deliverable', status, target, allowed);
}

/** True if its creator may see it. The deliverables of a contract are visible once it is signed. */
export const isKnownToCreator = (row: { contractId: string | null; contractStatus: string | null }): boolean =>
  row.contractId === null || row.contractStatus === 'signed';

/** The statuses that a contract's end cancels; submitted and approved work stays. */
export const ENDED_WITH_CONTRACT: readonly DeliverableStatus[] = ['pending', 'in_progress', 'revision_requested'];

export interface AgreedRights {
  usageRights: string | null;
  terms: unknown;
  signedAt: Date | null;
}

/** The rights to a file that was submitted under a contract, from the contract's terms. */
export function toAssetRights(agreed: AgreedRights | undefined, timeZone: string) {
  if (!agreed) return {};
  const { usageRights, signedAt } = agreed;
  if (agreed.terms === null) return { usageRights };
  const rights = ContractTerms.parse(agreed.terms);
  return { usageRights, rights, rightsExpiresAt: computeRightsEnd(rights, { signedAt, postedAt: null, timeZone }) };
}

/** The page where work is submitted. It shows all of a contract's deliverables and opens through any of them. */
export const workUrl = ({ createdAt, urlOf }: MailFacts, deliverableId: string, version: number): string =>
  urlOf({
    kind: 'work',
    rowId: deliverableId,
    version,
    expiresAt: new Date(createdAt.getTime() + YEAR_MS),
  });
