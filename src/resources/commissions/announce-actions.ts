import type { Work } from '../../operation/work.ts';
import { type CommissionFacts, listCommissionsById } from './queries.ts';
import { CommissionAnnounced, commissionOf } from './schema.ts';

type Announced = 'commission.created' | 'commission.approved' | 'commission.rejected' | 'commission.paid';

export function announceOne(work: Work, event: Announced, facts: CommissionFacts): void {
  work.emit(event, CommissionAnnounced.parse(commissionOf(facts)));
}

/** Emits one event for each commission, in its current state. */
export async function announce(work: Work, event: Announced, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  for (const facts of await listCommissionsById(work.db, work.brandId, ids)) announceOne(work, event, facts);
}
