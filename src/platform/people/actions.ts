import type { AccessEngines } from '../../kit/access/credits/access.ts';
import { bumpVersion } from '../../kit/access/credits/queries.ts';
import { createSignInLink, INVITATION_LIFE_MS, LINK_LIFE_MS } from '../../kit/access/sessions/actions.ts';
import { hasLinkSince, revokePersonSessions } from '../../kit/access/sessions/queries.ts';
import type { MailKind, MailParams } from '../../kit/mail/kinds.ts';
import { queueMail, queueMails } from '../../kit/mail/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import { inWork, type Work } from '../../kit/operation/work.ts';
import { ApiError, notFound, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { findBrand, lockBrand } from '../brands/queries.ts';
import {
  countOwners,
  findPerson,
  findPersonToSignIn,
  insertPerson,
  listAddresses,
  listMailed,
  listPeopleByEmail,
  MAIL_TOPICS,
  type MailTopic,
  type PersonRow,
  updatePerson as setPerson,
} from './queries.ts';
import type { PersonCreate, PersonPatch } from './schema.ts';

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

const MAILS_APART_MS = 60_000;

/** Mails a link for each brand that knows this address, and does not reveal whether any does. */
export async function mailSignInLinks({ postgres, clock }: Context, email: string, requestId: string): Promise<void> {
  for (const person of await listPeopleByEmail(postgres.db, email)) {
    const { brandId, id: personId } = person;
    const actor = { brandId, keyId: null, operation: 'request_sign_in', requestId };
    await inWork(postgres.db, clock, actor, async (work) => {
      const since = new Date(work.now.getTime() - MAILS_APART_MS);
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
  if ((await countOwners(work.db, work.brandId)) > 1) return;
  throw new ApiError('CONFLICT', 'A brand needs at least one owner; make another person an owner first.');
}

async function lockPerson({ db, brandId }: Work, id: string): Promise<PersonRow> {
  await lockBrand(db, brandId);
  const person = await findPerson(db, brandId, id);
  if (!person) throw notFound('person');
  return person;
}

export async function patchPerson(
  work: Work,
  subscriptionId: string,
  id: string,
  { name, role }: PersonPatch,
): Promise<PersonRow> {
  const old = await lockPerson(work, id);
  if (role !== undefined) await assertOwnerStays(work, old, role);
  const changed = { ...old, ...omitUndefined({ name, role }), updatedAt: work.now };
  await setPerson(work.db, work.brandId, id, { ...omitUndefined({ name, role }), updatedAt: work.now });
  await bumpVersion(work.db, subscriptionId);
  work.audit({ resourceId: id, old, new: changed });
  return changed;
}

/** Also ends the sessions of the person. */
export async function removePerson(work: Work, subscriptionId: string, id: string): Promise<PersonRow> {
  const old = await lockPerson(work, id);
  await assertOwnerStays(work, old, null);
  await setPerson(work.db, work.brandId, id, { removedAt: work.now, updatedAt: work.now });
  await revokePersonSessions(work.db, work.brandId, id, work.now);
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
  const addresses = await listMailed(work.db, work.brandId, topic, contact);
  await queueMails(
    work,
    addresses.map((to) => ({ ...mail, to })),
  );
}

/** Sets which topics are mailed to a person; others stay. */
export async function setMails(work: Work, id: string, chosen: Partial<Record<MailTopic, boolean | undefined>>) {
  const old = await lockPerson(work, id);
  const mailsOff = MAIL_TOPICS.filter((topic) => !(chosen[topic] ?? !old.mailsOff.includes(topic)));
  await setPerson(work.db, work.brandId, id, { mailsOff, updatedAt: work.now });
  work.audit({ resourceId: id, old, new: { ...old, mailsOff } });
  return mailsOff;
}

/** The person who signs in from a terminal: by address, else the first owner, who is created if needed. */
export async function ensurePersonToSignIn({ db, clock }: AccessEngines, brandId: string, email: string | undefined) {
  const known = await findPersonToSignIn(db, brandId, email);
  if (known) return known;
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

/** The addresses in lower case, each once. Throws VALIDATION_ERROR if one is not that of a person of the brand. */
export async function ownAddresses(
  { db, brandId }: Pick<Work, 'db' | 'brandId'>,
  field: string,
  emails: readonly string[],
): Promise<string[]> {
  const known = new Set(await listAddresses(db, brandId, emails));
  const problems = emails.flatMap((email, i) =>
    known.has(email.toLowerCase())
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
