import type { Insertable } from 'kysely';
import { type AccessEngines, changeAccess } from '../../kit/access/credits/access.ts';
import { hashKey, newApiKey } from '../../kit/access/keys/key-form.ts';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { AgentGrantsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { DAY_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { newId, randomBase62 } from '../../kit/values/ids.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
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
  const unused = { codeUsedAt: null, keyId: null, refreshHash: null, spentRefreshHash: null, refreshExpiresAt: null };
  await db
    .insertInto('agentGrants')
    .values({ ...grant, ...unused })
    .execute();
}

export interface Code {
  codeHash: Buffer;
  clientHash: Buffer;
  redirectUri: string;
  codeChallenge: string;
}

/** Uses a code once: of several callers one gets its grant, and only the client that began. */
async function claimCode(db: Db, { codeHash, clientHash, redirectUri, codeChallenge }: Code, now: Date) {
  return await db
    .updateTable('agentGrants')
    .set({ codeUsedAt: now })
    .where('codeHash', '=', codeHash)
    .where('clientHash', '=', clientHash)
    .where('redirectUri', '=', redirectUri)
    .where('codeChallenge', '=', codeChallenge)
    .where('codeUsedAt', 'is', null)
    .where('codeExpiresAt', '>', now)
    .returning(['id', 'brandId', 'clientName', 'scopes'])
    .executeTakeFirst();
}

interface RefreshToken {
  refreshHash: Buffer;
  refreshExpiresAt: Date;
}

/** Uses a refresh token once; false if it was used in the meantime, or has expired. */
const claimRefresh = (db: Db, spentRefreshHash: Buffer, next: RefreshToken, now: Date): Promise<boolean> =>
  isFound(
    db
      .updateTable('agentGrants')
      .set({ spentRefreshHash, ...next })
      .where('refreshHash', '=', spentRefreshHash)
      .where('refreshExpiresAt', '>', now)
      .returning('id'),
  );

interface KeySecret {
  hash: Buffer;
  firstCharacters: string;
  lastCharacters: string;
  expiresAt: Date;
}

/** Gives a key another secret; false if it was revoked or replaced. */
const renewKey = (db: Db, keyId: string, renewed: KeySecret): Promise<boolean> =>
  isFound(
    db
      .updateTable('apiKeys')
      .set(renewed)
      .where('id', '=', keyId)
      .where('revokedAt', 'is', null)
      .where('replacedBy', 'is', null)
      .returning('id'),
  );

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

function newTokens(now: Date, secrets: Secrets, grantId: string) {
  const [access, refresh] = [newApiKey(), newRefreshToken(secrets, grantId)];
  return {
    access,
    refresh,
    key: {
      hash: hashKey(access),
      firstCharacters: access.slice(0, 8),
      lastCharacters: access.slice(-4),
      expiresAt: new Date(now.getTime() + TOKEN_LIFE_MS),
    },
    next: { refreshHash: hashKey(refresh), refreshExpiresAt: new Date(now.getTime() + REFRESH_LIFE_MS) },
  };
}

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
async function revokeRotated(engines: AccessEngines, secrets: Secrets, sent: string): Promise<undefined> {
  const grantId = readGrantId(secrets, sent);
  const refreshHash = hashKey(sent);
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

/** Exchanges a refresh token for new tokens, which replace the old; undefined if it is unknown, used or revoked. */
export async function refreshTokens(
  engines: AccessEngines,
  secrets: Secrets,
  sent: string,
  clientHash: Buffer,
): Promise<Tokens | undefined> {
  const refreshHash = hashKey(sent);
  const grant = await engines.db
    .selectFrom('agentGrants as grant')
    .innerJoin('apiKeys as key', 'key.id', 'grant.keyId')
    .select(['grant.id', 'key.id as keyId', 'key.subscriptionId', 'grant.scopes'])
    .where('grant.refreshHash', '=', refreshHash)
    .where('grant.clientHash', '=', clientHash)
    .executeTakeFirst();
  if (!grant) return await revokeRotated(engines, secrets, sent);
  const now = engines.clock.now();
  const { access, refresh, key, next } = newTokens(now, secrets, grant.id);
  let isRenewed = false;
  await changeAccess(engines, grant.subscriptionId, async (db) => {
    isRenewed = (await claimRefresh(db, refreshHash, next, now)) && (await renewKey(db, grant.keyId, key));
  });
  return isRenewed ? { access, refresh, scopes: grant.scopes } : undefined;
}
