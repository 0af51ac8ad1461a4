import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { ListWindow } from '../../kit/values/page.ts';

interface SessionWhere extends ListWindow {
  personId: string;
  now: Date;
}

/** The valid sessions of one person. */
export const sessions = listing({
  noun: 'session',
  table: 'api_keys',
  time: 'createdAt',
  changed: ['createdAt'],
  matching: (db, _brandId, { personId, now }: SessionWhere) =>
    db
      .selectFrom('apiKeys')
      .where('personId', '=', personId)
      .where('revokedAt', 'is', null)
      .where('expiresAt', '>', now),
  rows: (db) => db.selectFrom('apiKeys').select(['id', 'name', 'createdAt', 'expiresAt', 'lastUsedAt']),
});

/** Ends every session of this person and returns how many there were. API keys are not affected. */
export async function endSessionsOf(db: Db, brandId: string, personId: string, at: Date): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('apiKeys')
    .set({ revokedAt: at })
    .where('brandId', '=', brandId)
    .where('kind', '=', 'session')
    .where('personId', '=', personId)
    .where('revokedAt', 'is', null)
    .where('expiresAt', '>', at)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Ends one session of this person, or of anyone in the brand if `personId` is undefined; false if there is none. */
export async function endSession(db: Db, brandId: string, id: string, personId: string | undefined, at: Date) {
  const row = await db
    .updateTable('apiKeys')
    .set((eb) => ({ revokedAt: eb.fn.coalesce('revokedAt', eb.val(at)) }))
    .where('brandId', '=', brandId)
    .where('kind', '=', 'session')
    .where('id', '=', id)
    .$if(personId !== undefined, (query) => query.where('personId', '=', personId ?? ''))
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}
