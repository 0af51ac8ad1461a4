import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { CreatorRow } from '../../creators/queries.ts';

/** A creator of the brand by their own id or their entry's, locked until the transaction ends. */
export async function lockPerson(db: Db, brandId: string, id: string): Promise<CreatorRow | undefined> {
  const byEntry = db
    .selectFrom('rosterEntries')
    .select('creatorId')
    .where('brandId', '=', brandId)
    .where('id', '=', id);
  return await db
    .selectFrom('creators')
    .selectAll()
    .where('brandId', '=', brandId)
    .where((eb) => eb.or([eb('id', '=', id), eb('id', 'in', byEntry)]))
    .forUpdate()
    .executeTakeFirst();
}

/** Rows of a creator that the ledger refers to. The ledger is never rewritten. */
export async function countMoney(db: Db, brandId: string, creatorId: string) {
  const { rows } = await sql<{ orders: number; payouts: number; entries: number }>`
    select
      (select count(*) from commissions where brand_id = ${brandId} and creator_id = ${creatorId}) as orders,
      (select count(*) from payouts where brand_id = ${brandId} and creator_id = ${creatorId}) as payouts,
      (select count(*) from ledger_entries where brand_id = ${brandId} and creator_id = ${creatorId}) as entries`.execute(
    db,
  );
  return rows[0] ?? { orders: 0, payouts: 0, entries: 0 };
}

/** Every column with a foreign key to creators, read from the database catalogue. */
async function listReferences(db: Db): Promise<{ table: string; column: string }[]> {
  const { rows } = await sql<{ table: string; column: string }>`
    select referring.relname as "table", own.attname as "column"
    from pg_constraint as reference
    join pg_class as referring on referring.oid = reference.conrelid
    cross join lateral unnest(reference.conkey, reference.confkey) as pair (own_key, creator_key)
    join pg_attribute as own on own.attrelid = reference.conrelid and own.attnum = pair.own_key
    join pg_attribute as its on its.attrelid = reference.confrelid and its.attnum = pair.creator_key
    where reference.contype = 'f' and reference.confrelid = 'creators'::regclass and its.attname = 'id'
      and referring.relname <> 'roster_entries'
    order by 1, 2`.execute(db);
  return rows;
}

/** Moves every row that refers to one creator to another. */
export async function moveReferences(db: Db, brandId: string, goneId: string, creatorId: string): Promise<void> {
  for (const { table, column } of await listReferences(db)) {
    await sql`
      update ${sql.table(table)} set ${sql.ref(column)} = ${creatorId}
      where brand_id = ${brandId} and ${sql.ref(column)} = ${goneId}`.execute(db);
  }
}

/** Deletes the merged creator and records who owns its clicks now. */
export async function replaceCreator(db: Db, gone: CreatorRow, creatorId: string, mergedAt: Date): Promise<void> {
  const { id: goneId, brandId } = gone;
  await db.deleteFrom('creators').where('brandId', '=', brandId).where('id', '=', goneId).execute();
  await db.insertInto('creatorMerges').values({ brandId, goneId, creatorId, mergedAt }).execute();
}

export async function deleteEntry(db: Db, brandId: string, id: string): Promise<void> {
  await db.deleteFrom('rosterEntries').where('brandId', '=', brandId).where('id', '=', id).execute();
}
