import { list } from '../../operation/kit.ts';
import { auditLog } from './queries.ts';
import { AuditEntry, AuditFilter, auditEntryOf } from './schema.ts';

const listAuditLog = list({
  id: 'list_audit_log',
  path: '/v1/audit-log',
  tag: 'Audit log',
  summary: 'Who changed what',
  description: 'Every change made with a key or session of the brand, or by a creator on a public page. Newest first.',
  forAgents: { example: { operation: 'create_campaign' } },
  query: AuditFilter,
  item: AuditEntry,
  rows: auditLog,
  itemOf: auditEntryOf,
});

export const auditOperations = [listAuditLog] as const;
