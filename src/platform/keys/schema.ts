import { z } from 'zod';
import { KeyLimits } from '../../kit/access/keys/limits.ts';
import { createdAt, idField } from '../../kit/values/fields.ts';
import { ListQuery, listSchema, timestamp, timestampInput } from '../../kit/values/page.ts';

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

export const ApiKey = z
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

export const ApiKeyMade = z
  .object({
    data: ApiKey.extend({ key: z.string().describe('The API key. It is shown only here and is not stored.') }),
  })
  .meta({ id: 'ApiKeyMade' });
export const ApiKeyAnswer = z.object({ data: ApiKey }).meta({ id: 'ApiKeyAnswer' });
export const ApiKeyFilter = z.object({ type: type.optional().describe('Only keys of this type.'), ...ListQuery });
export const ApiKeyList = listSchema(ApiKey).meta({ id: 'ApiKeyList' });

export const ApiKeyCreate = z
  .object({
    name,
    type,
    expires_at: timestampInput.nullable().optional().describe('When the key should stop working; never if omitted.'),
    limits: limits.optional(),
  })
  .meta({ id: 'ApiKeyCreate' });

export const ApiKeyPatch = z.object({ name: name.optional(), limits: limits.optional() }).meta({ id: 'ApiKeyPatch' });

export const ApiKeyRotate = z
  .object({
    overlap_hours: z.number().int().min(0).max(720).default(24).describe('Hours for which the old key keeps working.'),
  })
  .meta({ id: 'ApiKeyRotate' });
