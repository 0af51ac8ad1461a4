import { type Selectable, sql, type Updateable } from 'kysely';
import { inBatches } from '../../kit/engines/postgres/batches.ts';
import type { CreatorsTable } from '../../kit/engines/postgres/database.ts';
import type { Db, Exports } from '../../kit/engines/postgres/open.ts';
import { type Cut, cutTo, inWindow } from '../../kit/engines/postgres/window.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import { inWork, type Work } from '../../kit/operation/work.ts';
import { toAsciiPart } from '../../kit/values/email.ts';
import { fold } from '../../kit/values/fold.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { lockBrand } from '../../platform/brands/brands.ts';
import { type CreatorFilter, type PersonFilter, readAnyHandle } from './creators.shapes.ts';
import type { ProfileColumns } from './profiles.ts';

export type CreatorRow = Selectable<CreatorsTable>;

/** Identifies a creator; each value is unique within the brand, ignoring case. */
export interface Identity {
  email: string | null;
  igHandle: string | null;
  ttHandle: string | null;
}

/**
 * Locks the brand's roster until the transaction ends: its members and their number. It is taken before any of their
 * rows, which avoids deadlocks. Inserts that only refer to the brand do not wait for it.
 */
export async function lockBrandRoster(db: Db, brandId: string): Promise<void> {
  await lockBrand(db, brandId);
}

/** Locks a creator until the transaction ends, as payments do; undefined if the brand has no such creator. */
export async function lockCreator(db: Db, brandId: string, id: string) {
  return await db
    .selectFrom('creators')
    .select(['id', 'email', 'name'])
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** The brand's creators with this email or one of these handles. */
export async function listMatching(db: Db, brandId: string, identity: Identity): Promise<CreatorRow[]> {
  const { email, igHandle, ttHandle } = identity;
  return await db
    .selectFrom('creators')
    .selectAll()
    .where('brandId', '=', brandId)
    .where((eb) =>
      eb.or([
        eb(sql`lower(email)`, '=', sql`lower(${email})`),
        eb(sql`lower(ig_handle)`, '=', sql`lower(${igHandle})`),
        eb(sql`lower(tt_handle)`, '=', sql`lower(${ttHandle})`),
      ]),
    )
    .orderBy('createdAt')
    .orderBy('id')
    .execute();
}

/** Undefined if another creator of the brand has the new email or handle. */
async function updateCreator(
  db: Db,
  creator: { id: string; brandId: string },
  change: Updateable<CreatorsTable>,
): Promise<CreatorRow | undefined> {
  const { email = null, igHandle = null, ttHandle = null } = change;
  return await db
    .updateTable('creators')
    .set(change)
    .where('brandId', '=', creator.brandId)
    .where('id', '=', creator.id)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('creators as other')
            .select('other.id')
            .where('other.brandId', '=', creator.brandId)
            .where('other.id', '<>', creator.id)
            .where((eb) =>
              eb.or([
                eb(sql`lower(other.email)`, '=', sql`lower(${email})`),
                eb(sql`lower(other.ig_handle)`, '=', sql`lower(${igHandle})`),
                eb(sql`lower(other.tt_handle)`, '=', sql`lower(${ttHandle})`),
              ]),
            ),
        ),
      ),
    )
    .returningAll()
    .executeTakeFirst();
}

type CreatorConditions = Omit<CreatorFilter, keyof Page>;

const HANDLE = { photo_app: 'creators.igHandle', video_app: 'creators.ttHandle' } as const;
const FOLLOWERS = { photo_app: 'creators.igFollowers', video_app: 'creators.ttFollowers' } as const;

/** The larger of two audiences: they overlap, so a sum would count people twice. */
const largestFollowing = sql<number | null>`greatest(creators.ig_followers, creators.tt_followers)`;

const TIMES = {
  table: 'entry',
  time: 'entry.addedAt',
  changed: ['entry.addedAt', 'entry.updatedAt', 'creators.updatedAt'],
};

