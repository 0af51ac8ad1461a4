import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { CreatorListsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../kit/engines/postgres/own.ts';
import type { ListWindow, Page } from '../../kit/values/page.ts';

export type CreatorListRow = Selectable<CreatorListsTable>;

export const creatorLists = listing({
  noun: 'list',
  table: 'creator_lists',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, _where: ListWindow) => db.selectFrom('creatorLists'),
  rows: (db) => db.selectFrom('creatorLists').selectAll(),
});

/** Makes concurrent calls count each other's lists. */
export async function lockBrand(db: Db, brandId: string): Promise<void> {
  await db.selectFrom('brands').select('id').where('id', '=', brandId).forNoKeyUpdate().executeTakeFirstOrThrow();
}

export const countLists = (db: Db, brandId: string): Promise<number> =>
  countRows(db.selectFrom('creatorLists').select(COUNT).where('brandId', '=', brandId));

export const insertList = (db: Db, row: Insertable<CreatorListsTable>) =>
  db.insertInto('creatorLists').values(row).returningAll().executeTakeFirstOrThrow();

export const updateList = (db: Db, brandId: string, id: string, change: Updateable<CreatorListsTable>) =>
  updateOwn(db.updateTable('creatorLists').set(change).returningAll(), brandId, id);

export async function deleteList(db: Db, brandId: string, id: string) {
  await db.deleteFrom('creatorLists').where('brandId', '=', brandId).where('id', '=', id).execute();
}

/** Changes the number of a locked list's creators, and so its version. */
export const countCreators = (db: Db, { brandId, id }: CreatorListRow, change: number, now: Date) =>
  db
    .updateTable('creatorLists')
    .set((eb) => ({ creators: eb('creators', '+', change), version: eb('version', '+', 1), updatedAt: now }))
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();

/** Returns how many are new on the list, which the caller locked. */
export async function insertCreators(
  db: Db,
  listId: string,
  pks: readonly number[],
  { now, by }: { now: Date; by: string },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    insert into listed_creators (list_id, pk, added_at, added_by)
    select ${listId}, pk, ${now}, ${by} from unnest(${pks}::bigint[]) as pk
    on conflict do nothing`.execute(db);
  return Number(numAffectedRows);
}

/** Returns how many were on the list, which the caller locked. */
export async function deleteCreators(db: Db, listId: string, pks: readonly number[]): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('listedCreators')
    .where('listId', '=', listId)
    .where(sql<boolean>`pk = any(${pks}::bigint[])`)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** One page of a list's creators, last added first. */
export async function listCreators(db: Db, brandId: string, listId: string, { offset, limit }: Page) {
  return await db
    .selectFrom('listedCreators as listed')
    .innerJoin('creatorLists as list', 'list.id', 'listed.listId')
    .leftJoin('apiKeys as key', 'key.id', 'listed.addedBy')
    .leftJoin('people as person', 'person.id', 'key.personId')
    .select(['listed.pk', 'listed.addedAt'])
    .select(sql<string | null>`coalesce(person.email, key.name)`.as('by'))
    .where('list.brandId', '=', brandId)
    .where('listed.listId', '=', listId)
    .orderBy('listed.addedAt', 'desc')
    .orderBy('listed.pk', 'desc')
    .offset(offset)
    .limit(limit)
    .execute();
}
