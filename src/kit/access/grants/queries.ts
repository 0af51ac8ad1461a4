import type { Insertable } from 'kysely';
import { isFound } from '../../engines/postgres/count.ts';
import type { AgentGrantsTable } from '../../engines/postgres/database.ts';
import type { Db } from '../../engines/postgres/open.ts';

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
    .select(['key.id as keyId', 'key.subscriptionId', 'grant.scopes'])
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
