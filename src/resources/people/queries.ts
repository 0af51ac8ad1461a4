import { type Selectable, sql, type Updateable } from 'kysely';
import { listing } from '../../engines/postgres/listing.ts';
import type { Db } from '../../engines/postgres/open.ts';
import type { PeopleTable } from '../../engines/postgres/people-tables.ts';
import { violates } from '../../engines/postgres/violation.ts';
import { ApiError } from '../../values/errors.ts';
import type { ListWindow } from '../../values/page.ts';

export type PersonRow = Selectable<PeopleTable> & { lastSeenAt: Date | null };

const LAST_SEEN = sql<Date | null>`(select max(last_used_at) from api_keys where person_id = people.id)`;

const present = (db: Db) => db.selectFrom('people').where('removedAt', 'is', null);
const presentOf = (db: Db, brandId: string) => present(db).where('brandId', '=', brandId);

export const people = listing({
  noun: 'person',
  table: 'people',
  time: 'createdAt',
  matching: (db, _brandId, _where: ListWindow) => present(db),
  rows: (db) => present(db).selectAll().select(LAST_SEEN.as('lastSeenAt')),
});
export const { get: getPerson, find: findPerson } = people;

/** The person with this address, or the first owner. */
export async function findPersonToSignIn(db: Db, brandId: string, email: string | undefined) {
  return await presentOf(db, brandId)
    .$if(email !== undefined, (query) => query.where(sql<string>`lower(email)`, '=', (email ?? '').toLowerCase()))
    .$if(email === undefined, (query) => query.where('role', '=', 'owner'))
    .select(['id', 'brandId', 'email', 'name', 'role'])
    .orderBy('createdAt')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

/** Searches every brand: before signing in, a person only gives an address. */
export async function listPeopleByEmail(db: Db, email: string) {
  return await db
    .selectFrom('people')
    .innerJoin('brands', 'brands.id', 'people.brandId')
    .select(['people.id', 'people.brandId', 'people.email', 'brands.name as brandName'])
    .where(sql<string>`lower(people.email)`, '=', email.toLowerCase())
    .where('people.removedAt', 'is', null)
    .orderBy('people.createdAt')
    .limit(20)
    .execute();
}

export async function insertPerson(
  db: Db,
  person: Pick<Selectable<PeopleTable>, 'id' | 'brandId' | 'email' | 'name' | 'role' | 'createdAt'>,
): Promise<PersonRow> {
  const row = await db
    .insertInto('people')
    .values({ ...person, updatedAt: null, removedAt: null })
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      if (!violates(error, 'people_email')) throw error;
      throw new ApiError('CONFLICT', 'A person with this address already belongs to the brand.', {
        cause: error,
      });
    });
  return { ...row, lastSeenAt: null };
}

export async function updatePerson(db: Db, brandId: string, id: string, change: Updateable<PeopleTable>) {
  await db.updateTable('people').set(change).where('brandId', '=', brandId).where('id', '=', id).execute();
}

export async function countOwners(db: Db, brandId: string): Promise<number> {
  const { total } = await presentOf(db, brandId)
    .where('role', '=', 'owner')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return total;
}
