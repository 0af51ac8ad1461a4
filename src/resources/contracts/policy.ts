import type { ContractStatus } from '../../engines/postgres/work-tables.ts';
import { ApiError, wrongState } from '../../values/errors.ts';

/** The brand's moves. Only the creator's signature makes a contract `signed`. */
const MOVES = {
  draft: ['sent', 'expired'],
  sent: ['sent', 'expired'],
  signed: [],
  expired: [],
} as const satisfies Record<ContractStatus, readonly ContractStatus[]>;

interface Standing {
  status: ContractStatus;
  expiresAt: Date | null;
}

/** The status at a given time: a contract past its end is expired even before the job records that. */
function statusAt({ status, expiresAt }: Standing, now: Date): ContractStatus {
  const isOpen = status === 'draft' || status === 'sent';
  return isOpen && expiresAt !== null && expiresAt <= now ? 'expired' : status;
}

export function assertMayBecome(contract: Standing, target: 'sent' | 'expired', now: Date): void {
  const status = statusAt(contract, now);
  const allowed: readonly ContractStatus[] = MOVES[status];
  if (!allowed.includes(target)) throw wrongState('contract', status, target, allowed);
}

/** A sent contract cannot be changed: the creator must know what they sign. */
export function assertDraft(contract: Standing, now: Date): void {
  const status = statusAt(contract, now);
  if (status === 'draft') return;
  throw new ApiError('INVALID_STATE_TRANSITION', `The contract is ${status}; only a draft can be changed.`, {
    facts: { current_status: status, allowed: MOVES[status] },
  });
}

const LINK_LIVES_MS = 30 * 24 * 60 * 60 * 1_000;

/** The link for signing. It works until the contract's end, or for 30 days after it was sent. */
export const signingLink = (
  { id, linkVersion, expiresAt }: { id: string; linkVersion: number; expiresAt: Date | null },
  sentAt: Date,
) => ({
  kind: 'sign' as const,
  rowId: id,
  version: linkVersion,
  expiresAt: expiresAt ?? new Date(sentAt.getTime() + LINK_LIVES_MS),
});
