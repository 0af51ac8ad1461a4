import { sql } from 'kysely';
import type { PeopleTable } from '../../engines/postgres/database.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { type KeyLimits, type PlanName, parseLimits, type SubscriptionStatus } from './limits.ts';

/** A person's permissions in the brand's web app. */
export type Role = PeopleTable['role'];
export type KeyKind = 'brand' | 'data';

/** A session counts as a kind of key: that of a person in the brand's web app. */
export type CallerKind = KeyKind | 'session';

export interface Subscription {
  id: string;
  kind: KeyKind;
  plan: PlanName;
  status: SubscriptionStatus;
  monthlyCredits: number | null;
  anchorAt: Date;
  /** Incremented by every change of the subscription or its keys; see meter.lua. */
  version: number;
}

/** A person of the brand, signed in to its web app. */
export interface Person {
  id: string;
  email: string;
  name: string | null;
  role: Role;
}

interface KeyFields {
  keyId: string;
  brandId: string;
  expiresAt: Date | null;
  revokedAt: Date | null;
  subscription: Subscription;
  /** The scopes that an owner granted to the agent's host of this token; null for any other key. */
  scopes: readonly string[] | null;
  limits?: KeyLimits | undefined;
  /** The operator suspended the brand. */
  isSuspended?: true;
}

/** A key represents the brand or one of its people. */
export type Caller = KeyFields & ({ kind: KeyKind } | { kind: 'session'; person: Person });

const selectCallers = (db: Db) =>
  db
    .selectFrom('apiKeys as key')
    .innerJoin('subscriptions as subscription', 'subscription.id', 'key.subscriptionId')
    .leftJoin('people as person', (join) =>
      join.onRef('person.id', '=', 'key.personId').on('person.removedAt', 'is', null),
    )
    .leftJoin('agentGrants as grant', 'grant.keyId', 'key.id')
    .innerJoin('brands as brand', 'brand.id', 'key.brandId')
    .leftJoin('people as grantor', (join) =>
      join.onRef('grantor.id', '=', 'grant.personId').on('grantor.removedAt', 'is', null),
    )
    .select([
      'grantor.role as grantedBy',
      'brand.suspendedAt',
      'grant.scopes',
      'key.id as keyId',
      'key.kind',
      'key.brandId',
      'key.revokedAt',
      'key.limits',
      'subscription.id as subscriptionId',
      'subscription.kind as subscriptionKind',
      'subscription.plan',
      'subscription.status',
      'subscription.monthlyCredits',
      'subscription.anchorAt',
      'subscription.version',
      'person.id as personId',
      'person.email',
      'person.name',
      'person.role',
    ]);

/** An agent's grant has one key, whose newest token is the key's own; the tokens issued before it live on beside it. */
const findByEarlierToken = (db: Db, hash: Buffer) =>
  selectCallers(db)
    .innerJoin('accessTokens as token', 'token.keyId', 'key.id')
    .select('token.expiresAt')
    .where('token.hash', '=', hash)
    .executeTakeFirst();

const compileByHash = (db: Db, hash: Buffer) =>
  selectCallers(db).select('key.expiresAt').where('key.hash', '=', hash).compile();
/** Kept, because building the statement anew took half of the CPU of looking up a key. */
let byHash: ReturnType<typeof compileByHash> | undefined;

export async function findCaller(db: Db, hash: Buffer): Promise<Caller | undefined> {
  byHash ??= compileByHash(db, hash);
  const query: typeof byHash = { ...byHash, parameters: [hash] };
  const { rows } = await db.executeQuery(query);
  const row = rows[0] ?? (await findByEarlierToken(db, hash));
  if (!row) return undefined;
  const { subscriptionId, subscriptionKind, plan, status, monthlyCredits, anchorAt, version, ...rest } = row;
  const { kind, personId, email, name, role, grantedBy, limits: stored, suspendedAt, ...keyFields } = rest;
  // Only an owner lets an agent in, for as long as they are one.
  if (keyFields.scopes !== null && grantedBy !== 'owner') return undefined;
  const limits = parseLimits(stored);
  const key = { ...keyFields, ...(limits ? { limits } : {}), ...(suspendedAt ? { isSuspended: true as const } : {}) };
  const subscription = { id: subscriptionId, kind: subscriptionKind, plan, status, monthlyCredits, anchorAt, version };
  if (kind !== 'session') return { ...key, kind, subscription };
  // The person was removed, so the session is invalid.
  if (personId === null || email === null || role === null) return undefined;
  return { ...key, kind, subscription, person: { id: personId, email, name, role } };
}

export async function getSubscription(db: Db, id: string): Promise<Subscription> {
  return await db
    .selectFrom('subscriptions')
    .select(['id', 'kind', 'plan', 'status', 'monthlyCredits', 'anchorAt', 'version'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

export async function listRevokedKeyIds(db: Db, subscriptionId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('apiKeys')
    .select('id')
    .where('subscriptionId', '=', subscriptionId)
    .where('revokedAt', 'is not', null)
    .execute();
  return rows.map((row) => row.id);
}

/** The subscription's keys whose spending is counted. */
export async function listCountedKeyIds(db: Db, subscriptionId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('apiKeys')
    .select('id')
    .where('subscriptionId', '=', subscriptionId)
    .where('limits', 'is not', null)
    .where(sql<boolean>`coalesce(limits ->> 'monthly_credits', limits ->> 'daily_credits') is not null`)
    .where('revokedAt', 'is', null)
    .execute();
  return rows.map((row) => row.id);
}

/** Locks the keys in one order, so that two processes with the same busy keys do not deadlock. */
export async function updateLastUsed(db: Db, lastUses: ReadonlyMap<string, Date>): Promise<void> {
  if (lastUses.size === 0) return;
  const ids = [...lastUses.keys()];
  const times = [...lastUses.values()];
  await sql`
    with own as materialized (
      select id from api_keys where id = any(${ids}::text[]) order by id for no key update)
    update api_keys set last_used_at = used.at
    from own join unnest(${ids}::text[], ${times}::timestamptz[]) as used (id, at) on used.id = own.id
    where api_keys.id = own.id and (last_used_at is null or last_used_at < used.at)
  `.execute(db);
}

/**
 * Subscriptions that may have unsettled charges, because one of their data keys was used after `usedAfter`, or whose
 * state in Redis may be outdated.
 */
export async function listSubscriptionVersions(
  db: Db,
  usedAfter?: Date,
): Promise<{ id: string; version: number; inRedis: boolean }[]> {
  const all = db.selectFrom('subscriptions').select(['id', 'version', 'inRedis']);
  if (usedAfter === undefined) return await all.execute();
  const usedSubscriptions = db
    .selectFrom('apiKeys')
    .select('subscriptionId')
    .where('kind', '=', 'data')
    .where('lastUsedAt', '>', usedAfter);
  return await all
    .where('inRedis', '=', sql<boolean>`false`)
    .union(all.where('id', 'in', usedSubscriptions))
    .execute();
}

/** Records that Redis has these versions of the subscriptions, or nothing. Skips those that changed in the meantime. */
export async function markInRedis(db: Db, subscriptions: readonly { id: string; version: number }[]): Promise<void> {
  if (subscriptions.length === 0) return;
  const [ids, versions] = [subscriptions.map(({ id }) => id), subscriptions.map(({ version }) => version)];
  await sql`
    update subscriptions set in_redis = true
    from unnest(${ids}::text[], ${versions}::bigint[]) as known (id, version)
    where subscriptions.id = known.id and subscriptions.version = known.version and not in_redis`.execute(db);
}