/** Creators who are or were on the roster. Applicants are not creators of the brand. */
function matchingCreators(db: Db, brandId: string, where: CreatorConditions) {
  const { platform, min_followers } = where;
  let matching = db
    .selectFrom('rosterEntries as entry')
    .innerJoin('creators', 'creators.id', 'entry.creatorId')
    .where('entry.brandId', '=', brandId)
    .where('creators.brandId', '=', brandId)
    .where(inWindow(TIMES, brandId, where))
    .where(matchesPerson(where));
  // No handles of the stream app are stored.
  if (platform === 'stream_app') return matching.where(sql<boolean>`false`);
  if (platform !== undefined) matching = matching.where(HANDLE[platform], 'is not', null);
  if (min_followers === undefined) return matching;
  return matching.where(platform === undefined ? largestFollowing : FOLLOWERS[platform], '>=', min_followers);
}

/**
 * Does not use the list kit: creators are ordered and paged by their roster entries, so a row comes from two tables, and
 * its figures from ClickHouse.
 */
async function selectCreators(db: Db, brandId: string, where: CreatorConditions, cut: Cut) {
  const rows = matchingCreators(db, brandId, where)
    .selectAll('creators')
    .select(['entry.id as entryId', 'entry.addedAt as joinedAt', 'entry.note', 'entry.status as rosterStatus'])
    .select(largestFollowing.as('followers'));
  return await cutTo(rows, { time: 'entry.addedAt', id: 'entry.id', sort: where.sort }, cut).execute();
}

export type ListedCreator = Awaited<ReturnType<typeof selectCreators>>[number];

export async function listCreators(db: Db, brandId: string, where: CreatorConditions, page: Page) {
  const { total } = await matchingCreators(db, brandId, where)
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows: await selectCreators(db, brandId, where, page), total };
}

export function eachCreator(exports: Exports, brandId: string, where: CreatorConditions) {
  return inBatches<ListedCreator>(exports, brandId, (trx, last, limit) =>
    selectCreators(trx, brandId, where, { limit, after: last && { at: last.joinedAt, id: last.entryId } }),
  );
}

/** Creators without a profile that are due, longest due first. */
export const selectUnprofiled = (db: Db, now: Date) =>
  db
    .selectFrom('creators')
    .selectAll()
    .where('profiledAt', 'is', null)
    .where((eb) => eb.or([eb('igHandle', 'is not', null), eb('ttHandle', 'is not', null)]))
    .where((eb) => eb(eb.fn.coalesce('profileRetryAt', 'createdAt'), '<=', now))
    .orderBy((eb) => eb.fn.coalesce('profileRetryAt', 'createdAt'));

/** Counts a look-up. The next one, if it is needed, comes a minute to a day later. */
export async function postponeProfile(db: Db, { id, brandId }: CreatorRow, now: Date): Promise<void> {
  await db
    .updateTable('creators')
    .set({
      profileAttempts: sql<number>`least(profile_attempts + 1, 1000)`,
      profileRetryAt: sql<Date>`${now}::timestamptz
        + least(interval '1 day', interval '1 minute' * power(2, least(profile_attempts, 11)))`,
    })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .execute();
}

/** Undefined if the handles have changed since, or another worker was first. */
export async function updateProfile(
  db: Db,
  { id, brandId, igHandle, ttHandle }: CreatorRow,
  { name, ...columns }: Updateable<CreatorsTable>,
): Promise<CreatorRow | undefined> {
  return await db
    .updateTable('creators')
    .set({ ...columns, ...(name == null ? {} : { name: sql<string>`coalesce(name, ${name})` }) })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('profiledAt', 'is', null)
    .where('igHandle', 'is not distinct from', igHandle)
    .where('ttHandle', 'is not distinct from', ttHandle)
    .returningAll()
    .executeTakeFirst();
}

