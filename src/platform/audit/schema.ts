import { z } from 'zod';
import { changedFields } from '../../kit/operation/plans/diff.ts';
import { createdAt, idField } from '../../kit/values/fields.ts';
import { ListQuery } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { toWire } from '../../kit/values/wire.ts';
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
    resource_name: fromOutside(z.string())
      .nullable()
      .describe('Title, name, code or number of the record at that time; null if it has none.')
      .meta({ example: 'Summer launch' }),
    creator_email: z
      .string()
      .nullable()
      .describe('E-mail address of the creator whom the record is about; null for other records.')
      .meta({ example: 'ana@mail.example' }),
    creator_name: fromOutside(z.string())
      .nullable()
      .describe('Name of the creator whom the record is about.')
      .meta({ example: 'Ana Ortiz' }),
    currency: z
      .string()
      .nullable()
      .describe("Currency of the record's amounts; null if it has none.")
      .meta({ example: 'USD' }),
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
  person_id: z.string().max(100).describe('Only changes that this person made in the web app.').optional(),
  resource_prefix: z
    .string()
    .regex(/^[a-z]{3}$/, 'must be the three letters that ids begin with, such as cmp')
    .describe('Only changes to records whose ids begin with these letters, such as `cmp` for campaigns.')
    .optional(),
  ...ListQuery,
});

/** What a record is called, by the first of these columns that it has. */
const NAMES = ['title', 'name', 'value', 'orderId', 'productDescription', 'url', 'subject', 'type', 'email'] as const;

/** The first text under one of these names. */
function textIn(values: readonly (Record<string, unknown> | null)[], names: readonly string[]): string | null {
  const found = names.flatMap((name) => values.map((one) => one?.[name]));
  return found.find((one): one is string => typeof one === 'string' && one !== '') ?? null;
}

export function auditEntryOf({ oldValues, newValues, at, ...row }: AuditRow) {
  const changes = changedFields(oldValues && toWire(oldValues), newValues && toWire(newValues));
  const values = [newValues, oldValues];
  const isCreator = row.creatorName !== null || row.creatorEmail !== null;
  return {
    ...toWire({ ...row, createdAt: at }),
    resource_name: textIn(values, NAMES),
    // An applicant is not a creator of the brand yet.
    ...(isCreator ? {} : { creator_name: textIn(values, ['creatorName', 'creatorEmail']) }),
    currency: textIn(values, ['currency', 'compensationCurrency']),
    ...changes,
  };
}
