import type { Selectable } from 'kysely';
import type { Db } from '../../engines/postgres/open.ts';
import { inWindow } from '../../engines/postgres/window.ts';
import type { AuditLogTable } from '../../engines/postgres/workflow-tables.ts';
import type { ListWindow, Page } from '../../page.ts';

export type AuditRow = Omit<Selectable<AuditLogTable>, 'brandId'> & { keyName: string | null };

export interface AuditWhere extends ListWindow {
  resource_id?: string | undefined;
  operation?: string | undefined;
  key_id?: string | undefined;
}

function matching(db: Db, brandId: string, where: AuditWhere) {
  const { resource_id, operation, key_id } = where;
  let query = db.selectFrom('auditLog').where('brandId', '=', brandId).where(inWindow('at', where));
  if (resource_id !== undefined) query = query.where('resourceId', '=', resource_id);
  if (operation !== undefined) query = query.where('operation', '=', operation);
  if (key_id !== undefined) query = query.where('keyId', '=', key_id);
  return query;
}

/** With the name of each key. The page is found by ids alone, so that rows before it are never read. */
export async function listAudit(
  db: Db,
  brandId: string,
  where: AuditWhere,
  page: Page,
): Promise<{ rows: AuditRow[]; total: number }> {
  const query = matching(db, brandId, where);
  const { total } = await query.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const direction = where.sort === 'oldest' ? 'asc' : 'desc';
  const ids = query
    .select('id')
    .orderBy('at', direction)
    .orderBy('id', direction)
    .offset(page.offset)
    .limit(page.limit);
  const rows = await db
    .selectFrom(ids.as('page'))
    .innerJoin('auditLog as entry', 'entry.id', 'page.id')
    .leftJoin('apiKeys', 'apiKeys.id', 'entry.keyId')
    .selectAll('entry')
    .select('apiKeys.name as keyName')
    .orderBy('entry.at', direction)
    .orderBy('entry.id', direction)
    .execute();
  return { rows, total };
}
