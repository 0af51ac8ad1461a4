import { type Insertable, type Selectable, sql } from 'kysely';
import type { ApplicationChangesTable } from '../../engines/postgres/application-tables.ts';
import type { Db } from '../../engines/postgres/open.ts';
import type { ApplicationRow } from './queries.ts';

export type ApplicationChangeRow = Selectable<ApplicationChangesTable>;

/**
 * The pending application of an address, ignoring case, locked until the transaction ends; undefined once it is
 * decided.
 */
export async function lockPending(
  db: Db,
  brandId: string,
  campaignId: string,
  email: string,
): Promise<ApplicationRow | undefined> {
  return await db
    .selectFrom('applications')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('campaignId', '=', campaignId)
    .where(sql`lower(creator_email)`, '=', email.toLowerCase())
    .where('status', '=', 'pending')
    .forUpdate()
    .executeTakeFirst();
}

/** How many changes of an application were requested since then. */
export async function countChanges(db: Db, brandId: string, applicationId: string, since: Date): Promise<number> {
  const { total } = await db
    .selectFrom('applicationChanges')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where('brandId', '=', brandId)
    .where('applicationId', '=', applicationId)
    .where('createdAt', '>', since)
    .executeTakeFirstOrThrow();
  return total;
}

export async function insertChange(db: Db, row: Insertable<ApplicationChangesTable>): Promise<void> {
  await db.insertInto('applicationChanges').values(row).execute();
}

/** Deletes changes whose links have expired. */
export async function deleteOldChanges(db: Db, brandId: string, applicationId: string, before: Date): Promise<void> {
  await db
    .deleteFrom('applicationChanges')
    .where('brandId', '=', brandId)
    .where('applicationId', '=', applicationId)
    .where('createdAt', '<', before)
    .execute();
}

/** The change with what its page shows, found by id alone, because a visitor with the link has no brand. */
export async function findChange(db: Db, id: string) {
  return await db
    .selectFrom('applicationChanges as change')
    .innerJoin('applications as application', 'application.id', 'change.applicationId')
    .innerJoin('campaigns as campaign', 'campaign.id', 'application.campaignId')
    .selectAll('change')
    .select(['application.status', 'application.creatorEmail', 'campaign.title'])
    .where('change.id', '=', id)
    .executeTakeFirst();
}

/** False if it was confirmed before. */
export async function confirmOnce(db: Db, brandId: string, id: string, now: Date): Promise<boolean> {
  const row = await db
    .updateTable('applicationChanges')
    .set({ confirmedAt: now })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('confirmedAt', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}
