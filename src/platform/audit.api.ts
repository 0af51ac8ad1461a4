import { sql } from 'kysely';
import { z } from 'zod';
import { listing } from '../kit/engines/postgres/listing.ts';
import type { Db } from '../kit/engines/postgres/open.ts';
import { get, list } from '../kit/operation/kit.ts';
import { noun } from '../kit/operation/noun.ts';
import { changedFields } from '../kit/operation/plans.ts';
import { createdAt, idField } from '../kit/values/fields.ts';
import { ListQuery } from '../kit/values/page.ts';
import { omitUndefined } from '../kit/values/patch.ts';
import { fromOutside } from '../kit/values/untrusted.ts';
import { toWire } from '../kit/values/wire.ts';

const fields = fromOutside(z.record(z.string(), z.unknown()));

const AuditEntry = z
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
      .describe('Name of the person, or the email address if no name is set.')
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
      .describe('Email address of the creator whom the record is about; null for other records.')
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

const AuditFilter = z.object({
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

/** The columns that may name a record, in order of preference. */
const NAMES = [
  ...['title', 'name', 'value', 'file', 'orderId', 'productDescription', 'url', 'subject', 'type', 'email'],
] as const;

/** Finds the first text under one of these names. */
function findText(values: readonly (Record<string, unknown> | null)[], names: readonly string[]): string | null {
  const candidates = names.flatMap((name) => values.map((one) => one?.[name]));
  return candidates.find((one): one is string => typeof one === 'string' && one !== '') ?? null;
}

function toAuditEntry({ oldValues, newValues, at, ...row }: AuditRow) {
  const changes = changedFields(oldValues && toWire(oldValues), newValues && toWire(newValues));
  const values = [newValues, oldValues];
  const isCreator = row.creatorName !== null || row.creatorEmail !== null;
  return {
    ...toWire({ ...row, createdAt: at }),
    resource_name: findText(values, NAMES),
    // An applicant is not a creator of the brand yet.
    ...(isCreator ? {} : { creator_name: findText(values, ['creatorName', 'creatorEmail']) }),
    currency: findText(values, ['currency', 'compensationCurrency']),
    ...changes,
  };
}

/** The creator that a record is about; its own id if it is a creator. */
const CREATOR = sql<string>`coalesce(new_values ->> 'creatorId', old_values ->> 'creatorId',
  conversations.creator_id, resource_id)`;

/** Entries with the names of the key, of the person who signed in and of the creator. */
const withNames = (db: Db) =>
  db
    .selectFrom('auditLog')
    .leftJoin('apiKeys', 'apiKeys.id', 'auditLog.keyId')
    .leftJoin('people', 'people.id', 'apiKeys.personId')
    .leftJoin('conversations', 'conversations.id', 'auditLog.resourceId')
    .leftJoin('creators', (join) =>
      join.on('creators.id', '=', CREATOR).onRef('creators.brandId', '=', 'auditLog.brandId'),
    )
    .selectAll('auditLog')
    .select((eb) => [
      'apiKeys.name as keyName',
      'apiKeys.personId',
      eb.fn.coalesce('people.name', 'people.email').as('personName'),
      ...(['creators.name as creatorName', 'creators.email as creatorEmail'] as const),
    ]);

const auditLog = listing({
  noun: 'audit entry',
  table: 'audit_log',
  isCounted: true,
  time: 'at',
  changed: ['at'],
  matching: (
    db,
    _brandId,
    { resource_id, operation, key_id, person_id, resource_prefix }: z.output<typeof AuditFilter>,
  ) =>
    db
      .selectFrom('auditLog')
      .where((eb) => eb.and(omitUndefined({ resourceId: resource_id, operation, keyId: key_id })))
      .$if(resource_prefix !== undefined, (query) =>
        query.where(sql<boolean>`left(resource_id, 4) = ${`${resource_prefix}_`}`),
      )
      .$if(person_id !== undefined, (query) =>
        // An array, as in `listing`: for a set, a person who changed nothing cost 144 ms of 100,000 entries instead of 1.
        query.where(sql<boolean>`key_id = any(array(select id from api_keys where person_id = ${person_id ?? ''}))`),
      ),
  rows: withNames,
});
export type AuditRow = Awaited<ReturnType<typeof auditLog.get>>;

const auditOperations = [
  list({
    id: 'list_audit_log',
    path: '/v1/audit-log',
    tag: 'Audit log',
    summary: 'List changes',
    description:
      'Every change made with a key or session of the brand, or by a creator on a public page. Newest first.',
    forAgents: { example: { operation: 'create_campaign' } },
    query: AuditFilter,
    item: AuditEntry,
    rows: auditLog,
    itemOf: toAuditEntry,
  }),
  get({
    id: 'get_audit_entry',
    path: '/v1/audit-log/{id}',
    tag: 'Audit log',
    summary: 'Get a change',
    description: 'Who changed which fields of a record, and their values before and after.',
    forAgents: { isListed: false },
    params: z.object({ id: z.string().max(100).describe('Audit entry id.') }),
    item: AuditEntry,
    find: async ({ postgres }, { caller, params }) =>
      toAuditEntry(await auditLog.get(postgres.db, caller.brandId, params.id)),
  }),
] as const;

export const audit = noun({
  name: 'audit',
  tag: {
    name: 'Audit log',
    about: 'Which key or person changed what, old and new.',
  },
  ids: { 'audit-log': 'aud' },
  operations: auditOperations,
});
