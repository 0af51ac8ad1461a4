import { nothing, operation } from '../../api/operation.ts';
import { pageOf, paginationOf } from '../../api/page.ts';
import { eachAs } from '../../values/wire.ts';
import { eachAudit, listAudit } from './queries.ts';
import { AuditEntry, AuditFilter, AuditList, auditEntryOf } from './schema.ts';

const listAuditLog = operation({
  id: 'list_audit_log',
  method: 'GET',
  path: '/v1/audit-log',
  tag: 'Audit log',
  summary: 'Who changed what',
  description: 'Every change under any key of the brand, and what creators sent from public pages. Newest first.',
  callers: ['brand'],
  params: nothing,
  query: AuditFilter,
  body: nothing,
  response: AuditList,
  hints: { readOnly: true, idempotent: true, destructive: false },
  handler: async ({ postgres }, { caller, query }) => {
    const page = pageOf(query);
    const { rows, total } = await listAudit(postgres.db, caller.brandId, query, page);
    return { data: rows.map(auditEntryOf), pagination: paginationOf(page, total) };
  },
  csv: {
    item: AuditEntry,
    rows: ({ postgres }, { caller, query }) => eachAs(eachAudit(postgres.exports, caller.brandId, query), auditEntryOf),
  },
});

export const auditOperations = [listAuditLog] as const;
