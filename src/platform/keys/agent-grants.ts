import type { Insertable } from 'kysely';
import { type AccessEngines, changeAccess } from '../../kit/access/credits/access.ts';
import { hashKey, newApiKey } from '../../kit/access/keys/key-form.ts';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { AgentGrantsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { DAY_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { newId, randomBase62 } from '../../kit/values/ids.ts';
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

export const newSecret = (prefix: 'svc_' | 'svr_'): string => `${prefix}${randomBase62(SECRET_LENGTH)}`;

function newTokens(now: Date) {
  const [access, refresh] = [newApiKey(), newSecret('svr_')];
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
export async function redeemCode(engines: AccessEngines, code: Code): Promise<Tokens | undefined> {
  const now = engines.clock.now();
  const { access, refresh, key, next } = newTokens(now);
  const scopes = await engines.db.transaction().execute(async (db) => {
    const grant = await claimCode(db, code, now);
    if (!grant) return undefined;
    const { brandId, clientName: name } = grant;
    const id = newId('key', now.getTime());
    const subscriptionId = await getBrandSubscriptionId(db, brandId);
    await insertKey(db, { ...key, id, brandId, subscriptionId, kind: 'brand', name, createdAt: now, personId: null });
    await db
      .updateTable('agentGrants')
      .set({ keyId: id, ...next })
      .where('id', '=', grant.id)
      .execute();
    return grant.scopes;
  });
  return scopes ? { access, refresh, scopes } : await revokeSpent(engines, code.codeHash);
}

/** Exchanges a refresh token for new tokens, which replace the old; undefined if it is unknown, used or revoked. */
export async function refreshTokens(
  engines: AccessEngines,
  refreshHash: Buffer,
  clientHash: Buffer,
): Promise<Tokens | undefined> {
  const grant = await engines.db
    .selectFrom('agentGrants as grant')
    .innerJoin('apiKeys as key', 'key.id', 'grant.keyId')
    .select(['key.id as keyId', 'key.subscriptionId', 'grant.scopes'])
    .where('grant.refreshHash', '=', refreshHash)
    .where('grant.clientHash', '=', clientHash)
    .executeTakeFirst();
  if (!grant) return await revokeSpent(engines, refreshHash);
  const now = engines.clock.now();
  const { access, refresh, key, next } = newTokens(now);
  let isRenewed = false;
  await changeAccess(engines, grant.subscriptionId, async (db) => {
    isRenewed = (await claimRefresh(db, refreshHash, next, now)) && (await renewKey(db, grant.keyId, key));
  });
  return isRenewed ? { access, refresh, scopes: grant.scopes } : undefined;
}
