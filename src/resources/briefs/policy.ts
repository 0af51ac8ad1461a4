import type { BriefStatus } from '../../engines/postgres/work-tables.ts';
import { wrongState } from '../../values/errors.ts';

/** What the brand may make of it, state by state; in_progress is made by a creator's first view. */
const MOVES: Record<BriefStatus, readonly string[]> = {
  draft: ['sent', 'deleted'],
  sent: ['sent', 'completed'],
  in_progress: ['sent', 'completed'],
  completed: [],
};

/** It may be sent to more people as long as it is not completed. */
export function assertMay(status: BriefStatus, target: 'sent' | 'completed' | 'deleted'): void {
  const allowed = MOVES[status];
  if (!allowed.includes(target)) throw wrongState('brief', status, target, allowed);
}
