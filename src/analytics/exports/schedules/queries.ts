import { type Insertable, type Selectable, sql } from 'kysely';
import { COUNT, countOf } from '../../../kit/engines/postgres/count.ts';
import type { ExportSchedulesTable } from '../../../kit/engines/postgres/database.ts';
import { listing } from '../../../kit/engines/postgres/listing.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { periodicRows } from '../../../kit/engines/postgres/periodic.ts';
import type { ListWindow } from '../../../kit/values/page.ts';
import type { Dataset } from '../data/queries.ts';

declare module '../../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'exportSchedules.of': Dataset;
  }
}

export type ScheduleRow = Selectable<ExportSchedulesTable>;

export const schedules = listing({
  noun: 'export schedule',
  table: 'export_schedules',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, _where: ListWindow) => db.selectFrom('exportSchedules').where('deletedAt', 'is', null),
  rows: (db) => db.selectFrom('exportSchedules').selectAll().where('deletedAt', 'is', null),
});

export const countSchedules = (db: Db, brandId: string): Promise<number> =>
  countOf(db.selectFrom('exportSchedules').select(COUNT).where('brandId', '=', brandId).where('deletedAt', 'is', null));

export const insertSchedule = (db: Db, row: Insertable<ExportSchedulesTable>): Promise<ScheduleRow> =>
  db.insertInto('exportSchedules').values(row).returningAll().executeTakeFirstOrThrow();

/** Ends a schedule, and forgets its keys. Undefined if it has ended. */
export async function deleteSchedule(db: Db, brandId: string, id: string, now: Date): Promise<ScheduleRow | undefined> {
  return await db
    .updateTable('exportSchedules')
    .set({ deletedAt: now, updatedAt: now, credentials: Buffer.alloc(0) })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

export const dueSchedules = periodicRows<'nextAt', ScheduleRow>({
  ...{ table: 'export_schedules', due: 'nextAt', where: 'deleted_at is null' },
});

/** Notes that everything until then was delivered. */
export async function noteDelivered(
  db: Db,
  brandId: string,
  id: string,
  { until, now }: { until: Date; now: Date },
): Promise<void> {
  await db
    .updateTable('exportSchedules')
    .set({
      untilAt: sql<Date>`greatest(until_at, ${until}::timestamptz)`,
      failingSince: null,
      error: null,
      updatedAt: now,
    })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .execute();
}

/** Notes a failure. Undefined unless it is the first since an export was delivered. */
export async function noteFailing(
  db: Db,
  brandId: string,
  id: string,
  { error, now }: { error: string; now: Date },
): Promise<ScheduleRow | undefined> {
  const row = await db
    .updateTable('exportSchedules')
    .set({ failingSince: sql<Date>`coalesce(failing_since, ${now}::timestamptz)`, error, updatedAt: now })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return row?.failingSince?.getTime() === now.getTime() ? row : undefined;
}
