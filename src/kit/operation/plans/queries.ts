import type { Insertable, Selectable } from 'kysely';
import type { PlansTable } from '../../engines/postgres/database.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { toWire } from '../../values/wire.ts';
import type { PlannedChange } from './schema.ts';

declare module '../../engines/postgres/columns.ts' {
  interface ColumnShapes {
    'plans.changes': PlannedChange[];
  }
}

export type PlanRow = Selectable<PlansTable>;

export async function insertPlan(db: Db, plan: Insertable<PlansTable>): Promise<PlanRow> {
  return await db.insertInto('plans').values(plan).returningAll().executeTakeFirstOrThrow();
}

export function toPlan(row: PlanRow, now: Date) {
  const isOver = row.expiresAt <= now;
  const status: 'open' | 'applied' | 'expired' = row.appliedAt ? 'applied' : isOver ? 'expired' : 'open';
  return { ...toWire(row), status };
}
