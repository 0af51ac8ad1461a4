import { type Selectable, sql } from 'kysely';
import type { PastCommissionsTable } from '../../../kit/engines/postgres/database.ts';
import { listing } from '../../../kit/engines/postgres/listing.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { insertOf } from '../../../kit/engines/postgres/rows.ts';
import type { ListWindow } from '../../../kit/values/page.ts';
import { isOfCreator } from '../../../workflow/creators/queries.ts';

export type PastCommissionRow = Selectable<PastCommissionsTable>;

export interface PastCommissionWhere extends ListWindow {
  creator_email?: string | undefined;
  source?: string | undefined;
}

const withCreator = (db: Db) =>
  db
    .selectFrom('pastCommissions')
    .innerJoin('creators', 'creators.id', 'pastCommissions.creatorId')
    .selectAll('pastCommissions')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName']);

export const pastCommissions = listing({
  noun: 'past commission',
  table: 'pastCommissions',
  time: 'paidAt',
  changed: ['createdAt'],
  matching: (db, brandId, { creator_email: email, source }: PastCommissionWhere) =>
    db
      .selectFrom('pastCommissions')
      .where(isOfCreator('pastCommissions.creatorId', brandId, email))
      .where((eb) => eb.and(source === undefined ? {} : { source })),
  rows: withCreator,
});

export type PastCommissionFacts = Awaited<ReturnType<typeof pastCommissions.get>>;

/** Ids of creators who are or were on the roster, by their addresses in lower case. */
export async function listRosterIds(db: Db, brandId: string, emails: readonly string[]): Promise<Map<string, string>> {
  const email = sql<string>`lower(creators.email)`;
  const rows = await db
    .selectFrom('creators')
    .innerJoin('rosterEntries as entry', 'entry.creatorId', 'creators.id')
    .select(['creators.id', email.as('email')])
    .where('creators.brandId', '=', brandId)
    .where(sql<boolean>`${email} = any(${emails}::text[])`)
    .execute();
  return new Map(rows.map(({ id, email: found }) => [found, id]));
}

/** Leaves those that are known by source and reference as they are; returns the ids of the new ones. */
export async function insertNew(db: Db, rows: readonly PastCommissionRow[]): Promise<string[]> {
  const { rows: made } = await sql<{ id: string }>`${insertOf('past_commissions', rows)}
    on conflict (brand_id, source, reference) do nothing returning id`.execute(db);
  return made.map(({ id }) => id);
}

export async function deletePastCommission(db: Db, brandId: string, id: string): Promise<void> {
  await db.deleteFrom('pastCommissions').where('brandId', '=', brandId).where('id', '=', id).execute();
}
