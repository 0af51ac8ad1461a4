import { type Insertable, sql } from 'kysely';
import { type AccessEngines, changeAccess } from '../../kit/access/credits/access.ts';
import { hashKey, newApiKey } from '../../kit/access/keys/key-form.ts';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { AgentGrantsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { sealNoted } from '../../kit/outbox/outbox.ts';
import { DAY_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { newId, randomBase62 } from '../../kit/values/ids.ts';
import { openSecrets, type Secrets } from '../../kit/values/secrets.ts';
import { getBrandSubscriptionId } from '../brands/brands.ts';
import { insertKey, revokeKey } from './keys.ts';

type UnusedColumns = 'codeUsedAt' | 'keyId' | 'refreshHash' | 'spentRefreshHash' | 'refreshExpiresAt';
export type NewGrant = Omit<Insertable<AgentGrantsTable>, UnusedColumns>;

/** Adds a grant, and removes the brand's grants with an expired, unused code. */
export async function insertGrant(db: Db, grant: NewGrant): Promise<void> {
  await db
    .deleteFrom('agentGrants')
    .where('brandId', '=', grant.brandId)
    .where('codeUsedAt', 'is', null)
    .where('codeExpiresAt', '<', grant.createdAt)
    .execute();
  const unusedFields = {
    codeUsedAt: null,
    keyId: null,
    refreshHash: null,
    spentRefreshHash: null,
    refreshExpiresAt: null,
  };
  await db
    .insertInto('agentGrants')
    .values({ ...grant, ...unusedFields })
    .execute();
}

export interface Code {
  codeHash: Buffer;
  clientHash: Buffer;
  /** Null if the host does not repeat it, as OAuth 2.1 has it: the verifier proves that the same host asks. */
  redirectUri: string | null;
  codeChallenge: string;
}

/** Uses a code once: of several callers one gets its grant, and only the client that began, while its person is an owner. */
async function claimCode(db: Db, { codeHash, clientHash, redirectUri, codeChallenge }: Code, now: Date) {
  return await db
    .updateTable('agentGrants')
    .from('people')
    .set({ codeUsedAt: now })
    .whereRef('people.id', '=', 'agentGrants.personId')
    .where('people.removedAt', 'is', null)
    .where('people.role', '=', 'owner')
    .where('codeHash', '=', codeHash)
    .where('clientHash', '=', clientHash)
    .$if(redirectUri !== null, (query) => query.where('redirectUri', '=', redirectUri ?? ''))
    .where('codeChallenge', '=', codeChallenge)
    .where('codeUsedAt', 'is', null)
    .where('codeExpiresAt', '>', now)
    .returning(['agentGrants.id', 'agentGrants.brandId', 'clientName', 'scopes'])
    .executeTakeFirst();
}

/** Hosts refresh one grant from each of their sessions, some of them minutes after another session did. */
const REPEATED_FOR_MS = 10 * MINUTE_MS;
const MAX_ACCESS_TOKENS = 20;

interface RefreshToken {
  refreshHash: Buffer;
  refreshExpiresAt: Date;
}

/**
 * Replaces a refresh token with the next, which is kept for its repetitions, sealed under the one that was sent; false if
 * it was used in the meantime, or has expired.
 */
async function claimRefresh(db: Db, spentToken: SpentToken, next: RefreshToken, now: Date): Promise<boolean> {
  const grant = await db
    .updateTable('agentGrants')
    .set({ spentRefreshHash: spentToken.hash, ...next })
    .where('refreshHash', '=', spentToken.hash)
    .where('refreshExpiresAt', '>', now)
    .returning('id')
    .executeTakeFirst();
  if (!grant) return false;
  const repeatedSince = new Date(now.getTime() - REPEATED_FOR_MS);
  await db
    .deleteFrom('spentRefreshTokens')
    .where('grantId', '=', grant.id)
    .where('spentAt', '<', repeatedSince)
    .execute();
  await db
    .insertInto('spentRefreshTokens')
    .values({ hash: spentToken.hash, grantId: grant.id, spentAt: now, sealedNext: spentToken.sealedNext })
    .execute();
  return true;
}

interface SpentToken {
  hash: Buffer;
  sealedNext: Buffer;
}

interface KeySecret {
  hash: Buffer;
  firstCharacters: string;
  lastCharacters: string;
  expiresAt: Date;
}

/** Gives a key another secret; the ones before live until they expire. False if the key was revoked or replaced. */
async function renewKey(db: Db, keyId: string, renewed: KeySecret, now: Date): Promise<boolean> {
  await sql`
    insert into access_tokens (hash, key_id, expires_at)
    select hash, id, expires_at from api_keys
    where id = ${keyId} and revoked_at is null and replaced_by is null and expires_at > ${now} for no key update`.execute(
    db,
  );
  const isRenewed = await isFound(
    db
      .updateTable('apiKeys')
      .set(renewed)
      .where('id', '=', keyId)
      .where('revokedAt', 'is', null)
      .where('replacedBy', 'is', null)
      .returning('id'),
  );
  await sql`
    delete from access_tokens where key_id = ${keyId} and (expires_at <= ${now} or hash in (
      select hash from access_tokens where key_id = ${keyId}
      order by expires_at desc offset ${MAX_ACCESS_TOKENS - 1}))`.execute(db);
  return isRenewed;
}

export const TOKEN_LIFE_MS = 60 * MINUTE_MS;
const REFRESH_LIFE_MS = 30 * DAY_MS;
const SECRET_LENGTH = 43;

export interface Tokens {
  access: string;
  refresh: string;
  scopes: readonly string[];
}

export const newSecret = (prefix: 'svc_'): string => `${prefix}${randomBase62(SECRET_LENGTH)}`;

const PURPOSE = 'oauth refresh token';

/** A refresh token names its grant, so that one of any earlier rotation is recognized. */
function newRefreshToken(secrets: Secrets, grantId: string): string {
  return `svr_${secrets.seal(`${grantId} ${randomBase62(SECRET_LENGTH)}`, PURPOSE).toString('base64url')}`;
}

/** The grant of a refresh token; undefined for other texts, such as a token from before tokens named their grants. */
function readGrantId(secrets: Secrets, refresh: string): string | undefined {
  try {
    return secrets.open(Buffer.from(refresh.slice('svr_'.length), 'base64url'), PURPOSE).split(' ', 1)[0];
  } catch (error) {
    ignoreFailure('a text that we did not seal names no grant')(error);
    return undefined;
  }
}

function newAccessToken(now: Date) {
  const access = newApiKey();
  const key: KeySecret = {
    hash: hashKey(access),
    firstCharacters: access.slice(0, 8),
    lastCharacters: access.slice(-4),
    expiresAt: new Date(now.getTime() + TOKEN_LIFE_MS),
  };
  return { access, key };
}

function newTokens(now: Date, secrets: Secrets, grantId: string) {
  const refresh = newRefreshToken(secrets, grantId);
  const next = { refreshHash: hashKey(refresh), refreshExpiresAt: new Date(now.getTime() + REFRESH_LIFE_MS) };
  return { ...newAccessToken(now), refresh, next };
}

const NEXT = 'next refresh token';

/** Only who has the refresh token that was sent can open it: the database alone cannot. */
const sealNext = (refreshToken: string, next: string): Buffer =>
  openSecrets(Buffer.from(refreshToken)).seal(next, NEXT);

/** Ends the grant of a code or refresh token that is sent twice, because it was stolen. */
async function revokeSpent(engines: AccessEngines, hash: Buffer): Promise<undefined> {
  const row = await engines.db
    .selectFrom('agentGrants')
    .select('keyId')
    .where((eb) =>
      eb.or([eb('spentRefreshHash', '=', hash), eb.and([eb('codeHash', '=', hash), eb('codeUsedAt', 'is not', null)])]),
    )
    .executeTakeFirst();
  if (row?.keyId) await revokeKey(engines, row.keyId);
  return undefined;
}

/** Exchanges a code for tokens; undefined if it is unknown, used, expired or another client's. */
export async function redeemCode(engines: AccessEngines, secrets: Secrets, code: Code): Promise<Tokens | undefined> {
  const now = engines.clock.now();
  const tokens = await engines.db.transaction().execute(async (db) => {
    const grant = await claimCode(db, code, now);
    if (!grant) return undefined;
    const { access, refresh, key, next } = newTokens(now, secrets, grant.id);
    const { brandId, clientName: name } = grant;
    const id = newId('key', now.getTime());
    const subscriptionId = await getBrandSubscriptionId(db, brandId);
    await insertKey(db, { ...key, id, brandId, subscriptionId, kind: 'brand', name, createdAt: now, personId: null });
    await sealNoted(db, brandId);
    await db
      .updateTable('agentGrants')
      .set({ keyId: id, ...next })
      .where('id', '=', grant.id)
      .execute();
    return { access, refresh, scopes: grant.scopes };
  });
  return tokens ?? (await revokeSpent(engines, code.codeHash));
}

/** Ends the grant of a refresh token that was rotated before, however often; a client that has both was robbed. */
async function revokeRotated(engines: AccessEngines, secrets: Secrets, refreshToken: string): Promise<undefined> {
  const grantId = readGrantId(secrets, refreshToken);
  const refreshHash = hashKey(refreshToken);
  if (grantId === undefined) return await revokeSpent(engines, refreshHash);
  const row = await engines.db
    .selectFrom('agentGrants')
    .select('keyId')
    .where('id', '=', grantId)
    .where('refreshHash', '<>', refreshHash)
    .executeTakeFirst();
  if (row?.keyId) await revokeKey(engines, row.keyId);
  return undefined;
}

/** Answers a refresh token that was used some minutes ago with the same next token and a fresh access token. */
async function repeatRefresh(
  engines: AccessEngines,
  refreshToken: string,
  clientHash: Buffer,
): Promise<Tokens | undefined> {
  const now = engines.clock.now();
  const spentToken = await engines.db
    .selectFrom('spentRefreshTokens as spent')
    .innerJoin('agentGrants as grant', 'grant.id', 'spent.grantId')
    .innerJoin('apiKeys as key', 'key.id', 'grant.keyId')
    .innerJoin('people as person', 'person.id', 'grant.personId')
    .where('person.removedAt', 'is', null)
    .where('person.role', '=', 'owner')
    .select(['spent.sealedNext', 'key.id as keyId', 'key.brandId', 'key.subscriptionId', 'grant.scopes'])
    .where('spent.hash', '=', hashKey(refreshToken))
    .where('spent.spentAt', '>', new Date(now.getTime() - REPEATED_FOR_MS))
    .where('grant.clientHash', '=', clientHash)
    .executeTakeFirst();
  if (!spentToken) return undefined;
  const { access, key } = newAccessToken(now);
  let isRenewed = false;
  await changeAccess(engines, spentToken.subscriptionId, async (db) => {
    isRenewed = await renewKey(db, spentToken.keyId, key, now);
    await sealNoted(db, spentToken.brandId);
  });
  if (!isRenewed) return undefined;
  return {
    access,
    refresh: openSecrets(Buffer.from(refreshToken)).open(spentToken.sealedNext, NEXT),
    scopes: spentToken.scopes,
  };
}

/**
 * Exchanges a refresh token for the next and an access token; undefined if it is unknown, used long ago or revoked.
 * Access tokens issued before live their hour out.
 */
export async function refreshTokens(
  engines: AccessEngines,
  secrets: Secrets,
  refreshToken: string,
  clientHash: Buffer,
): Promise<Tokens | undefined> {
  const hash = hashKey(refreshToken);
  const grant = await engines.db
    .selectFrom('agentGrants as grant')
    .innerJoin('apiKeys as key', 'key.id', 'grant.keyId')
    .innerJoin('people as person', 'person.id', 'grant.personId')
    .where('person.removedAt', 'is', null)
    .where('person.role', '=', 'owner')
    .where('key.revokedAt', 'is', null)
    .select(['grant.id', 'key.id as keyId', 'key.brandId', 'key.subscriptionId', 'grant.scopes'])
    .where('grant.refreshHash', '=', hash)
    .where('grant.clientHash', '=', clientHash)
    .executeTakeFirst();
  if (grant) {
    const now = engines.clock.now();
    const { access, refresh, key, next } = newTokens(now, secrets, grant.id);
    const spentToken = { hash, sealedNext: sealNext(refreshToken, refresh) };
    let isRenewed = false;
    await changeAccess(engines, grant.subscriptionId, async (db) => {
      isRenewed = (await claimRefresh(db, spentToken, next, now)) && (await renewKey(db, grant.keyId, key, now));
      await sealNoted(db, grant.brandId);
    });
    if (isRenewed) return { access, refresh, scopes: grant.scopes };
  }
  return (
    (await repeatRefresh(engines, refreshToken, clientHash)) ?? (await revokeRotated(engines, secrets, refreshToken))
  );
}
