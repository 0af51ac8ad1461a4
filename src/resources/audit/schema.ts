import { z } from 'zod';
import { changedFields } from '../../operation/plans/diff.ts';
import { ListQuery, timestamp } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { toWire } from '../../values/wire.ts';
import type { AuditRow } from './queries.ts';

const fields = fromOutside(z.record(z.string(), z.unknown()));

export const AuditEntry = z
  .object({
    id: z.string(),
    key_id: z.string().nullable().describe('Null for what a creator did on a public page.'),
    key_name: z.string().nullable().describe('Of a person’s session: the browser it was made in.'),
    person_id: z.string().nullable().describe('Who did it in the web app; null for an API key.'),
    person_name: z.string().nullable().describe('Their name, or their address where they have none.'),
    operation: z.string().meta({ example: 'update_campaign' }),
    resource_id: z.string(),
    old: fields
      .nullable()
      .describe('The stored fields that changed, as they were; null for what was made.')
      .meta({ example: { status: 'draft' } }),
    new: fields
      .nullable()
      .describe('The same fields as they became; null for what was removed.')
      .meta({ example: { status: 'active' } }),
    by_agent: z.boolean().describe('Whether an agent did it, by MCP.'),
    request_id: z.string().nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditFilter = z.object({
  resource_id: z.string().max(100).optional(),
  operation: z.string().max(100).optional(),
  key_id: z.string().max(100).optional(),
  ...ListQuery,
});

export function auditEntryOf({ oldValues, newValues, at, ...row }: AuditRow) {
  const changes = changedFields(oldValues && toWire(oldValues), newValues && toWire(newValues));
  return { ...toWire({ ...row, createdAt: at }), ...changes };
}
