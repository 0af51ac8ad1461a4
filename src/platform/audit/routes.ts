import { z } from 'zod';
import { get, list } from '../../kit/operation/kit.ts';
import { auditLog } from './queries.ts';
import { AuditEntry, AuditFilter, auditEntryOf } from './schema.ts';

export const auditOperations = [
  list({
    id: 'list_audit_log',
    path: '/v1/audit-log',
    tag: 'Audit log',
    summary: 'Who changed what',
    description:
      'Every change made with a key or session of the brand, or by a creator on a public page. Newest first.',
    forAgents: { example: { operation: 'create_campaign' } },
    query: AuditFilter,
    item: AuditEntry,
    rows: auditLog,
    itemOf: auditEntryOf,
  }),
  get({
    id: 'get_audit_entry',
    path: '/v1/audit-log/{id}',
    tag: 'Audit log',
    summary: 'One change',
    description: 'Who changed which fields of a record, and their values before and after.',
    forAgents: false,
    params: z.object({ id: z.string().max(100).describe('Audit entry id.') }),
    item: AuditEntry,
    find: async ({ postgres }, { caller, params }) =>
      auditEntryOf(await auditLog.get(postgres.db, caller.brandId, params.id)),
  }),
] as const;
