import { z } from 'zod';
import { refreshAccess } from '../../kit/access/credits/access.ts';
import { KeyLimits, NO_LIMITS, parseLimits } from '../../kit/access/keys/limits.ts';
import type { Context } from '../../kit/operation/context.ts';
import { read, write } from '../../kit/operation/kit.ts';
import { listHandlers } from '../../kit/operation/list.ts';
import { noun } from '../../kit/operation/noun.ts';
import { createdAt, idField } from '../../kit/values/fields.ts';
import { ListQuery, listSchema, timestamp, utcTimestampInput } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import { listSubscriptions } from '../brands/brands.ts';
import { assertFresh } from '../people/sessions.ts';
import { alertAboutCredits, keyMails } from './credit-alerts.ts';
import {
  type ApiKeyRow,
  apiKeys,
  createApiKey,
  type ForcedFilterCheck,
  patchApiKey,
  revokeApiKey,
  rotateApiKey,
} from './keys.ts';

const KEY_TYPES = ['brand', 'data'] as const;
const KEY_STATES = ['active', 'expiring', 'expired', 'revoked'] as const;

const type = z.enum(KEY_TYPES).describe('Brand keys call everything; data keys call only the directory, for credits.');
const name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .describe('Name of the key, shown in lists and the audit log.')
  .meta({ example: 'warehouse' });

/** The limits that a request sets: an omitted one stays as it was, null removes it. */
export const LimitsPatch = KeyLimits.partial();
export type LimitsPatch = z.output<typeof LimitsPatch>;
const limits = LimitsPatch.describe('Limits to set. An omitted one stays; null removes it.');

const ApiKey = z
  .object({
    id: idField('key', 'API key id.'),
    type,
    name,
    masked: z.string().describe('First 8 and last 4 characters of the key.').meta({ example: 'svk_3kQ9…c8Qx' }),
    state: z
      .enum(KEY_STATES)
      .describe('`expiring` keys still work but have an end, set at creation or by a rotation. `revoked` is final.'),
    created_at: createdAt,
    expires_at: timestamp.nullable().describe('When the key stops working; null if it never expires.'),
    revoked_at: timestamp.nullable().describe('When the key was revoked; null if it was not.').meta({ example: null }),
    last_used_at: timestamp.nullable().describe('When the key last made a call; null if never.'),
    replaced_by: z
      .string()
      .nullable()
      .describe('Id of the key that a rotation made to replace it; null if none.')
      .meta({ example: null }),
    limits: KeyLimits.describe('Limits of the key; each is null if there is none.'),
  })
  .meta({ id: 'ApiKey' });

const ApiKeyMade = z
  .object({
    data: ApiKey.extend({ key: z.string().describe('The API key. It is shown only here and is not stored.') }),
  })
  .meta({ id: 'ApiKeyMade' });
const ApiKeyAnswer = z.object({ data: ApiKey }).meta({ id: 'ApiKeyAnswer' });
export const ApiKeyFilter = z.object({ type: type.optional().describe('Only keys of this type.'), ...ListQuery });
const ApiKeyList = listSchema(ApiKey).meta({ id: 'ApiKeyList' });

const ApiKeyCreate = z
  .object({
    name,
    type,
    expires_at: utcTimestampInput.nullable().optional().describe('When the key should stop working; never if omitted.'),
    limits: limits.optional(),
  })
  .meta({ id: 'ApiKeyCreate' });

const ApiKeyPatch = z.object({ name: name.optional(), limits: limits.optional() }).meta({ id: 'ApiKeyPatch' });

const ApiKeyRotate = z
  .object({
    overlap_hours: z.number().int().min(0).max(720).default(24).describe('Hours for which the old key keeps working.'),
  })
  .meta({ id: 'ApiKeyRotate' });

const tag = 'API keys';
const Id = z.object({ id: z.string().max(100).describe('API key id.') });

function getKeyState({ revokedAt, expiresAt }: ApiKeyRow, now: Date): z.infer<typeof ApiKey>['state'] {
  if (revokedAt) return 'revoked';
  if (!expiresAt) return 'active';
  return expiresAt <= now ? 'expired' : 'expiring';
}

