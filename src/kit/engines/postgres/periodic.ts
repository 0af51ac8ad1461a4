import { sql } from 'kysely';
import type { Db } from './open.ts';
import { notOfSuspended } from './suspended.ts';

interface Periodic {
  id: string;
  brandId: string;
  updatedAt: Date | null;
  error: string | null;
}

/** Rows of a table that are due again and again, unless the operator paused them. `due` is the column with the time of the next run. */
export interface PeriodicRows<Row> {
  /** Lists the due rows of all brands, the longest due first. */
  listDue(db: Db, now: Date, limit: number): Promise<Row[]>;
  /** Moves a row on. False if another process did, or the row was changed since it was read. */
  take(db: Db, row: Row, next: Partial<Row>): Promise<boolean>;
  /** Tries a row again later. */
  postpone(db: Db, row: Row, until: Date, error: string | null): Promise<void>;
}

export function periodicRows<Due extends string, Row extends Periodic & Record<Due, Date>>({
  table,
  due,
  where = 'true',
}: {
  table: string;
  due: Due;
  /** A condition in SQL for rows still in use. */
  where?: string;
}): PeriodicRows<Row> {
  const inUse = sql`paused_at is null and ${sql.raw(where)}`;
  async function change(db: Db, row: Row, next: object): Promise<boolean> {
    const columns: [string, unknown][] = Object.entries(next);
    const assignments = columns.map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)} set ${sql.join(assignments)} where brand_id = ${row.brandId} and id = ${row.id}
        and ${sql.ref(due)} = ${row[due]} and updated_at is not distinct from ${row.updatedAt}::timestamptz
        and ${inUse}`.execute(db);
    return numAffectedRows > 0n;
  }
  return {
    listDue: async (db, now, limit) => {
      const { rows } = await sql<Row>`select * from ${sql.table(table)} where ${sql.ref(due)} <= ${now} and ${inUse}
        and ${notOfSuspended(`${table}.brand_id`)} order by ${sql.ref(due)}, id limit ${limit}`.execute(db);
      return rows;
    },
    take: change,
    postpone: async (db, row, until, error) => void (await change(db, row, { [due]: until, error })),
  };
}
