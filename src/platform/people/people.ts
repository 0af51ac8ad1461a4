import { type Selectable, sql, type Updateable } from 'kysely';
import type { AccessEngines } from '../../kit/access/credits/access.ts';
import { bumpVersion } from '../../kit/access/credits/entries.ts';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { PeopleTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { violates } from '../../kit/engines/postgres/violation.ts';
import type { MailKind, MailParams } from '../../kit/mail/kinds.ts';
import { queueMail, queueMails } from '../../kit/mail/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import { inWork, type Work } from '../../kit/operation/work.ts';
import { ApiError, notFound, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { findBrand, lockBrand } from '../brands/brands.ts';
import { endPersonAccess } from './end-access.ts';
import type { PersonCreate, PersonPatch } from './people.api.ts';
import { createSignInLink, hasLinkSince, INVITATION_LIFE_MS, LINK_LIFE_MS } from './sessions.ts';

/** The mails about creators that people of the brand can switch off. */
const MAIL_TOPICS = ['applications', 'replies', 'contracts'] as const;
export type MailTopic = (typeof MAIL_TOPICS)[number];

export type PersonRow = Selectable<PeopleTable> & { lastSeenAt: Date | null };

const LAST_SEEN = sql<Date | null>`(select max(last_used_at) from api_keys where person_id = people.id)`;

const selectAllPeople = (db: Db) => db.selectFrom('people').where('removedAt', 'is', null);
const selectPeople = (db: Db, brandId: string) => selectAllPeople(db).where('brandId', '=', brandId);

export const people = listing({
  noun: 'person',
  table: 'people',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, _where: ListWindow) => selectAllPeople(db),
  rows: (db) => selectAllPeople(db).selectAll().select(LAST_SEEN.as('lastSeenAt')),
});
export const { get: getPerson } = people;

/** Finds the person with this address; without an address, the first owner. */
async function findPersonToSignIn(db: Db, brandId: string, email: string | undefined) {
  return await selectPeople(db, brandId)
    .$if(email !== undefined, (query) => query.where(sql<string>`lower(email)`, '=', (email ?? '').toLowerCase()))
    .$if(email === undefined, (query) => query.where('role', '=', 'owner'))
    .select(['id', 'brandId', 'email', 'name', 'role'])
    .orderBy('createdAt')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

/** Searches every brand: before signing in, a person only gives an address. */
async function listPeopleByEmail(db: Db, email: string) {
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

async function updatePerson(db: Db, brandId: string, id: string, change: Updateable<PeopleTable>) {
  await db.updateTable('people').set(change).where('brandId', '=', brandId).where('id', '=', id).execute();
}

export async function listOwners(db: Db, brandId: string) {
  return await selectPeople(db, brandId).where('role', '=', 'owner').select(['id', 'email']).orderBy('id').execute();
}

/**
 * Lists the addresses of everyone who has not switched the topic off. `contact` is added unless it is the address of a
 * person, who decides. The owner that a first sign-in creates has an address that nobody reads.
 */
async function listTopicAddresses(
  db: Db,
  brandId: string,
  topic: MailTopic,
  contact: string | null,
): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`
    select email from people
    where brand_id = ${brandId} and removed_at is null and not mails_off @> array[${topic}] and email not like '%.invalid'
    union all
    select ${contact}::text where ${contact}::text is not null and not exists (
      select from people where brand_id = ${brandId} and removed_at is null and lower(email) = lower(${contact}))
    order by email`.execute(db);
  return rows.map(({ email }) => email);
}

/** Filters the addresses to those of the brand's people, in lower case. */
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

async function createPerson(work: Work, { email, name = null, role }: PersonCreate): Promise<PersonRow> {
  const { db, now, brandId } = work;
  const row = await insertPerson(db, { id: newId('per', now.getTime()), brandId, email, name, role, createdAt: now });
  work.audit({ resourceId: row.id, old: null, new: row });
  return row;
}

/** Creates the person with a sign-in link for three days, which is mailed and shown to the inviting owner. */
export async function invitePerson(work: Work, create: PersonCreate, invitedBy: string) {
  const row = await createPerson(work, create);
  const who = { brandId: work.brandId, personId: row.id };
  const { id, expiresAt, path } = await createSignInLink(work.db, work.now, who, INVITATION_LIFE_MS);
  const params = { link_id: id, invited_by: invitedBy, expires_at: expiresAt.toISOString() };
  await queueMail(work, { kind: 'invitation', to: row.email, subjectRow: id, params });
  return { row, path };
}

const SIGN_IN_MAIL_INTERVAL_MS = 60_000;

/** Mails a link for each brand that knows this address, and does not reveal whether any does. */
export async function mailSignInLinks({ postgres, clock }: Context, email: string, requestId: string): Promise<void> {
  for (const person of await listPeopleByEmail(postgres.db, email)) {
    const { brandId, id: personId } = person;
    const actor = { brandId, keyId: null, operation: 'request_sign_in', requestId };
    await inWork(postgres.db, clock, actor, async (work) => {
      const since = new Date(work.now.getTime() - SIGN_IN_MAIL_INTERVAL_MS);
      if (await hasLinkSince(work.db, brandId, personId, since)) return;
      const { id, expiresAt } = await createSignInLink(work.db, work.now, { brandId, personId }, LINK_LIFE_MS);
      const params = { link_id: id, expires_at: expiresAt.toISOString() };
      await queueMail(work, { kind: 'sign_in', to: person.email, subjectRow: id, params });
    });
  }
}

/** Runs under the brand's lock, so that two owners cannot remove each other at once. */
async function assertOwnerStays(work: Work, old: PersonRow, role: PersonRow['role'] | null): Promise<void> {
  if (old.role !== 'owner' || role === 'owner') return;
  const owners = selectPeople(work.db, work.brandId).where('role', '=', 'owner');
  if ((await countRows(owners.select(COUNT))) > 1) return;
  throw new ApiError('CONFLICT', 'A brand needs at least one owner; make another person an owner first.');
}

async function lockPerson({ db, brandId }: Work, id: string): Promise<PersonRow> {
  await lockBrand(db, brandId);
  const person = await people.find(db, brandId, id);
  if (!person) throw notFound('person');
  return person;
}

/** Roles, the mightiest first. */
const RANKS: readonly PersonRow['role'][] = ['owner', 'manager', 'viewer'];

/** A lower role also ends the sessions of the person and the access of their agents. */
export async function patchPerson(
  work: Work,
  subscriptionId: string,
  id: string,
  { name, role }: PersonPatch,
): Promise<PersonRow> {
  const old = await lockPerson(work, id);
  if (role !== undefined) await assertOwnerStays(work, old, role);
  const updatedPerson = { ...old, ...omitUndefined({ name, role }), updatedAt: work.now };
  await updatePerson(work.db, work.brandId, id, { ...omitUndefined({ name, role }), updatedAt: work.now });
  if (RANKS.indexOf(updatedPerson.role) > RANKS.indexOf(old.role)) {
    await endPersonAccess(work.db, { brandId: work.brandId, personId: id, at: work.now });
  }
  await bumpVersion(work.db, subscriptionId);
  work.audit({ resourceId: id, old, new: updatedPerson });
  return updatedPerson;
}

/** Also ends the sessions of the person and the access of their agents, and removes their passkeys. */
export async function removePerson(work: Work, subscriptionId: string, id: string): Promise<PersonRow> {
  const old = await lockPerson(work, id);
  await assertOwnerStays(work, old, null);
  await updatePerson(work.db, work.brandId, id, { removedAt: work.now, updatedAt: work.now });
  await endPersonAccess(work.db, { brandId: work.brandId, personId: id, at: work.now });
  await work.db.deleteFrom('passkeys').where('brandId', '=', work.brandId).where('personId', '=', id).execute();
  await bumpVersion(work.db, subscriptionId);
  work.audit({ resourceId: id, old, new: null });
  return old;
}

/** Mails the people of the brand who have not switched the topic off, and `contact`, an address beside them. */
export async function mailPeople<K extends MailKind>(
  work: Work,
  topic: MailTopic,
  mail: { kind: K; subjectRow: string; params: MailParams<K> },
  contact: string | null = null,
): Promise<void> {
  const addresses = await listTopicAddresses(work.db, work.brandId, topic, contact);
  await queueMails(
    work,
    addresses.map((to) => ({ ...mail, to })),
  );
}

/** Sets which topics are mailed to a person; others stay. */
export async function updateMailTopics(
  work: Work,
  id: string,
  chosen: Partial<Record<MailTopic, boolean | undefined>>,
) {
  const old = await lockPerson(work, id);
  const mailsOff = MAIL_TOPICS.filter((topic) => !(chosen[topic] ?? !old.mailsOff.includes(topic)));
  await updatePerson(work.db, work.brandId, id, { mailsOff, updatedAt: work.now });
  work.audit({ resourceId: id, old, new: { ...old, mailsOff } });
  return mailsOff;
}

/** Finds the person who signs in from a terminal, by address or else the first owner, who is created if missing. */
export async function ensurePersonToSignIn({ db, clock }: AccessEngines, brandId: string, email: string | undefined) {
  const person = await findPersonToSignIn(db, brandId, email);
  if (person) return person;
  const brand = await findBrand(db, brandId);
  if (!brand) throw notFound('brand');
  if (await findPersonToSignIn(db, brandId, undefined)) {
    throw new Error(`No one at ${brand.name} has the address ${email}; an owner can invite them in the web app.`);
  }
  const actor = { brandId, keyId: null, operation: 'first_owner', requestId: null };
  const role = 'owner' as const;
  return await inWork(db, clock, actor, (work) =>
    createPerson(work, {
      email: email ?? `owner@${brandId.replace('_', '-').toLowerCase()}.invalid`,
      name: 'Owner',
      role,
    }),
  );
}

/** Normalizes the addresses and removes duplicates. Throws VALIDATION_ERROR if one is not that of a person of the brand. */
export async function parseOwnAddresses(
  { db, brandId }: Pick<Work, 'db' | 'brandId'>,
  field: string,
  emails: readonly string[],
): Promise<string[]> {
  const ownEmails = new Set(await listAddresses(db, brandId, emails));
  const problems = emails.flatMap((email, i) =>
    ownEmails.has(email.toLowerCase())
      ? []
      : [
          {
            field: `${field}.${i}`,
            code: 'not_found',
            message: `must be the address of one of the brand's people; got ${JSON.stringify(email)}.`,
          },
        ],
  );
  if (problems.length > 0) throw validationError(problems);
  return [...new Set(emails.map((email) => email.toLowerCase()))];
}
