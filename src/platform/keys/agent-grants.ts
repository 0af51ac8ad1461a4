import type { Insertable } from 'kysely';
import type { AccessEngines } from '../../kit/access/credits/access.ts';
import { changeAccess, revokeKey } from '../../kit/access/keys/actions.ts';
import { hashKey, newApiKey } from '../../kit/access/keys/key-form.ts';
import { insertKey } from '../../kit/access/keys/queries.ts';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { AgentGrantsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { DAY_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { newId, randomBase62 } from '../../kit/values/ids.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { getBrandSubscriptionId } from '../people/sessions.ts';

type Unused = 'codeUsedAt' | 'keyId' | 'refreshHash' | 'spentRefreshHash' | 'refreshExpiresAt';
export type NewGrant = Omit<Insertable<AgentGrantsTable>, Unused>;

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
export async function takeCode(db: Db, { codeHash, clientHash, redirectUri, codeChallenge }: Code, now: Date) {
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

/** The key of a grant whose refresh token is another by now. */
async function findRotated(db: Db, id: string, refreshHash: Buffer): Promise<string | undefined> {
  const row = await db
    .selectFrom('agentGrants')
    .select('keyId')
    .where('id', '=', id)
    .where('refreshHash', '<>', refreshHash)
    .executeTakeFirst();
  return row?.keyId ?? undefined;
}

/** The key that was granted for this code or refresh token, if it was used before. */
export async function findSpent(db: Db, hash: Buffer): Promise<string | undefined> {
  const row = await db
    .selectFrom('agentGrants')
    .select('keyId')
    .where((eb) =>
      eb.or([eb('spentRefreshHash', '=', hash), eb.and([eb('codeHash', '=', hash), eb('codeUsedAt', 'is not', null)])]),
    )
    .executeTakeFirst();
  return row?.keyId ?? undefined;
}

interface Refresh {
  refreshHash: Buffer;
  refreshExpiresAt: Date;
}

export async function updateGrantKey(db: Db, id: string, keyId: string, refresh: Refresh): Promise<void> {
  await db
    .updateTable('agentGrants')
    .set({ keyId, ...refresh })
    .where('id', '=', id)
    .execute();
}

/** The key of a grant with this refresh token, and the key's subscription. */
export async function findRefreshed(db: Db, refreshHash: Buffer, clientHash: Buffer) {
  return await db
    .selectFrom('agentGrants as grant')
    .innerJoin('apiKeys as key', 'key.id', 'grant.keyId')
    .select(['grant.id', 'key.id as keyId', 'key.subscriptionId', 'grant.scopes'])
    .where('grant.refreshHash', '=', refreshHash)
    .where('grant.clientHash', '=', clientHash)
    .executeTakeFirst();
}

/** Uses a refresh token once; false if it was used in the meantime, or has expired. */
export const takeRefresh = (db: Db, spentRefreshHash: Buffer, next: Refresh, now: Date): Promise<boolean> =>
  isFound(
    db
      .updateTable('agentGrants')
      .set({ spentRefreshHash, ...next })
      .where('refreshHash', '=', spentRefreshHash)
      .where('refreshExpiresAt', '>', now)
      .returning('id'),
  );

interface Renewed {
  hash: Buffer;
  firstCharacters: string;
  lastCharacters: string;
  expiresAt: Date;
}

/** Gives a key another secret; false if it was revoked or replaced. */
export const renewKey = (db: Db, keyId: string, renewed: Renewed): Promise<boolean> =>
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

/** A code or refresh token that is sent twice was stolen, so its grant ends. */
async function revokeSpent(engines: AccessEngines, hash: Buffer): Promise<undefined> {
  const keyId = await findSpent(engines.db, hash);
  if (keyId !== undefined) await revokeKey(engines, keyId);
  return undefined;
}

/** Exchanges a code for tokens; undefined if it is unknown, used, expired or another client's. */
export async function redeemCode(engines: AccessEngines, secrets: Secrets, code: Code): Promise<Tokens | undefined> {
  const now = engines.clock.now();
  const tokens = await engines.db.transaction().execute(async (db) => {
    const grant = await takeCode(db, code, now);
    if (!grant) return undefined;
    const { access, refresh, key, next } = newTokens(now, secrets, grant.id);
    const { brandId, clientName: name } = grant;
    const id = newId('key', now.getTime());
    const subscriptionId = await getBrandSubscriptionId(db, brandId);
    await insertKey(db, { ...key, id, brandId, subscriptionId, kind: 'brand', name, createdAt: now, personId: null });
    await updateGrantKey(db, grant.id, id, next);
    return { access, refresh, scopes: grant.scopes };
  });
  return tokens ?? (await revokeSpent(engines, code.codeHash));
}

/** Ends the grant of a refresh token that was rotated before, however often; a client that has both was robbed. */
async function revokeRotated(engines: AccessEngines, secrets: Secrets, sent: string): Promise<undefined> {
  const grantId = readGrantId(secrets, sent);
  const refreshHash = hashKey(sent);
  if (grantId === undefined) return await revokeSpent(engines, refreshHash);
  const keyId = await findRotated(engines.db, grantId, refreshHash);
  if (keyId !== undefined) await revokeKey(engines, keyId);
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
  const found = await findRefreshed(engines.db, refreshHash, clientHash);
  if (!found) return await revokeRotated(engines, secrets, sent);
  const now = engines.clock.now();
  const { access, refresh, key, next } = newTokens(now, secrets, found.id);
  let isRenewed = false;
  await changeAccess(engines, found.subscriptionId, async (db) => {
    isRenewed = (await takeRefresh(db, refreshHash, next, now)) && (await renewKey(db, found.keyId, key));
  });
  return isRenewed ? { access, refresh, scopes: found.scopes } : undefined;
}
