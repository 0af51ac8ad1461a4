import { z } from 'zod';
import { changedFields } from '../../operation/plans/diff.ts';
import { createdAt, idField } from '../../values/fields.ts';
import { ListQuery } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { toWire } from '../../values/wire.ts';
import type { AuditRow } from './queries.ts';

const fields = fromOutside(z.record(z.string(), z.unknown()));

export const AuditEntry = z
  .object({
    id: idField('aud', 'Audit entry id.'),
    key_id: z
      .string()
      .nullable()
      .describe('API key or session that made the change; null when a creator did on a public page.')
      .meta({ example: 'key_0Uo3xK2mVdT2aXs7LpRb' }),
    key_name: z
      .string()
      .nullable()
      .describe('Name of the API key; for a session, the browser that signed in.')
      .meta({ example: 'Production' }),
    person_id: z
      .string()
      .nullable()
      .describe('Person who made the change in the web app; null for API keys and public pages.')
      .meta({ example: 'per_0Uo3xK2mVdT2aXs7LpRb' }),
    person_name: z
      .string()
      .nullable()
      .describe('Name of the person, or the e-mail address if no name is set.')
      .meta({ example: 'Robin Bauer' }),
    operation: z.string().describe('Id of the operation that made the change.').meta({ example: 'update_campaign' }),
    resource_id: z.string().describe('Id of the record that changed.').meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' }),
    old: fields
      .nullable()
      .describe('Changed fields with their previous values; null when the record was created.')
      .meta({ example: { status: 'draft' } }),
    new: fields
      .nullable()
      .describe('Changed fields with their new values; null when the record was deleted.')
      .meta({ example: { status: 'active' } }),
    by_agent: z.boolean().describe('Whether an agent made the change over MCP.'),
    request_id: z
      .string()
      .nullable()
      .describe('Id of the request that made the change, as in `X-Request-Id`.')
      .meta({ example: 'req_0Uo3xK2mVdT2aXs7LpRb' }),
    created_at: createdAt,
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditFilter = z.object({
  resource_id: z.string().max(100).describe('Only changes to this record.').optional(),
  operation: z.string().max(100).describe('Only changes made by this operation id.').optional(),
  key_id: z.string().max(100).describe('Only changes made with this API key or session.').optional(),
  ...ListQuery,
});

export function auditEntryOf({ oldValues, newValues, at, ...row }: AuditRow) {
  const changes = changedFields(oldValues && toWire(oldValues), newValues && toWire(newValues));
  return { ...toWire({ ...row, createdAt: at }), ...changes };
}
