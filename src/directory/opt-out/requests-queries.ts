import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { ForgetRequest } from './queries.ts';

/** Records a request and its mail, unless this address had `most` of them since a time. */
export async function insertRequest(
  db: Db,
  { id, email, addressHash, createdAt, expiresAt }: Omit<ForgetRequest, 'attempts' | 'nextAttemptAt'>,
  { most, since }: { most: number; since: Date },
): Promise<void> {
  await sql`
    insert into directory_forget_requests (id, email, address_hash, created_at, expires_at, next_attempt_at)
    select ${id}, ${email}, ${addressHash}, ${createdAt}, ${expiresAt}, ${createdAt}
    where (select count(*) from directory_forget_requests where address_hash = ${addressHash} and created_at > ${since})
      < ${most}::int`.execute(db);
}

export async function findRequest(db: Db, id: string): Promise<ForgetRequest | undefined> {
  return await db.selectFrom('directoryForgetRequests').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Claims the mails that are due: another sender takes them again only at `again`. */
export async function claimRequests(db: Db, now: Date, again: Date, limit: number): Promise<ForgetRequest[]> {
  return await db
    .updateTable('directoryForgetRequests')
    .set(({ eb }) => ({ nextAttemptAt: again, attempts: eb('attempts', '+', 1) }))
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('directoryForgetRequests')
        .select('id')
        .where('nextAttemptAt', '<=', now)
        .orderBy('nextAttemptAt')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .execute();
}

/** Records how an attempt ended: null if there is no other. */
export async function updateRequest(db: Db, id: string, nextAttemptAt: Date | null): Promise<void> {
  await db.updateTable('directoryForgetRequests').set({ nextAttemptAt }).where('id', '=', id).execute();
}

export async function deleteExpiredRequests(db: Db, now: Date): Promise<void> {
  await db.deleteFrom('directoryForgetRequests').where('expiresAt', '<=', now).execute();
}
