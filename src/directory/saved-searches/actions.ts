import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '../../kit/access/keys/queries.ts';
import { roleRequired } from '../../kit/access/keys/rules.ts';
import { isUniqueViolation } from '../../kit/engines/postgres/violation.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError, below, notFound, unavailable, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { lockBrand } from '../../platform/brands/queries.ts';
import { ownAddresses } from '../../platform/people/people.ts';
import { readFilters } from './filter/filters.ts';
import { findMoment, readKnown } from './filter/matching.ts';
import { isUndisturbed } from './filter/queries.ts';
import { beginTracking, type UpTo } from './matches/queries.ts';
import {
  countSavedSearches,
  deleteSavedSearch,
  insertSavedSearch,
  lockSavedSearch,
  lockSavedSearchNamed,
  type SavedSearchRow,
  updateSavedSearch,
  type Viewer,
} from './queries.ts';
import { MAX_SAVED, type SavedSearchCreate, type SavedSearchPatch } from './schema.ts';

export const viewerOf = (caller: Caller): Viewer => ({
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
  const known = await below('filters', () => readKnown(context, brandId, query, moment));
  return { alias: context.config.directoryAlias, upTo: moment, known };
}

/** The row as the audit log shows it: what was chosen, not what was found. */
function auditOf({ id, brandId, personId, name, filters, shared, alertEvery, alertMail, updatedAt }: SavedSearchRow) {
  return { id, brandId, personId, name, filters, shared, alertEvery, alertMail, updatedAt };
}

async function begin({ db }: Work, id: string, { alias, upTo, known }: Started): Promise<void> {
  if (!(await isUndisturbed(db, alias, upTo.seq))) {
    throw unavailable('The directory', new Error('A creator opted out during the call.'), 1);
  }
  await beginTracking(db, id, { upTo, known });
}

/** The columns of an alert; a new one only counts what is found from now on. */
async function alertOf(
  { db, brandId, now }: Work,
  alert: SavedSearchPatch['alert'],
  old: SavedSearchRow | undefined,
): Promise<Partial<Pick<SavedSearchRow, 'alertEvery' | 'alertMail' | 'alerted' | 'alertedAt'>>> {
  if (alert === undefined) return {};
  if (alert === null) return { alertEvery: null, alertMail: [] };
  const alertMail = await ownAddresses({ db, brandId }, 'alert.mail', alert.mail);
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
  const personId = old ? old.personId : viewerOf(caller).personId;
  if (personId !== null && personId === viewerOf(caller).personId) return;
  const message = 'must be true: only the person who saved a search can keep it to themselves; got "false".';
  throw validationError([{ field: 'shared', code: 'invalid', message }]);
}

/** Saves a search, or replaces that of the same name. */
export async function saveSearch(
  work: Work,
  caller: Caller,
  body: SavedSearchCreate,
  started: Started,
): Promise<string> {
  const { db, now, brandId, audit } = work;
  const viewer = viewerOf(caller);
  const { name, filters, alert } = body;
  const shared = body.shared ?? (viewer.personId === null ? true : undefined);
  await lockBrand(db, brandId);
  const old = await lockSavedSearchNamed(db, viewer, name);
  assertSharing(caller, shared, old);
  const changes = {
    name,
    filters: JSON.stringify(filters),
    ...omitUndefined({ shared }),
    ...(await alertOf(work, alert, old)),
  };
  if (old) {
    const row = await updateSavedSearch(db, brandId, old.id, { ...changes, updatedAt: now });
    if (!isDeepStrictEqual(old.filters, filters)) await begin(work, old.id, started);
    audit({ resourceId: old.id, old: auditOf(old), new: auditOf(row) });
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
  await begin(work, row.id, started);
  audit({ resourceId: row.id, old: null, new: auditOf(row) });
  return row.id;
}

/** The search, locked, if the caller may change it: viewers change only their own. */
async function lockToChange({ db }: Work, caller: Caller, id: string): Promise<SavedSearchRow> {
  const viewer = viewerOf(caller);
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
    ...(await alertOf(work, alert, old)),
    updatedAt: now,
  }).catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
    throw new ApiError('CONFLICT', 'Another of these saved searches has this name.', { cause: error });
  });
  if (filters && started && !isDeepStrictEqual(old.filters, filters)) await begin(work, id, started);
  audit({ resourceId: id, old: auditOf(old), new: auditOf(row) });
}

export async function removeSearch(work: Work, caller: Caller, id: string): Promise<void> {
  const old = await lockToChange(work, caller, id);
  await deleteSavedSearch(work.db, work.brandId, id);
  work.audit({ resourceId: id, old: auditOf(old), new: null });
}
