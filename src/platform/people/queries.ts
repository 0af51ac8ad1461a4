import { type Selectable, sql, type Updateable } from 'kysely';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { PeopleTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { violates } from '../../kit/engines/postgres/violation.ts';
import { ApiError } from '../../kit/values/errors.ts';
import type { ListWindow } from '../../kit/values/page.ts';

/** The mails about creators that people of the brand can switch off. */
export const MAIL_TOPICS = ['applications', 'replies', 'contracts'] as const;
export type MailTopic = (typeof MAIL_TOPICS)[number];

export type PersonRow = Selectable<PeopleTable> & { lastSeenAt: Date | null };

const LAST_SEEN = sql<Date | null>`(select max(last_used_at) from api_keys where person_id = people.id)`;

const present = (db: Db) => db.selectFrom('people').where('removedAt', 'is', null);
const presentOf = (db: Db, brandId: string) => present(db).where('brandId', '=', brandId);

export const people = listing({
  noun: 'person',
  table: 'people',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
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
    .orderBy('people.id')
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

export async function listOwners(db: Db, brandId: string) {
  return await presentOf(db, brandId).where('role', '=', 'owner').select(['id', 'email']).orderBy('id').execute();
}

/**
 * The addresses that a topic is mailed to: everyone who has not switched it off. `contact` is added unless it is the
 * address of a person, who decides. The owner that a first sign-in makes has an address that nobody reads.
 */
export async function listMailed(db: Db, brandId: string, topic: MailTopic, contact: string | null): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`
    select email from people
    where brand_id = ${brandId} and removed_at is null and not mails_off @> array[${topic}] and email not like '%.invalid'
    union all
    select ${contact}::text where ${contact}::text is not null and not exists (
      select from people where brand_id = ${brandId} and removed_at is null and lower(email) = lower(${contact}))
    order by email`.execute(db);
  return rows.map(({ email }) => email);
}

/** Of these addresses, those of the brand's people, in lower case. */
export async function listAddresses(db: Db, brandId: string, emails: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('people')
    .select(sql<string>`lower(email)`.as('email'))
    .where('brandId', '=', brandId)
    .where('removedAt', 'is', null)
    .where(sql<boolean>`lower(email) = any(${emails.map((email) => email.toLowerCase())}::text[])`)
    .execute();
  return rows.map(({ email }) => email);
}

export const countOwners = (db: Db, brandId: string): Promise<number> =>
  countRows(presentOf(db, brandId).where('role', '=', 'owner').select(COUNT));
