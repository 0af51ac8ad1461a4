import type { Db } from '../../engines/postgres/open.ts';
import type { Clock } from '../../values/clock.ts';
import { ApiError, notFound } from '../../values/errors.ts';
import { newId } from '../../values/ids.ts';
import { type AccessChange, type AccessEngines, restoreAccess } from '../credits/access.ts';
import { bumpVersion } from '../credits/queries.ts';
import { hashKey, newApiKey } from './key-form.ts';
import type { KeyLimits } from './limits.ts';
import { findKey, insertKey, type KeyKind, updateRevoked } from './queries.ts';

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
  await insertKey(db, {
    ...request,
    id,
    hash: hashKey(key),
    firstCharacters: key.slice(0, 8),
    lastCharacters: key.slice(-4),
    createdAt,
    expiresAt: request.expiresAt ?? null,
    personId: null,
  });
  return { id, key };
}

/**
 * Changes a subscription so that every process applies the change at once. Without Redis, only Postgres is changed:
 * processes then read Postgres every second, and the worker repairs Redis when it is back.
 */
export async function changeAccess(
  engines: AccessEngines,
  subscriptionId: string,
  change: AccessChange,
): Promise<void> {
  const bumped: AccessChange = async (db, pending) => {
    await change(db, pending);
    await bumpVersion(db, subscriptionId);
  };
  try {
    await restoreAccess(engines, subscriptionId, bumped);
  } catch (error) {
    if (!(error instanceof ApiError && error.engine === 'Redis')) throw error;
    await engines.db.transaction().execute((trx) => bumped(trx, []));
  }
}

/** Revokes by the key itself or its id; revoking again changes nothing. Returns the id. */
export async function revokeKey(engines: AccessEngines, keyOrId: string): Promise<string> {
  const key = await findKey(engines.db, keyOrId.startsWith('svk_') ? { hash: hashKey(keyOrId) } : { id: keyOrId });
  if (!key) throw notFound('API key');
  await changeAccess(engines, key.subscriptionId, (db) => updateRevoked(db, key.id, engines.clock.now()));
  return key.id;
}
