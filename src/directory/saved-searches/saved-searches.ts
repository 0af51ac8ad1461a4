import { isDeepStrictEqual } from 'node:util';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Caller } from '../../kit/access/keys/callers.ts';
import { roleRequired } from '../../kit/access/keys/identify.ts';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { SavedSearchesTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../kit/engines/postgres/own.ts';
import { isUniqueViolation } from '../../kit/engines/postgres/violation.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError, below, notFound, unavailable, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { lockBrand } from '../../platform/brands/brands.ts';
import { parseOwnAddresses } from '../../platform/people/people.ts';
import { readFilters } from './filters.ts';
import { beginTracking, isUndisturbed, type UpTo } from './matches.ts';
import { findMoment, readKnown } from './matching.ts';
import type { SavedSearchCreate, SavedSearchPatch } from './saved-searches.api.ts';

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'savedSearches.filters': Record<string, string>;
  }
}

export type SavedSearchRow = Selectable<SavedSearchesTable>;

/** The viewer of searches: a person sees their own and shared ones, a key shared ones. */
export interface Viewer {
  brandId: string;
  personId: string | null;
}

const countMatchesWhere = (where: ReturnType<typeof sql>) =>
  sql<number>`(select count(*) from saved_search_matches as match where match.search_id = saved_searches.id ${where})`;

export const savedSearchRows = listing({
  noun: 'saved search',
  table: 'saved_searches',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, { personId }: ListWindow & Pick<Viewer, 'personId'>) =>
    db
      .selectFrom('savedSearches')
      .where(({ or, eb }) =>
        or([eb('savedSearches.shared', '=', true), eb('savedSearches.personId', '=', personId ?? '')]),
      ),
  rows: (db) =>
    db
      .selectFrom('savedSearches')
      .selectAll()
      .select([
        sql<string | null>`(select email from people where people.id = saved_searches.person_id)`.as('by'),
        countMatchesWhere(sql``).as('matches'),
        sql<Record<string, { number: number; unseen: number }>>`(
          select coalesce(jsonb_object_agg(look.person_id, jsonb_build_object(
            'number', look.number, 'unseen', ${countMatchesWhere(sql`and match.number > look.number`)})), '{}')
          from saved_search_looks as look where look.search_id = saved_searches.id)`.as('looks'),
      ]),
});

const findSeenBy = (db: Db, { brandId, personId }: Viewer, id: string) =>
  db
    .selectFrom('savedSearches')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where(({ or, eb }) => or([eb('shared', '=', true), eb('personId', '=', personId ?? '')]));

export const findSavedSearch = (db: Db, viewer: Viewer, id: string) => findSeenBy(db, viewer, id).executeTakeFirst();

/** The search, locked until the transaction ends. */
const lockSavedSearch = (db: Db, viewer: Viewer, id: string) =>
  findSeenBy(db, viewer, id).forUpdate().executeTakeFirst();

/** The search of this person, or of keys, with this name, ignoring case; locked until the transaction ends. */
async function lockSavedSearchNamed(
  db: Db,
  { brandId, personId }: Viewer,
  name: string,
): Promise<SavedSearchRow | undefined> {
  return await db
    .selectFrom('savedSearches')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('personId', personId === null ? 'is' : '=', personId)
    .where(sql`lower(name)`, '=', sql`lower(${name})`)
    .forUpdate()
    .executeTakeFirst();
}

/** Searches of people who were removed do not count. */
const countSavedSearches = (db: Db, brandId: string): Promise<number> =>
  countRows(
    db
      .selectFrom('savedSearches')
      .leftJoin('people', 'people.id', 'savedSearches.personId')
      .select(COUNT)
      .where('savedSearches.brandId', '=', brandId)
      .where(({ or, eb }) => or([eb('shared', '=', true), eb('people.removedAt', 'is', null)])),
  );

const insertSavedSearch = (db: Db, row: Insertable<SavedSearchesTable>) =>
  db.insertInto('savedSearches').values(row).returningAll().executeTakeFirstOrThrow();

const updateSavedSearch = (db: Db, brandId: string, id: string, change: Updateable<SavedSearchesTable>) =>
  updateOwn(db.updateTable('savedSearches').set(change).returningAll(), brandId, id);

async function deleteSavedSearch(db: Db, brandId: string, id: string): Promise<void> {
  await db.deleteFrom('savedSearches').where('brandId', '=', brandId).where('id', '=', id).execute();
}

/** Deletes searches that were not shared and whose people were removed. */
export async function deleteOrphans(db: Db): Promise<void> {
  await sql`
    delete from saved_searches using people
    where people.id = saved_searches.person_id and people.removed_at is not null and not shared`.execute(db);
}

export const MAX_SAVED = 200;

export const toViewer = (caller: Caller): Viewer => ({
  brandId: caller.brandId,
  personId: caller.kind === 'session' ? caller.person.id : null,
});

/** Filters that can be saved, and the creators who match now: they are never new. */
export interface Started {
  alias: string;
  upTo: UpTo;
  known: readonly number[] | undefined;
}

/** Reads who matches now. Throws VALIDATION_ERROR for filters that search would refuse. */
export async function startSearch(
  context: Context,
  brandId: string,
  filters: Readonly<Record<string, string>>,
): Promise<Started> {
  const query = readFilters('filters', filters);
  const moment = await findMoment(context);
  const knownPks = await below('filters', () => readKnown(context, brandId, query, moment));
  return { alias: context.config.directoryAlias, upTo: moment, known: knownPks };
}

