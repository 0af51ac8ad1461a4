import { sql } from 'kysely';
import { bumpVersion } from '../../kit/access/credits/queries.ts';
import { createKey } from '../../kit/access/keys/actions.ts';
import { type KeyLimits, NO_LIMITS, parseLimits } from '../../kit/access/keys/limits.ts';
import type { KeyKind } from '../../kit/access/keys/queries.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { HOUR_MS } from '../../kit/values/duration.ts';
import { ApiError, notFound, type Problem, validationError } from '../../kit/values/errors.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { listSubscriptions } from '../brands/queries.ts';
import type { LimitsPatch } from './keys.api.ts';

export interface KeyWhere extends ListWindow {
  type?: 'brand' | 'data' | undefined;
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
const keysOf = (db: Db) => db.selectFrom('apiKeys').where('kind', '!=', 'session');

export const apiKeys = listing({
  noun: 'key',
  table: 'api_keys',
  time: 'createdAt',
  changed: ['createdAt', 'revokedAt'],
  matching: (db, _brandId, { type }: KeyWhere) => keysOf(db).where((eb) => eb.and(omitUndefined({ kind: type }))),
  rows: (db) => keysOf(db).select(COLUMNS),
});

/** The key, locked until the transaction ends. */
export async function lockApiKey(db: Db, brandId: string, id: string) {
  return await keysOf(db)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .select(COLUMNS)
    .forUpdate()
    .executeTakeFirst();
}
export type ApiKeyRow = NonNullable<Awaited<ReturnType<typeof lockApiKey>>>;

export async function updateApiKey(
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

/** Keys of all brands that owners get mails about, and that were used since. */
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

/** The problems with filters to which a key of the brand shall be bound. */
export type ForcedFilterCheck = (
  db: Db,
  brandId: string,
  field: string,
  filters: Readonly<Record<string, string>>,
) => Promise<Problem[]>;

export type Made = ApiKeyRow & { key: string };

interface Wanted {
  name: string;
  type: KeyKind;
  expires_at?: Date | null | undefined;
  limits?: LimitsPatch | undefined;
}

/** The audit log shows only the first and last characters of a key. */
const auditOf = ({ id, kind, name, expiresAt, revokedAt, replacedBy, limits }: ApiKeyRow) => ({
  id,
  kind,
  name,
  expiresAt,
  revokedAt,
  replacedBy,
  limits,
});

const OF_DATA_KEYS = ['monthly_credits', 'daily_credits', 'forced_filters', 'alert_at'] as const;

/** The limits with the patch applied; undefined if none is left. Throws VALIDATION_ERROR. */
async function limitedTo(
  { db, brandId }: Work,
  kind: ApiKeyRow['kind'],
  old: KeyLimits | undefined,
  patch: LimitsPatch,
  checkForcedFilters: ForcedFilterCheck,
): Promise<KeyLimits | undefined> {
  const limits: KeyLimits = { ...NO_LIMITS, ...old, ...omitUndefined(patch) };
  const problems: Problem[] = OF_DATA_KEYS.filter((name) => kind !== 'data' && limits[name] !== null).map((name) => ({
    field: `limits.${name}`,
    code: 'contradiction',
    message: 'is a limit of data keys; brand keys spend no credits.',
  }));
  const { forced_filters: forced } = patch;
  if (forced) problems.push(...(await checkForcedFilters(db, brandId, 'limits.forced_filters', forced)));
  if (problems.length > 0) throw validationError(problems);
  return Object.values(limits).every((value) => value === null) ? undefined : limits;
}

async function lock(work: Work, id: string): Promise<ApiKeyRow> {
  const row = await lockApiKey(work.db, work.brandId, id);
  if (!row) throw notFound('API key');
  return row;
}

async function insertApiKey(
  work: Work,
  { name, type, expires_at, limits }: Omit<Wanted, 'limits'> & { limits: KeyLimits | undefined },
): Promise<Made> {
  const { db, brandId, now } = work;
  const subscription = (await listSubscriptions(db, brandId)).find(({ kind }) => kind === type);
  if (!subscription) throw new ApiError('CONFLICT', `The brand has no ${type} subscription.`);
  const request = { brandId, subscriptionId: subscription.id, kind: type, name };
  const { id, key } = await createKey(
    db,
    { now: () => now },
    { ...request, limits, ...(expires_at ? { expiresAt: expires_at } : {}) },
  );
  const row = await lock(work, id);
  work.audit({ resourceId: id, old: null, new: auditOf(row) });
  return { ...row, key };
}

export async function makeApiKey(
  work: Work,
  { limits: patch = {}, ...wanted }: Wanted,
  checkForcedFilters: ForcedFilterCheck,
): Promise<Made> {
  const limits = await limitedTo(work, wanted.type, undefined, patch, checkForcedFilters);
  return await insertApiKey(work, { ...wanted, limits });
}

/** The new key works at once; the old one keeps working for the overlap. */
export async function rotateApiKey(work: Work, id: string, overlapHours: number): Promise<Made> {
  const { db, brandId, now } = work;
  const old = await lock(work, id);
  if (old.kind === 'session') throw notFound('API key');
  if (old.revokedAt || (old.expiresAt && old.expiresAt <= now)) {
    const facts = { current_status: old.revokedAt ? 'revoked' : 'expired', allowed: [] };
    throw new ApiError('INVALID_STATE_TRANSITION', 'This key no longer works; create a new one.', { facts });
  }
  const made = await insertApiKey(work, { name: old.name, type: old.kind, limits: parseLimits(old.limits) });
  const ends = new Date(now.getTime() + overlapHours * HOUR_MS);
  const expiresAt = old.expiresAt && old.expiresAt < ends ? old.expiresAt : ends;
  const row = await updateApiKey(db, brandId, id, {
    expiresAt,
    replacedBy: made.id,
    ...(overlapHours === 0 ? { revokedAt: now } : {}),
  });
  await bumpVersion(db, old.subscriptionId);
  work.audit({ resourceId: id, old: auditOf(old), new: auditOf(row) });
  return made;
}

/** Every process applies new limits from the key's next call on. */
export async function patchApiKey(
  work: Work,
  id: string,
  patch: { name?: string | undefined; limits?: LimitsPatch | undefined },
  checkForcedFilters: ForcedFilterCheck,
): Promise<ApiKeyRow> {
  const old = await lock(work, id);
  const limits =
    patch.limits && (await limitedTo(work, old.kind, parseLimits(old.limits), patch.limits, checkForcedFilters));
  const row = await updateApiKey(work.db, work.brandId, id, {
    ...omitUndefined({ name: patch.name }),
    ...(patch.limits ? { limits: limits ? JSON.stringify(limits) : null } : {}),
  });
  await bumpVersion(work.db, old.subscriptionId);
  work.audit({ resourceId: id, old: auditOf(old), new: auditOf(row) });
  return row;
}

/** Revoking again changes nothing. */
export async function revokeApiKey(work: Work, id: string): Promise<ApiKeyRow> {
  const old = await lock(work, id);
  if (old.revokedAt) return old;
  const row = await updateApiKey(work.db, work.brandId, id, { revokedAt: work.now });
  await bumpVersion(work.db, old.subscriptionId);
  work.audit({ resourceId: id, old: auditOf(old), new: auditOf(row) });
  return row;
}
