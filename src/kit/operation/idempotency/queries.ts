import { sql } from 'kysely';
import type { Db } from '../../engines/postgres/open.ts';

export interface KeptAnswer {
  requestHash: Buffer;
  answer: Buffer;
  isSealed: boolean;
}

/**
 * Claims the caller's key for this transaction. Returns undefined if the claim succeeded, otherwise the stored
 * response. A concurrent call with the same key waits here, at most `waitMs`, for the first to commit or roll back.
 */
export async function claimKey(
  db: Db,
  claim: { brandId: string; key: string; requestHash: Buffer; now: Date; oldest: Date },
  waitMs: number,
): Promise<KeptAnswer | undefined> {
  const { brandId, key, requestHash, now, oldest } = claim;
  await sql`set local lock_timeout = ${sql.lit(waitMs)}`.execute(db);
  await db
    .deleteFrom('idempotencyKeys')
    .where('brandId', '=', brandId)
    .where('key', '=', key)
    .where('createdAt', '<', oldest)
    .execute();
  const inserted = await db
    .insertInto('idempotencyKeys')
    .values({ brandId, key, requestHash, answer: null, createdAt: now })
    .onConflict((conflict) => conflict.columns(['brandId', 'key']).doNothing())
    .returning('key')
    .executeTakeFirst();
  await sql`set local lock_timeout = 0`.execute(db);
  if (inserted) return undefined;
  const kept = await findAnswer(db, claim);
  if (!kept) throw new Error('The key was taken, but its stored response is missing.');
  return kept;
}

/** The stored response of a finished call; undefined while the call is running. */
export async function findAnswer(
  db: Db,
  { brandId, key, oldest }: { brandId: string; key: string; oldest: Date },
): Promise<KeptAnswer | undefined> {
  const kept = await db
    .selectFrom('idempotencyKeys')
    .select(['requestHash', 'answer', 'isSealed'])
    .where('brandId', '=', brandId)
    .where('key', '=', key)
    .where('createdAt', '>=', oldest)
    .executeTakeFirst();
  return kept?.answer ? { ...kept, answer: kept.answer } : undefined;
}

export async function keepAnswer(
  db: Db,
  brandId: string,
  key: string,
  { answer, isSealed }: Pick<KeptAnswer, 'answer' | 'isSealed'>,
): Promise<void> {
  await db
    .updateTable('idempotencyKeys')
    .set({ answer, isSealed })
    .where('brandId', '=', brandId)
    .where('key', '=', key)
    .execute();
}

export async function deleteOldKeys(db: Db, oldest: Date): Promise<void> {
  await db.deleteFrom('idempotencyKeys').where('createdAt', '<', oldest).execute();
}