/** Maps the old ids of merged creators to the current ones. Figures still carry the old ids. */
export async function listMerged(db: Db, brandId: string): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('creatorMerges')
    .select(['goneId', 'creatorId'])
    .where('brandId', '=', brandId)
    .execute();
  return new Map(rows.map(({ goneId, creatorId }) => [goneId, creatorId]));
}

export async function getCreator(db: Db, brandId: string, id: string): Promise<CreatorRow> {
  return await db
    .selectFrom('creators')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

/** Found by id alone, because a visitor with the page's link has no brand. */
export async function findCreatorPage(db: Db, id: string): Promise<CreatorRow | undefined> {
  return await db.selectFrom('creators').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Conditions on the person behind a row. */
export type PersonConditions = Pick<CreatorFilter, keyof typeof PersonFilter>;

/** An `ilike` pattern that matches the text literally, anywhere. */
export const toLikePattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

const ANYBODY = sql<boolean>`true`;

/** Matches rows whose creator has this email address, ignoring case; every row if it is undefined. */
export function matchesCreator(column: string, brandId: string, email: string | undefined) {
  if (email === undefined) return ANYBODY;
  return sql<boolean>`${sql.ref(column)} in (
    select id from creators where brand_id = ${brandId} and lower(email) = lower(${email}))`;
}

/** True if the filter has any condition on the creator. */
export const hasPersonFilter = ({ search, creator_email, handle, tag }: PersonConditions): boolean =>
  [search, creator_email, handle, tag].some((one) => one !== undefined);

/** Accents, and apostrophes of any form, for a regular expression of PostgreSQL. */
const LEFT_OUT = "[\\u0300-\\u036f'’‘ʼ`´]";

/** True of names as people type them: `siobhan oconnor` is Siobhán O’Connor. */
function hasPlainName(search: string) {
  const plain = fold(search).replaceAll("'", '').normalize('NFKD');
  if (plain === '') return sql<boolean>`false`;
  const pattern = toLikePattern(plain);
  // Most names are plain: to make them so again would take seven times as long.
  const isPlain = sql`octet_length(creators.name) = char_length(creators.name)
    and creators.name not like '%''%' and creators.name not like '%  %'`;
  const name = sql`regexp_replace(normalize(creators.name, NFKD), ${LEFT_OUT}, '', 'g')`;
  return sql<boolean>`(case when ${isPlain} then creators.name else regexp_replace(${name}, '\\s+', ' ', 'g') end
    ilike ${pattern})`;
}

function hasHandle(text: string) {
  const { handle, platforms } = readAnyHandle(text);
  const isOn = platforms.map((platform) => sql<boolean>`lower(${sql.ref(HANDLE[platform])}) = lower(${handle})`);
  return sql<boolean>`(${sql.join(isOn, sql` or `)})`;
}

/** Translates the filter to a condition on `creators`. */
export function matchesPerson({ search, creator_email: email, handle, tag }: PersonConditions) {
  const pattern = toLikePattern(search ?? '');
  const bySearch =
    search === undefined
      ? ANYBODY
      : sql<boolean>`(creators.name ilike ${pattern} or ${hasPlainName(search)}
          or creators.email ilike ${toLikePattern(toAsciiPart(search))}
          or creators.ig_handle ilike ${pattern} or creators.tt_handle ilike ${pattern})`;
  const byEmail = email === undefined ? ANYBODY : sql<boolean>`lower(creators.email) = lower(${email})`;
  const byHandle = handle === undefined ? ANYBODY : hasHandle(handle);
  const byTag =
    tag === undefined
      ? ANYBODY
      : sql<boolean>`exists (select from unnest(creators.tags) as one (tag) where lower(one.tag) = lower(${tag}))`;
  return sql<boolean>`(${bySearch} and ${byEmail} and ${byHandle} and ${byTag})`;
}

/** The creator's name beside a link: the link's own name for them, else theirs. */
export const shownName = sql<string | null>`coalesce(links.creator_name, creators.name)`.as('creatorName');

/** The one name shown for a creator. */
export const getDisplayName = (creator: { creatorName: string | null; creatorEmail: string | null }): string =>
  creator.creatorName ?? creator.creatorEmail ?? 'A creator';

export interface NewCreator extends Identity, Omit<ProfileColumns, 'name'> {
  name: string | null;
  tags?: string[];
}

/** Creates the creator; undefined if another creator of the brand has the email or a handle. */
export async function createCreator(work: Work, person: NewCreator): Promise<CreatorRow | undefined> {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  // The insert does nothing if another creator of the brand has this email or one of these handles.
  const row = await db
    .insertInto('creators')
    .values({ ...person, id: newId('crt', now.getTime()), brandId, createdAt: now })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row) work.audit({ resourceId: row.id, old: null, new: row });
  return row;
}

/**
 * Sets the changed columns; undefined if another creator of the brand has the email or a handle. The profile of a new
 * handle is not known yet.
 */
export async function changeCreator(
  work: Work,
  old: CreatorRow,
  change: Updateable<CreatorsTable>,
): Promise<CreatorRow | undefined> {
  await lockBrandRoster(work.db, work.brandId);
  const profileReset = change.igHandle || change.ttHandle ? { profiledAt: null } : {};
  const isReaddressed = change.email !== undefined && change.email?.toLowerCase() !== old.email?.toLowerCase();
  // The reader of the earlier address no longer sees the page.
  const linkReset = isReaddressed ? { linkVersion: old.linkVersion + 1 } : {};
  const isRenamed = (['email', 'name'] as const).some((key) => change[key] !== undefined && change[key] !== old[key]);
  const renaming = isRenamed ? { renamedAt: work.now } : {};
  const wholeChange = { ...profileReset, ...change, ...linkReset, ...renaming, updatedAt: work.now };
  const row = await updateCreator(work.db, old, wholeChange);
  if (row) work.audit({ resourceId: row.id, old, new: row });
  return row;
}

/**
 * The id of the brand's creator with this email, created if needed. A missing name or handle is filled in, never
 * overwritten, and a handle that another creator of the brand has is not taken.
 */
export async function ensureCreator(
  work: Work,
  person: { email: string; name: string | null; igHandle: string | null; ttHandle: string | null },
): Promise<string> {
  const { email, name, igHandle, ttHandle } = person;
  const identity = { email, igHandle: null, ttHandle: null };
  const newCreator = await createCreator(work, { ...identity, name });
  let creator = newCreator ?? (await listMatching(work.db, work.brandId, identity))[0];
  if (!creator) throw new Error('The creator that blocked the insert was not found.');
  const missing = [
    creator.name === null && name !== null ? { name } : undefined,
    creator.igHandle === null && igHandle !== null ? { igHandle } : undefined,
    creator.ttHandle === null && ttHandle !== null ? { ttHandle } : undefined,
  ];
  for (const change of missing) {
    if (change) creator = (await changeCreator(work, creator, change)) ?? creator;
  }
  return creator.id;
}

/** Mails the page of each brand that knows this address, at most once an hour, and does not reveal whether any does. */
export async function mailPageLinks({ postgres, clock }: Context, email: string, requestId: string): Promise<void> {
  // Searches every brand, because a person who lost their link only gives an address.
  const creators = await postgres.db
    .selectFrom('creators')
    .select(['id', 'brandId', 'email', 'linkVersion'])
    .where(sql<string>`lower(email)`, '=', email.toLowerCase())
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(20)
    .execute();
  for (const { id, brandId, email: to, linkVersion } of creators) {
    if (to === null) continue;
    const actor = { brandId, keyId: null, operation: 'request_page', requestId };
    await inWork(postgres.db, clock, actor, async (work) => {
      const subjectRow = `${id}:${work.now.toISOString().slice(0, 13)}`;
      const params = { creator_id: id, link_version: linkVersion };
      await queueMail(work, { kind: 'page_requested', to, subjectRow, creatorId: id, params });
    });
  }
}
