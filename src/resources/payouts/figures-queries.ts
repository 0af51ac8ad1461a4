import { sql } from 'kysely';
import type { Db } from '../../engines/postgres/open.ts';

export interface PayoutFigures {
  payouts: { status: string; method: string; count: number }[];
  /** How many have money that has paid no commission yet. */
  unallocated: number;
}

/** Payouts of all brands. */
export async function readPayoutFigures(db: Db): Promise<PayoutFigures> {
  const { rows } = await sql<PayoutFigures['payouts'][number] & { unallocated: number }>`
    select status, method, count(*) as count, count(*) filter (where unallocated_minor > 0) as unallocated
    from payouts group by status, method`.execute(db);
  return {
    payouts: rows.map(({ unallocated: _unallocated, ...row }) => row),
    unallocated: rows.reduce((sum, { unallocated }) => sum + unallocated, 0),
  };
}