/** The row as the audit log shows it: what was chosen, not what was found. */
function toAuditEntry({
  id,
  brandId,
  personId,
  name,
  filters,
  shared,
  alertEvery,
  alertMail,
  updatedAt,
}: SavedSearchRow) {
  return { id, brandId, personId, name, filters, shared, alertEvery, alertMail, updatedAt };
}

async function begin({ db }: Work, id: string, { alias, upTo, known }: Started): Promise<void> {
  if (!(await isUndisturbed(db, alias, upTo.seq))) {
    throw unavailable('The directory', new Error('A creator opted out during the call.'), 1);
  }
  await beginTracking(db, id, { upTo, known });
}

/** The columns of an alert; a new one only counts what is found from now on. */
async function toAlertColumns(
  { db, brandId, now }: Work,
  alert: SavedSearchPatch['alert'],
  old: SavedSearchRow | undefined,
): Promise<Partial<Pick<SavedSearchRow, 'alertEvery' | 'alertMail' | 'alerted' | 'alertedAt'>>> {
  if (alert === undefined) return {};
  if (alert === null) return { alertEvery: null, alertMail: [] };
  const alertMail = await parseOwnAddresses({ db, brandId }, 'alert.mail', alert.mail);
  const isSame = old?.alertEvery === alert.every;
  return {
    alertEvery: alert.every,
    alertMail,
    ...(isSame ? {} : { alerted: old?.found ?? 0, alertedAt: now }),
  };
}

/** Viewers keep searches for themselves. */
function assertMayShare(caller: Caller): void {
  if (caller.kind === 'session' && caller.person.role === 'viewer')
    throw roleRequired(caller.person, ['owner', 'manager']);
}

function assertSharing(caller: Caller, shared: boolean | undefined, old: SavedSearchRow | undefined): void {
  if (shared === undefined || shared === old?.shared) return;
  if (shared) {
    assertMayShare(caller);
    return;
  }
  const personId = old ? old.personId : toViewer(caller).personId;
  if (personId !== null && personId === toViewer(caller).personId) return;
  const message = 'must be true: only the person who saved a search can keep it to themselves; got "false".';
  throw validationError([{ field: 'shared', code: 'invalid', message }]);
}

/** Saves a search, or replaces that of the same name. */
export async function saveSearch(
  work: Work,
  caller: Caller,
  body: SavedSearchCreate,
  tracking: Started,
): Promise<string> {
  const { db, now, brandId, audit } = work;
  const viewer = toViewer(caller);
  const { name, filters, alert } = body;
  const shared = body.shared ?? (viewer.personId === null ? true : undefined);
  await lockBrand(db, brandId);
  const old = await lockSavedSearchNamed(db, viewer, name);
  assertSharing(caller, shared, old);
  const changes = {
    name,
    filters: JSON.stringify(filters),
    ...omitUndefined({ shared }),
    ...(await toAlertColumns(work, alert, old)),
  };
  if (old) {
    const row = await updateSavedSearch(db, brandId, old.id, { ...changes, updatedAt: now });
    if (!isDeepStrictEqual(old.filters, filters)) await begin(work, old.id, tracking);
    audit({ resourceId: old.id, old: toAuditEntry(old), new: toAuditEntry(row) });
    return old.id;
  }
  const current = await countSavedSearches(db, brandId);
  if (current >= MAX_SAVED) {
    const message = `A brand has at most ${MAX_SAVED} saved searches; delete one first.`;
    throw new ApiError('SAVED_SEARCH_LIMIT_REACHED', message, { facts: { limit: MAX_SAVED, current } });
  }
  const unset = { seq: null, seqAt: null, problem: null, alertEvery: null, alertedAt: null, updatedAt: null };
  const own = { id: newId('ssr', now.getTime()), ...viewer, createdAt: now };
  const row = await insertSavedSearch(db, { ...unset, ...own, ...changes });
  await begin(work, row.id, tracking);
  audit({ resourceId: row.id, old: null, new: toAuditEntry(row) });
  return row.id;
}

/** The search, locked, if the caller may change it: viewers change only their own. */
async function lockToChange({ db }: Work, caller: Caller, id: string): Promise<SavedSearchRow> {
  const viewer = toViewer(caller);
  const old = await lockSavedSearch(db, viewer, id);
  if (!old) throw notFound('saved search');
  if (old.personId === null || old.personId !== viewer.personId) assertMayShare(caller);
  return old;
}

export async function changeSearch(
  work: Work,
  caller: Caller,
  { id, body, started }: { id: string; body: SavedSearchPatch; started: Started | undefined },
): Promise<void> {
  const { db, now, brandId, audit } = work;
  const old = await lockToChange(work, caller, id);
  const { name, filters, shared, alert } = body;
  assertSharing(caller, shared, old);
  const row = await updateSavedSearch(db, brandId, id, {
    ...omitUndefined({ name, shared }),
    ...(filters ? { filters: JSON.stringify(filters) } : {}),
    ...(await toAlertColumns(work, alert, old)),
    updatedAt: now,
  }).catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
    throw new ApiError('CONFLICT', 'Another of these saved searches has this name.', { cause: error });
  });
  if (filters && started && !isDeepStrictEqual(old.filters, filters)) await begin(work, id, started);
  audit({ resourceId: id, old: toAuditEntry(old), new: toAuditEntry(row) });
}

export async function removeSearch(work: Work, caller: Caller, id: string): Promise<void> {
  const old = await lockToChange(work, caller, id);
  await deleteSavedSearch(work.db, work.brandId, id);
  work.audit({ resourceId: id, old: toAuditEntry(old), new: null });
}
