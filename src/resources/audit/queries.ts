import { listing } from '../../engines/postgres/listing.ts';
import type { Db } from '../../engines/postgres/open.ts';
import type { ListWindow } from '../../values/page.ts';
import { given } from '../../values/patch.ts';

export interface AuditWhere extends ListWindow {
  resource_id?: string | undefined;
  operation?: string | undefined;
  key_id?: string | undefined;
}

/** Entries with the names of the key and of the person who signed in. */
const withNames = (db: Db) =>
  db
    .selectFrom('auditLog')
    .leftJoin('apiKeys', 'apiKeys.id', 'auditLog.keyId')
    .leftJoin('people', 'people.id', 'apiKeys.personId')
    .selectAll('auditLog')
    .select((eb) => [
      'apiKeys.name as keyName',
      'apiKeys.personId',
      eb.fn.coalesce('people.name', 'people.email').as('personName'),
    ]);

export const auditLog = listing({
  noun: 'audit entry',
  table: 'audit_log',
  time: 'at',
  matching: (db, _brandId, { resource_id, operation, key_id }: AuditWhere) =>
    db.selectFrom('auditLog').where((eb) => eb.and(given({ resourceId: resource_id, operation, keyId: key_id }))),
  rows: withNames,
});
export type AuditRow = Awaited<ReturnType<typeof auditLog.get>>;
