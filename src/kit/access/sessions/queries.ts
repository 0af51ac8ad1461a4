import { isFound } from '../../engines/postgres/count.ts';
import type { Db } from '../../engines/postgres/open.ts';

export async function getBrandSubscriptionId(db: Db, brandId: string): Promise<string> {
  const row = await db
    .selectFrom('subscriptions')
    .select('id')
    .where('brandId', '=', brandId)
    .where('kind', '=', 'brand')
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function insertSignInLink(
  db: Db,
  link: { id: string; brandId: string; personId: string; hash: Buffer; createdAt: Date; expiresAt: Date },
): Promise<void> {
  await db
    .insertInto('signInLinks')
    .values({ ...link, usedAt: null })
    .execute();
}

/** Uses a link once: only one of several concurrent callers gets its person. */
export async function takeSignInLink(db: Db, link: { hash: Buffer } | { id: string }, now: Date) {
  return await db
    .updateTable('signInLinks')
    .from('people')
    .set({ usedAt: now })
    .whereRef('people.id', '=', 'signInLinks.personId')
    .where('people.removedAt', 'is', null)
    .$if('hash' in link, (query) => query.where('signInLinks.hash', '=', 'hash' in link ? link.hash : Buffer.alloc(0)))
    .$if('id' in link, (query) => query.where('signInLinks.id', '=', 'id' in link ? link.id : ''))
    .where('signInLinks.usedAt', 'is', null)
    .where('signInLinks.expiresAt', '>', now)
    .returning(['signInLinks.personId', 'signInLinks.brandId'])
    .executeTakeFirst();
}

export async function revokePersonSessions(db: Db, brandId: string, personId: string, at: Date): Promise<void> {
  await db
    .updateTable('apiKeys')
    .set({ revokedAt: at })
    .where('brandId', '=', brandId)
    .where('personId', '=', personId)
    .where('revokedAt', 'is', null)
    .execute();
}

/** True if a link was created for this person after `since`. Prevents others from flooding the mailbox. */
export const hasLinkSince = (db: Db, brandId: string, personId: string, since: Date): Promise<boolean> =>
  isFound(
    db
      .selectFrom('signInLinks')
      .select('id')
      .where('brandId', '=', brandId)
      .where('personId', '=', personId)
      .where('createdAt', '>', since)
      .limit(1),
  );
