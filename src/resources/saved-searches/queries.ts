import { type Selectable, sql } from 'kysely';
import { listing } from '../../engines/postgres/listing.ts';
import type { Db } from '../../engines/postgres/open.ts';
import type { SavedSearchesTable } from '../../engines/postgres/people-tables.ts';
import type { ListWindow } from '../../values/page.ts';

type SavedSearchRow = Selectable<SavedSearchesTable>;

/** A search is one person's own. */
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

/** The one that has this name, in any case, for as long as the transaction lasts. */
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

/** Under a name that is taken, in any case, it is kept in the other one's place. */
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
