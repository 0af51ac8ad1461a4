import type { Selectable } from 'kysely';
import type { ListWindow, Page } from '../../api/page.ts';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { Db, Exports } from '../../engines/postgres/open.ts';
import { type Cut, cutTo, inOrder, inWindow } from '../../engines/postgres/window.ts';
import type { AuditLogTable } from '../../engines/postgres/workflow-tables.ts';

export type AuditRow = Omit<Selectable<AuditLogTable>, 'brandId'> & {
  keyName: string | null;
  personId: string | null;
  personName: string | null;
};

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
async function selectAudit(db: Db, brandId: string, where: AuditWhere, cut: Cut): Promise<AuditRow[]> {
  const { sort } = where;
  const ids = cutTo(matching(db, brandId, where).select('id'), { time: 'at', id: 'id', sort }, cut);
  const rows = db
    .selectFrom(ids.as('page'))
    .innerJoin('auditLog as entry', 'entry.id', 'page.id')
    .leftJoin('apiKeys', 'apiKeys.id', 'entry.keyId')
    .leftJoin('people', 'people.id', 'apiKeys.personId')
    .selectAll('entry')
    .select((eb) => [
      'apiKeys.name as keyName',
      'apiKeys.personId',
      eb.fn.coalesce('people.name', 'people.email').as('personName'),
    ]);
  return await inOrder(rows, { time: 'entry.at', id: 'entry.id', sort }).execute();
}

export async function listAudit(
  db: Db,
  brandId: string,
  where: AuditWhere,
  page: Page,
): Promise<{ rows: AuditRow[]; total: number }> {
  const { total } = await matching(db, brandId, where)
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows: await selectAudit(db, brandId, where, page), total };
}

export function eachAudit(exports: Exports, brandId: string, where: AuditWhere) {
  return inBatches<AuditRow>(exports, brandId, (trx, last, limit) =>
    selectAudit(trx, brandId, where, { limit, after: last }),
  );
}