function toApiKey(row: ApiKeyRow, now: Date) {
  const masked = `${row.firstCharacters}…${row.lastCharacters}`;
  const limits = parseLimits(row.limits) ?? NO_LIMITS;
  return ApiKey.parse({ ...toWire(row), type: row.kind, masked, state: getKeyState(row, now), limits });
}

async function refreshSubscriptions({ postgres, redis, clock }: Context, { caller }: { caller: { brandId: string } }) {
  const subscriptions = await listSubscriptions(postgres.db, caller.brandId);
  await refreshAccess(
    { db: postgres.db, redis, clock },
    subscriptions.map(({ id }) => id),
  );
}

const keyOperations = (checkForcedFilters: ForcedFilterCheck) =>
  [
    read({
      id: 'list_keys',
      path: '/v1/keys',
      tag,
      summary: 'The API keys of the brand',
      description: 'Newest first, including revoked keys. The keys themselves are never shown.',
      callers: ['session'],
      query: ApiKeyFilter,
      response: ApiKeyList,
      handler: listHandlers(apiKeys, ApiKey, (row, { clock }) => toApiKey(row, clock.now())).handler,
    }),
    write({
      id: 'create_key',
      method: 'POST',
      path: '/v1/keys',
      tag,
      summary: 'Create an API key',
      description: 'The response contains the key, which cannot be read again.',
      callers: ['session'],
      body: ApiKeyCreate,
      response: ApiKeyMade,
      status: 201,
      errors: ['CONFLICT', 'SIGN_IN_AGAIN'],
      sealsAnswer: true,
      apply: async (work, { body, caller }) => {
        await assertFresh(work, caller);
        const { key, ...row } = await createApiKey(work, body, checkForcedFilters);
        return { data: { ...toApiKey(row, work.now), key } };
      },
    }),
    write({
      id: 'update_key',
      method: 'PATCH',
      path: '/v1/keys/{id}',
      tag,
      summary: 'Rename an API key or set its limits',
      description: "New limits apply from the key's next call on. What it has already spent counts.",
      callers: ['session'],
      params: Id,
      body: ApiKeyPatch,
      response: ApiKeyAnswer,
      errors: ['NOT_FOUND'],
      hints: { idempotent: true },
      apply: async (work, { params, body }) => ({
        data: toApiKey(await patchApiKey(work, params.id, body, checkForcedFilters), work.now),
      }),
      afterwards: refreshSubscriptions,
    }),
    write({
      id: 'rotate_key',
      method: 'POST',
      path: '/v1/keys/{id}/rotate',
      tag,
      summary: 'Replace an API key',
      description: 'Creates a key with the same name and type. The old key keeps working for `overlap_hours`.',
      callers: ['session'],
      params: Id,
      body: ApiKeyRotate,
      response: ApiKeyMade,
      status: 201,
      errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION', 'SIGN_IN_AGAIN'],
      hints: { destructive: true },
      sealsAnswer: true,
      apply: async (work, { params, body, caller }) => {
        await assertFresh(work, caller);
        const { key, ...row } = await rotateApiKey(work, params.id, body.overlap_hours);
        return { data: { ...toApiKey(row, work.now), key } };
      },
      afterwards: refreshSubscriptions,
    }),
    write({
      id: 'revoke_key',
      method: 'DELETE',
      path: '/v1/keys/{id}',
      tag,
      summary: 'Revoke an API key',
      description: 'The key stops working within a second, permanently.',
      callers: ['session'],
      params: Id,
      response: ApiKeyAnswer,
      errors: ['NOT_FOUND'],
      hints: { idempotent: true, destructive: true },
      apply: async (work, { params }) => ({ data: toApiKey(await revokeApiKey(work, params.id), work.now) }),
      afterwards: refreshSubscriptions,
    }),
  ] as const;

/** The directory, which is above this part, decides which filters a key can be bound to. */
export const declareKeys = (checkForcedFilters: ForcedFilterCheck) =>
  noun({
    name: 'keys',
    operations: keyOperations(checkForcedFilters),
    jobs: [alertAboutCredits],
    mails: keyMails,
  });
