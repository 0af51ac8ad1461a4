import { type Selectable, sql } from 'kysely';
import { listing } from '../../engines/postgres/listing.ts';
import type { Db } from '../../engines/postgres/open.ts';
import type { SavedSearchesTable } from '../../engines/postgres/people-tables.ts';
import type { ListWindow } from '../../values/page.ts';

type SavedSearchRow = Selectable<SavedSearchesTable>;

/** Searches belong to one person. */
interface Whose {
  brandId: string;
  personId: string;
}

export const savedSearches = listing({
  noun: 'saved search',
  table: 'saved_searches',
  time: 'createdAt',
  matching: (db, _brandId, { personId }: ListWindow & Pick<Whose, 'personId'>) =>
    db.selectFrom('savedSearches').where('personId', '=', personId),
  rows: (db) => db.selectFrom('savedSearches').selectAll(),
});

/** The search with this name, ignoring case, locked until the transaction ends. */
export async function lockSavedSearchNamed(db: Db, { brandId, personId }: Whose, name: string) {
  return await db
    .selectFrom('savedSearches')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('personId', '=', personId)
    .where(sql`lower(name)`, '=', sql`lower(${name})`)
    .forUpdate()
    .executeTakeFirst();
}

/** Inserts the search, or replaces the one of the same name, ignoring case. */
export async function putSavedSearch(
  db: Db,
  row: Whose & { id: string; name: string; filters: Record<string, string>; now: Date },
): Promise<SavedSearchRow> {
  const { now, filters, ...own } = row;
  const text = JSON.stringify(filters);
  return await db
    .insertInto('savedSearches')
    .values({ ...own, filters: text, createdAt: now })
    .onConflict((conflict) =>
      conflict
        .expression(sql`brand_id, person_id, lower(name)`)
        .doUpdateSet({ name: own.name, filters: text, updatedAt: now }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteSavedSearch(db: Db, { brandId, personId }: Whose, id: string) {
  return await db
    .deleteFrom('savedSearches')
    .where('brandId', '=', brandId)
    .where('personId', '=', personId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}
