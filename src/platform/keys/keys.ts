import { sql } from 'kysely';
import type { z } from 'zod';
import { type AccessEngines, changeAccess } from '../../kit/access/credits/access.ts';
import { bumpVersion } from '../../kit/access/credits/entries.ts';
import type { CallerKind, KeyKind } from '../../kit/access/keys/callers.ts';
import { hashKey, newApiKey } from '../../kit/access/keys/key-form.ts';
import { type KeyLimits, NO_LIMITS, parseLimits } from '../../kit/access/keys/limits.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { sealNoted } from '../../kit/outbox/outbox.ts';
import type { Clock } from '../../kit/values/clock.ts';
import { HOUR_MS } from '../../kit/values/duration.ts';
import { ApiError, notFound, type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { listSubscriptions } from '../brands/brands.ts';
import type { ApiKeyFilter, LimitsPatch } from './keys.api.ts';

export interface KeyRequest {
  brandId: string;
  subscriptionId: string;
  kind: KeyKind;
  name: string;
  expiresAt?: Date;
  limits?: KeyLimits | undefined;
}

/** Creates a key. The key itself is only in the result; it is not stored. */
export async function createKey(db: Db, clock: Clock, request: KeyRequest): Promise<{ id: string; key: string }> {
  const key = newApiKey();
  const createdAt = clock.now();
  const id = newId('key', createdAt.getTime());
  const insert = async (trx: Db) => {
    await insertKey(trx, {
      ...request,
      id,
      hash: hashKey(key),
      firstCharacters: key.slice(0, 8),
      lastCharacters: key.slice(-4),
      createdAt,
      expiresAt: request.expiresAt ?? null,
      personId: null,
    });
    await sealNoted(trx, request.brandId);
  };
  await (db.isTransaction ? insert(db) : db.transaction().execute(insert));
  return { id, key };
}

/** Revokes by the key itself or its id; revoking again changes nothing. Returns the id. */
export async function revokeKey(engines: AccessEngines, keyOrId: string): Promise<string> {
  const key = await findKey(engines.db, keyOrId.startsWith('svk_') ? { hash: hashKey(keyOrId) } : { id: keyOrId });
  if (!key) throw notFound('API key');
  await changeAccess(engines, key.subscriptionId, async (db) => {
    await updateRevoked(db, key.id, engines.clock.now());
    await sealNoted(db, key.brandId);
  });
  return key.id;
}

const COLUMNS = [
  'id',
  'kind',
  'name',
  'subscriptionId',
  'firstCharacters',
  'lastCharacters',
  'createdAt',
  'expiresAt',
  'revokedAt',
  'lastUsedAt',
  'replacedBy',
  'limits',
] as const;

/** Sessions are stored as keys too, and are excluded. */
const selectKeys = (db: Db) => db.selectFrom('apiKeys').where('kind', '!=', 'session');

export const apiKeys = listing({
  noun: 'key',
  table: 'api_keys',
  time: 'createdAt',
  changed: ['createdAt', 'revokedAt'],
  matching: (db, _brandId, { type }: z.output<typeof ApiKeyFilter>) =>
    selectKeys(db).where((eb) => eb.and(omitUndefined({ kind: type }))),
  rows: (db) => selectKeys(db).select(COLUMNS),
});

/** Locks the key until the transaction ends. */
async function lockApiKey(db: Db, brandId: string, id: string) {
  return await selectKeys(db)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .select(COLUMNS)
    .forUpdate()
    .executeTakeFirst();
}
export type ApiKeyRow = NonNullable<Awaited<ReturnType<typeof lockApiKey>>>;

async function updateApiKey(
  db: Db,
  brandId: string,
  id: string,
  change: { revokedAt?: Date; expiresAt?: Date; replacedBy?: string; name?: string; limits?: string | null },
): Promise<ApiKeyRow> {
  return await db
    .updateTable('apiKeys')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

/** Lists keys of all brands that were used since a time and have alerts for their owners. */
export async function listKeysToAlert(db: Db, usedSince: Date) {
  return await db
    .selectFrom('apiKeys as key')
    .innerJoin('subscriptions as subscription', 'subscription.id', 'key.subscriptionId')
    .where('key.limits', 'is not', null)
    .where(sql<boolean>`key.limits ->> 'alert_at' is not null`)
    .where('key.revokedAt', 'is', null)
    .where('key.lastUsedAt', '>', usedSince)
    .select(['key.id', 'key.name', 'key.brandId', 'key.limits', 'key.subscriptionId', 'subscription.anchorAt'])
    .execute();
}

/** Finds problems of filters that a key of the brand will be bound to. */
export type ForcedFilterCheck = (
  db: Db,
  brandId: string,
  field: string,
  filters: Readonly<Record<string, string>>,
) => Promise<Problem[]>;

export type CreatedKey = ApiKeyRow & { key: string };

interface KeyInput {
  name: string;
  type: KeyKind;
  expires_at?: Date | null | undefined;
  limits?: LimitsPatch | undefined;
}

/** The audit log shows only the first and last characters of a key. */
const toAuditValues = ({ id, kind, name, expiresAt, revokedAt, replacedBy, limits }: ApiKeyRow) => ({
  id,
  kind,
  name,
  expiresAt,
  revokedAt,
  replacedBy,
  limits,
});

const DATA_KEY_LIMITS = ['monthly_credits', 'daily_credits', 'forced_filters', 'alert_at'] as const;

/** Applies the patch to the limits; undefined if no limit remains. Throws VALIDATION_ERROR. */
async function resolveLimits(
  { db, brandId }: Work,
  kind: ApiKeyRow['kind'],
  old: KeyLimits | undefined,
  patch: LimitsPatch,
  checkForcedFilters: ForcedFilterCheck,
): Promise<KeyLimits | undefined> {
  const limits: KeyLimits = { ...NO_LIMITS, ...old, ...omitUndefined(patch) };
  const problems: Problem[] = DATA_KEY_LIMITS.filter((name) => kind !== 'data' && limits[name] !== null).map(
    (name) => ({
      field: `limits.${name}`,
      code: 'contradiction',
      message: 'is a limit of data keys; brand keys spend no credits.',
    }),
  );
  const { forced_filters: forced } = patch;
  if (forced) problems.push(...(await checkForcedFilters(db, brandId, 'limits.forced_filters', forced)));
  if (problems.length > 0) throw validationError(problems);
  return Object.values(limits).every((value) => value === null) ? undefined : limits;
}

async function lockKey(work: Work, id: string): Promise<ApiKeyRow> {
  const row = await lockApiKey(work.db, work.brandId, id);
  if (!row) throw notFound('API key');
  return row;
}

async function issueKey(
  work: Work,
  { name, type, expires_at, limits }: Omit<KeyInput, 'limits'> & { limits: KeyLimits | undefined },
): Promise<CreatedKey> {
  const { db, brandId, now } = work;
  const subscription = (await listSubscriptions(db, brandId)).find(({ kind }) => kind === type);
  if (!subscription) throw new ApiError('CONFLICT', `The brand has no ${type} subscription.`);
  const request = { brandId, subscriptionId: subscription.id, kind: type, name };
  const { id, key } = await createKey(
    db,
    { now: () => now },
    { ...request, limits, ...(expires_at ? { expiresAt: expires_at } : {}) },
  );
  const row = await lockKey(work, id);
  work.audit({ resourceId: id, old: null, new: toAuditValues(row) });
  return { ...row, key };
}

export async function createApiKey(
  work: Work,
  { limits: patch = {}, ...input }: KeyInput,
  checkForcedFilters: ForcedFilterCheck,
): Promise<CreatedKey> {
  const limits = await resolveLimits(work, input.type, undefined, patch, checkForcedFilters);
  return await issueKey(work, { ...input, limits });
}

/** The new key works at once; the old one keeps working for the overlap. */
export async function rotateApiKey(work: Work, id: string, overlapHours: number): Promise<CreatedKey> {
  const { db, brandId, now } = work;
  const old = await lockKey(work, id);
  if (old.kind === 'session') throw notFound('API key');
  if (old.revokedAt || (old.expiresAt && old.expiresAt <= now)) {
    const facts = { current_status: old.revokedAt ? 'revoked' : 'expired', allowed: [] };
    throw new ApiError('INVALID_STATE_TRANSITION', 'This key no longer works; create a new one.', { facts });
  }
  const replacement = await issueKey(work, { name: old.name, type: old.kind, limits: parseLimits(old.limits) });
  const overlapEnd = new Date(now.getTime() + overlapHours * HOUR_MS);
  const expiresAt = old.expiresAt && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd;
  const row = await updateApiKey(db, brandId, id, {
    expiresAt,
    replacedBy: replacement.id,
    ...(overlapHours === 0 ? { revokedAt: now } : {}),
  });
  await bumpVersion(db, old.subscriptionId);
  work.audit({ resourceId: id, old: toAuditValues(old), new: toAuditValues(row) });
  return replacement;
}

/** Every process applies new limits from the key's next call on. */
export async function patchApiKey(
  work: Work,
  id: string,
  patch: { name?: string | undefined; limits?: LimitsPatch | undefined },
  checkForcedFilters: ForcedFilterCheck,
): Promise<ApiKeyRow> {
  const old = await lockKey(work, id);
  const limits =
    patch.limits && (await resolveLimits(work, old.kind, parseLimits(old.limits), patch.limits, checkForcedFilters));
  const row = await updateApiKey(work.db, work.brandId, id, {
    ...omitUndefined({ name: patch.name }),
    ...(patch.limits ? { limits: limits ? JSON.stringify(limits) : null } : {}),
  });
  await bumpVersion(work.db, old.subscriptionId);
  work.audit({ resourceId: id, old: toAuditValues(old), new: toAuditValues(row) });
  return row;
}

/** Revoking again changes nothing. */
export async function revokeApiKey(work: Work, id: string): Promise<ApiKeyRow> {
  const old = await lockKey(work, id);
  if (old.revokedAt) return old;
  const row = await updateApiKey(work.db, work.brandId, id, { revokedAt: work.now });
  await bumpVersion(work.db, old.subscriptionId);
  work.audit({ resourceId: id, old: toAuditValues(old), new: toAuditValues(row) });
  return row;
}

export interface NewKey {
  id: string;
  brandId: string;
  subscriptionId: string;
  kind: CallerKind;
  name: string;
  hash: Buffer;
  firstCharacters: string;
  lastCharacters: string;
  createdAt: Date;
  expiresAt: Date | null;
  /** The person whose session it is; null for an API key. */
  personId: string | null;
  limits?: KeyLimits | undefined;
}

export async function insertKey(db: Db, { limits, ...key }: NewKey): Promise<void> {
  const text = limits ? JSON.stringify(limits) : null;
  await db
    .insertInto('apiKeys')
    .values({ ...key, limits: text, revokedAt: null, lastUsedAt: null, replacedBy: null })
    .execute();
}

export async function listKeys(db: Db, brandId: string) {
  return await db
    .selectFrom('apiKeys')
    .select([
      'id',
      'kind',
      'name',
      'subscriptionId',
      'firstCharacters',
      'lastCharacters',
      'createdAt',
      'expiresAt',
      'revokedAt',
      'lastUsedAt',
    ])
    .where('brandId', '=', brandId)
    .where('kind', '!=', 'session')
    .orderBy('createdAt', 'desc')
    .orderBy('id')
    .execute();
}

/** Maps the ids of keys of the brand to their names. */
export async function listKeyNames(db: Db, brandId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('apiKeys')
    .select(['id', 'name'])
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Finds a key by its digest or id. */
export async function findKey(db: Db, key: { hash: Buffer } | { id: string }) {
  return await db
    .selectFrom('apiKeys')
    .select(['id', 'brandId', 'subscriptionId', 'revokedAt'])
    .$if('hash' in key, (query) => query.where('hash', '=', 'hash' in key ? key.hash : Buffer.alloc(0)))
    .$if('id' in key, (query) => query.where('id', '=', 'id' in key ? key.id : ''))
    .executeTakeFirst();
}

export async function updateRevoked(db: Db, keyId: string, at: Date): Promise<void> {
  await db
    .updateTable('apiKeys')
    .set({ revokedAt: at })
    .where('id', '=', keyId)
    .where('revokedAt', 'is', null)
    .execute();
}
