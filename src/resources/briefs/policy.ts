import type { BriefStatus } from '../../engines/postgres/work-tables.ts';
import { wrongState } from '../../values/errors.ts';

/** The brand's moves, by status. A creator's first view makes a brief `in_progress`. */
const MOVES: Record<BriefStatus, readonly string[]> = {
  draft: ['sent', 'deleted'],
  sent: ['sent', 'completed'],
  in_progress: ['sent', 'completed'],
  completed: [],
};

/** A brief can be sent to more people until it is completed. */
export function assertMay(status: BriefStatus, target: 'sent' | 'completed' | 'deleted'): void {
  const allowed = MOVES[status];
  if (!allowed.includes(target)) throw wrongState('brief', status, target, allowed);
}
