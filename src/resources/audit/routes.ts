import { answersOf } from '../../operation/list.ts';
import { nothing, operation } from '../../operation/operation.ts';
import { auditLog } from './queries.ts';
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
  ...answersOf(auditLog, AuditEntry, auditEntryOf),
});

export const auditOperations = [listAuditLog] as const;
