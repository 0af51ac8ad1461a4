import { sql } from 'kysely';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { notFound } from '../../kit/values/errors.ts';
import type { Page } from '../../kit/values/page.ts';
import { lockBrandRoster } from '../../workflow/creators/creators.ts';
import { endMemberships, insertMemberships } from '../../workflow/roster/memberships.ts';
import { endVersions } from '../../workflow/terms/versions.ts';
import type { LinkRow } from '../links/links.ts';
import type { MemberFilter, MembersAdd } from './groups.shapes.ts';
import { lockGroup } from './groups.ts';

type MemberSelection = Omit<MemberFilter, keyof Page> & { groupId: string };

/** Who is or was in a group. */
export const members = listing({
  noun: 'membership',
  table: 'group_memberships',
  time: 'since',
  changed: ['since', 'until'],
  matching: (db, _brandId, { groupId, present }: MemberSelection) =>
    db
      .selectFrom('groupMemberships')
      .where('groupId', '=', groupId)
      .$if(present !== undefined, (query) => query.where('until', present ? 'is' : 'is not', null)),
  rows: (db) =>
    db
      .selectFrom('groupMemberships')
      .innerJoin('creators', 'creators.id', 'groupMemberships.creatorId')
      .selectAll('groupMemberships')
      .select(['creators.email as creatorEmail', 'creators.name as creatorName']),
});

interface RosterMember {
  creatorId: string;
  email: string;
  groupId: string | null;
}

/** Lists creators on the roster by their addresses, with the group that they are in. */
async function listPeople(db: Db, brandId: string, emails: readonly string[]): Promise<Map<string, RosterMember>> {
  const { rows } = await sql<RosterMember>`
    select creators.id as creator_id, lower(creators.email) as email, member.group_id
    from creators
    join roster_entries as entry on entry.brand_id = creators.brand_id and entry.creator_id = creators.id
      and entry.status <> 'removed'
    left join group_memberships as member
      on member.brand_id = creators.brand_id and member.creator_id = creators.id and member.until is null
    where creators.brand_id = ${brandId} and lower(creators.email) = any(${[...emails]}::text[])`.execute(db);
  return new Map(rows.map((person) => [person.email, person]));
}

/** Drops the terms of all codes and links of creators, so that they take those of their group. Returns their number. */
async function dropOwnTerms(work: Work, creatorIds: readonly string[]): Promise<number> {
  const { db, now, brandId } = work;
  const { rows } = await sql<LinkRow>`
    select * from links where brand_id = ${brandId} and creator_id = any(${[...creatorIds]}::text[])
      and inherits_terms is not true order by id for no key update`.execute(db);
  await endVersions(
    work,
    'link',
    rows.flatMap(({ id, termsId }) => (termsId === null ? [] : [id])),
  );
  const { rows: changed } = await sql<LinkRow>`
    update links set inherits_terms = true, terms_id = null, pays_renewals = null, updated_at = ${now}
    where brand_id = ${brandId} and id = any(${rows.map(({ id }) => id)}::text[]) returning *`.execute(db);
  const after = new Map(changed.map((row) => [row.id, row]));
  for (const old of rows) work.audit({ resourceId: old.id, old, new: after.get(old.id) ?? null });
  return rows.length;
}

/** Moves creators into a group from whichever they are in. */
export async function addMembers(work: Work, groupId: string, { creator_emails: emails, links }: MembersAdd) {
  const { db, brandId } = work;
  await lockBrandRoster(db, brandId);
  await lockGroup(work, groupId);
  const emailsByFolded = new Map(emails.map((email) => [email.toLowerCase(), email]));
  const people = await listPeople(db, brandId, [...emailsByFolded.keys()]);
  const memberships = [...emailsByFolded].map(([foldedEmail, email]) => ({ email, person: people.get(foldedEmail) }));
  const present = memberships.flatMap(({ person }) => person ?? []);
  const moving = present.filter((person) => person.groupId !== groupId).map(({ creatorId }) => creatorId);
  await endMemberships(work, moving);
  await insertMemberships(work, groupId, moving);
  const creatorIds = present.map(({ creatorId }) => creatorId);
  const select = (isMatch: (person: RosterMember | undefined) => boolean) =>
    memberships.filter(({ person }) => isMatch(person)).map(({ email }) => email);
  return {
    moved: select((person) => person !== undefined && person.groupId !== groupId),
    unchanged: select((person) => person?.groupId === groupId),
    failed: select((person) => person === undefined).map((email) => ({
      creator_email: email,
      reason: 'not_on_roster' as const,
    })),
    links_changed: links === 'inherit' ? await dropOwnTerms(work, creatorIds) : 0,
  };
}

/** Takes a creator out of a group, also one who left the roster. Their codes with terms of their own keep them. */
export async function removeMember(work: Work, groupId: string, email: string): Promise<void> {
  const { db, brandId } = work;
  await lockBrandRoster(db, brandId);
  await lockGroup(work, groupId);
  const member = await db
    .selectFrom('groupMemberships')
    .innerJoin('creators', 'creators.id', 'groupMemberships.creatorId')
    .select('creatorId')
    .where('groupMemberships.brandId', '=', brandId)
    .where('groupId', '=', groupId)
    .where('until', 'is', null)
    .where(sql`lower(creators.email)`, '=', email.toLowerCase())
    .executeTakeFirst();
  if (!member) throw notFound('creator in this group');
  await endMemberships(work, [member.creatorId]);
}
