import { DAY_MS, MINUTE_MS } from '../../values/duration.ts';
import { newId, randomBase62 } from '../../values/ids.ts';
import type { AccessEngines } from '../credits/access.ts';
import { changeAccess, revokeKey } from '../keys/actions.ts';
import { hashKey, newApiKey } from '../keys/key-form.ts';
import { insertKey } from '../keys/queries.ts';
import { getBrandSubscriptionId } from '../sessions/queries.ts';
import { type Code, findRefreshed, findSpent, renewKey, takeCode, takeRefresh, updateGrantKey } from './queries.ts';

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

/** A code or refresh token that is sent twice was stolen, so its grant ends. */
async function revokeSpent(engines: AccessEngines, hash: Buffer): Promise<undefined> {
  const keyId = await findSpent(engines.db, hash);
  if (keyId !== undefined) await revokeKey(engines, keyId);
  return undefined;
}

/** Exchanges a code for tokens; undefined if it is unknown, used, expired or another client's. */
export async function redeemCode(engines: AccessEngines, code: Code): Promise<Tokens | undefined> {
  const now = engines.clock.now();
  const { access, refresh, key, next } = newTokens(now);
  const scopes = await engines.db.transaction().execute(async (db) => {
    const grant = await takeCode(db, code, now);
    if (!grant) return undefined;
    const { brandId, clientName: name } = grant;
    const id = newId('key', now.getTime());
    const subscriptionId = await getBrandSubscriptionId(db, brandId);
    await insertKey(db, { ...key, id, brandId, subscriptionId, kind: 'brand', name, createdAt: now, personId: null });
    await updateGrantKey(db, grant.id, id, next);
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
  const found = await findRefreshed(engines.db, refreshHash, clientHash);
  if (!found) return await revokeSpent(engines, refreshHash);
  const now = engines.clock.now();
  const { access, refresh, key, next } = newTokens(now);
  let isRenewed = false;
  await changeAccess(engines, found.subscriptionId, async (db) => {
    isRenewed = (await takeRefresh(db, refreshHash, next, now)) && (await renewKey(db, found.keyId, key));
  });
  return isRenewed ? { access, refresh, scopes: found.scopes } : undefined;
}
