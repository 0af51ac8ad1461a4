import type { Insertable, Selectable } from 'kysely';
import type { PlansTable } from '../../engines/postgres/agent-tables.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { toWire } from '../../values/wire.ts';

export type PlanRow = Selectable<PlansTable>;

export async function insertPlan(db: Db, plan: Insertable<PlansTable>): Promise<PlanRow> {
  return await db.insertInto('plans').values(plan).returningAll().executeTakeFirstOrThrow();
}

export function planOf(row: PlanRow, now: Date) {
  const isOver = row.expiresAt <= now;
  const status: 'open' | 'applied' | 'expired' = row.appliedAt ? 'applied' : isOver ? 'expired' : 'open';
  return { ...toWire(row), status };
}
