import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { SavedSearchesTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../kit/engines/postgres/own.ts';
import type { ListWindow } from '../../kit/values/page.ts';

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'savedSearches.filters': Record<string, string>;
  }
}

export type SavedSearchRow = Selectable<SavedSearchesTable>;

/** Who sees searches: a person their own and shared ones, a key shared ones. */
export interface Viewer {
  brandId: string;
  personId: string | null;
}

const matchCountOf = (where: ReturnType<typeof sql>) =>
  sql<number>`(select count(*) from saved_search_matches as match where match.search_id = saved_searches.id ${where})`;

export const savedSearches = listing({
  noun: 'saved search',
  table: 'saved_searches',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, { personId }: ListWindow & Pick<Viewer, 'personId'>) =>
    db
      .selectFrom('savedSearches')
      .where(({ or, eb }) =>
        or([eb('savedSearches.shared', '=', true), eb('savedSearches.personId', '=', personId ?? '')]),
      ),
  rows: (db) =>
    db
      .selectFrom('savedSearches')
      .selectAll()
      .select([
        sql<string | null>`(select email from people where people.id = saved_searches.person_id)`.as('by'),
        matchCountOf(sql``).as('matches'),
        sql<Record<string, { number: number; unseen: number }>>`(
          select coalesce(jsonb_object_agg(look.person_id, jsonb_build_object(
            'number', look.number, 'unseen', ${matchCountOf(sql`and match.number > look.number`)})), '{}')
          from saved_search_looks as look where look.search_id = saved_searches.id)`.as('looks'),
      ]),
});

const seenBy = (db: Db, { brandId, personId }: Viewer, id: string) =>
  db
    .selectFrom('savedSearches')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where(({ or, eb }) => or([eb('shared', '=', true), eb('personId', '=', personId ?? '')]));

export const findSavedSearch = (db: Db, viewer: Viewer, id: string) => seenBy(db, viewer, id).executeTakeFirst();

/** The search, locked until the transaction ends. */
export const lockSavedSearch = (db: Db, viewer: Viewer, id: string) =>
  seenBy(db, viewer, id).forUpdate().executeTakeFirst();

/** The search of this person, or of keys, with this name, ignoring case; locked until the transaction ends. */
export async function lockSavedSearchNamed(
  db: Db,
  { brandId, personId }: Viewer,
  name: string,
): Promise<SavedSearchRow | undefined> {
  return await db
    .selectFrom('savedSearches')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('personId', personId === null ? 'is' : '=', personId)
    .where(sql`lower(name)`, '=', sql`lower(${name})`)
    .forUpdate()
    .executeTakeFirst();
}

/** Searches of people who were removed do not count. */
export const countSavedSearches = (db: Db, brandId: string): Promise<number> =>
  countRows(
    db
      .selectFrom('savedSearches')
      .leftJoin('people', 'people.id', 'savedSearches.personId')
      .select(COUNT)
      .where('savedSearches.brandId', '=', brandId)
      .where(({ or, eb }) => or([eb('shared', '=', true), eb('people.removedAt', 'is', null)])),
  );

export const insertSavedSearch = (db: Db, row: Insertable<SavedSearchesTable>) =>
  db.insertInto('savedSearches').values(row).returningAll().executeTakeFirstOrThrow();

export const updateSavedSearch = (db: Db, brandId: string, id: string, change: Updateable<SavedSearchesTable>) =>
  updateOwn(db.updateTable('savedSearches').set(change).returningAll(), brandId, id);

export async function deleteSavedSearch(db: Db, brandId: string, id: string): Promise<void> {
  await db.deleteFrom('savedSearches').where('brandId', '=', brandId).where('id', '=', id).execute();
}

/** Deletes searches that were not shared and whose people were removed. */
export async function deleteOrphans(db: Db): Promise<void> {
  await sql`
    delete from saved_searches using people
    where people.id = saved_searches.person_id and people.removed_at is not null and not shared`.execute(db);
}
