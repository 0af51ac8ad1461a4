import { z } from 'zod';
import { refreshAccess } from '../../kit/access/credits/refresh.ts';
import { NO_LIMITS, parseLimits } from '../../kit/access/keys/limits.ts';
import type { Context } from '../../kit/operation/context.ts';
import { read, write } from '../../kit/operation/kit.ts';
import { listHandlers } from '../../kit/operation/list.ts';
import { toWire } from '../../kit/values/wire.ts';
import { listSubscriptions } from '../brands/queries.ts';
import { type ForcedFilterCheck, makeApiKey, patchApiKey, revokeApiKey, rotateApiKey } from './actions.ts';
import { type ApiKeyRow, apiKeys } from './queries.ts';
import {
  ApiKey,
  ApiKeyAnswer,
  ApiKeyCreate,
  ApiKeyFilter,
  ApiKeyList,
  ApiKeyMade,
  ApiKeyPatch,
  ApiKeyRotate,
} from './schema.ts';

const tag = 'API keys';
const Id = z.object({ id: z.string().max(100).describe('API key id.') });

function stateOf({ revokedAt, expiresAt }: ApiKeyRow, now: Date): z.infer<typeof ApiKey>['state'] {
  if (revokedAt) return 'revoked';
  if (!expiresAt) return 'active';
  return expiresAt <= now ? 'expired' : 'expiring';
}

function keyOf(row: ApiKeyRow, now: Date) {
  const masked = `${row.firstCharacters}…${row.lastCharacters}`;
  const limits = parseLimits(row.limits) ?? NO_LIMITS;
  return ApiKey.parse({ ...toWire(row), type: row.kind, masked, state: stateOf(row, now), limits });
}

async function refresh({ postgres, redis, clock }: Context, { caller }: { caller: { brandId: string } }) {
  const subscriptions = await listSubscriptions(postgres.db, caller.brandId);
  await refreshAccess(
    { db: postgres.db, redis, clock },
    subscriptions.map(({ id }) => id),
  );
}

export const keyOperations = (checkForcedFilters: ForcedFilterCheck) =>
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
      handler: listHandlers(apiKeys, ApiKey, (row, { clock }) => keyOf(row, clock.now())).handler,
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
      errors: ['CONFLICT'],
      sealsAnswer: true,
      apply: async (work, { body }) => {
        const { key, ...row } = await makeApiKey(work, body, checkForcedFilters);
        return { data: { ...keyOf(row, work.now), key } };
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
        data: keyOf(await patchApiKey(work, params.id, body, checkForcedFilters), work.now),
      }),
      afterwards: refresh,
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
      errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
      hints: { destructive: true },
      sealsAnswer: true,
      apply: async (work, { params, body }) => {
        const { key, ...row } = await rotateApiKey(work, params.id, body.overlap_hours);
        return { data: { ...keyOf(row, work.now), key } };
      },
      afterwards: refresh,
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
      apply: async (work, { params }) => ({ data: keyOf(await revokeApiKey(work, params.id), work.now) }),
      afterwards: refresh,
    }),
  ] as const;
