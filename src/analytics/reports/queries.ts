import type { Insertable, Selectable, Updateable } from 'kysely';
import { COUNT, countOf } from '../../kit/engines/postgres/count.ts';
import type { ReportsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../kit/engines/postgres/own.ts';
import { periodicRows } from '../../kit/engines/postgres/periodic.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import type { ReportOperation } from './schema.ts';

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'reports.operation': ReportOperation;
    'reports.parameters': Record<string, string>;
  }
}

export type ReportRow = Selectable<ReportsTable>;

export const reports = listing({
  noun: 'report',
  table: 'reports',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, _where: ListWindow) => db.selectFrom('reports'),
  rows: (db) => db.selectFrom('reports').selectAll(),
});

export const countReports = (db: Db, brandId: string): Promise<number> =>
  countOf(db.selectFrom('reports').select(COUNT).where('brandId', '=', brandId));

export const insertReport = (db: Db, row: Insertable<ReportsTable>): Promise<ReportRow> =>
  db.insertInto('reports').values(row).returningAll().executeTakeFirstOrThrow();

export const updateReport = (db: Db, brandId: string, id: string, change: Updateable<ReportsTable>) =>
  updateOwn(db.updateTable('reports').set(change).returningAll(), brandId, id);

export async function deleteReport(db: Db, brandId: string, id: string): Promise<void> {
  await db.deleteFrom('reports').where('brandId', '=', brandId).where('id', '=', id).execute();
}

export const dueReports = periodicRows<'dueAt', ReportRow>({ table: 'reports', due: 'dueAt' });
