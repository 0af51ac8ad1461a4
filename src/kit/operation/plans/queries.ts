import type { Insertable, Selectable } from 'kysely';
import type { Db } from '../../engines/postgres/open.ts';
import type { CreatedAt, Json } from '../../engines/postgres/tables.ts';
import { toWire } from '../../values/wire.ts';

/** A row that a plan would change, with the fields that would change. */
export interface PlannedChange {
  resource_id: string;
  old: Record<string, unknown> | null;
  new: Record<string, unknown> | null;
  /** Fields of `new` whose values are generated again when the plan is applied. */
  generated?: string[];
}

interface PlansTable {
  id: string;
  brandId: string;
  keyId: string | null;
  byAgent: boolean;
  operation: string;
  request: Buffer;
  changes: Json<PlannedChange[]>;
  events: string[];
  createdAt: CreatedAt;
  expiresAt: Date;
  appliedAt: Date | null;
  appliedBy: string | null;
}

declare module '../../engines/postgres/tables.ts' {
  interface Database {
    plans: PlansTable;
  }
}

export type PlanRow = Selectable<PlansTable>;

export async function insertPlan(db: Db, plan: Insertable<PlansTable>): Promise<PlanRow> {
  return await db.insertInto('plans').values(plan).returningAll().executeTakeFirstOrThrow();
}

export function planOf(row: PlanRow, now: Date) {
  const isOver = row.expiresAt <= now;
  const status: 'open' | 'applied' | 'expired' = row.appliedAt ? 'applied' : isOver ? 'expired' : 'open';
  return { ...toWire(row), status };
}
