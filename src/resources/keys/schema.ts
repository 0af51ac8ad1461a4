import { z } from 'zod';
import { ListQuery, listOf, timestamp, timestampInput } from '../../values/page.ts';

const KEY_TYPES = ['brand', 'data'] as const;
const KEY_STATES = ['active', 'expiring', 'expired', 'revoked'] as const;

export const ApiKey = z
  .object({
    id: z.string(),
    type: z.enum(KEY_TYPES).describe('A brand key calls everything; a data key only the directory, for credits.'),
    name: z.string(),
    masked: z.string().describe('First 8 and last 4 characters.'),
    state: z.enum(KEY_STATES).describe('`expiring`: another key took its place, or it was made to end.'),
    created_at: timestamp,
    expires_at: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
    last_used_at: timestamp.nullable(),
    replaced_by: z.string().nullable().describe('The key that took its place.'),
  })
  .meta({ id: 'ApiKey' });

export const ApiKeyMade = z
  .object({
    data: ApiKey.extend({ key: z.string().describe('The key itself: shown here, once, and kept nowhere.') }),
  })
  .meta({ id: 'ApiKeyMade' });
export const ApiKeyAnswer = z.object({ data: ApiKey }).meta({ id: 'ApiKeyAnswer' });
export const ApiKeyFilter = z.object({ type: z.enum(KEY_TYPES).optional(), ...ListQuery });
export const ApiKeyList = listOf(ApiKey).meta({ id: 'ApiKeyList' });

export const ApiKeyCreate = z
  .object({
    name: z.string().trim().min(1).max(100),
    type: z.enum(KEY_TYPES),
    expires_at: timestampInput.nullable().optional(),
  })
  .meta({ id: 'ApiKeyCreate' });

export const ApiKeyRotate = z
  .object({
    overlap_hours: z.number().int().min(0).max(720).default(24).describe('How long the old key still works.'),
  })
  .meta({ id: 'ApiKeyRotate' });
