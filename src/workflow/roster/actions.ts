import type { Work } from '../../kit/operation/work.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { given } from '../../kit/values/patch.ts';
import { changeCreator, ensureCreator, makeCreator } from '../creators/actions.ts';
import type { ProfileColumns } from '../creators/profiles/actions.ts';
import { type CreatorRow, getCreator, type Identity, listMatching, lockBrandRoster } from '../creators/queries.ts';
import {
  countOnRoster,
  findEntry,
  getEntry,
  insertEntry,
  type RosterRow,
  type RosterStatus,
  updateEntry,
} from './queries.ts';
import type { RosterAdd, RosterAddByHandle, RosterPatch } from './schema.ts';

interface NewEntry {
  creatorId: string;
  status: RosterStatus;
  note: string | null;
}

/** Throws CREATOR_LIMIT_REACHED if the roster, including the creator just added, exceeds the plan. */
async function assertWithinLimit({ db, brandId }: Work, limit: number): Promise<void> {
  const count = await countOnRoster(db, brandId);
  if (count <= limit) return;
  throw new ApiError(
    'CREATOR_LIMIT_REACHED',
    `The plan allows ${limit} creators on the roster; remove one, or upgrade.`,
    {
      facts: { limit, current: count - 1 },
    },
  );
}

/** Audits a change and emits its event. An added creator must fit the plan. */
async function settle(work: Work, limit: number, old: RosterRow | null, row: RosterRow): Promise<void> {
  work.audit({ resourceId: row.id, old, new: row });
  const wasOnRoster = old !== null && old.status !== 'removed';
  if (wasOnRoster && row.status === 'removed') await announce(work, 'roster.creator_removed', row);
  if (wasOnRoster || row.status === 'removed') return;
  await assertWithinLimit(work, limit);
  await announce(work, 'roster.creator_added', row);
}

async function announce(work: Work, event: 'roster.creator_added' | 'roster.creator_removed', row: RosterRow) {
  const { email, name } = await getCreator(work.db, work.brandId, row.creatorId);
  const { id, creatorId: creator_id, status, addedAt } = row;
  const person = { creator_email: email, creator_name: name };
  work.emit(event, { id, creator_id, ...person, status, added_at: addedAt.toISOString() });
}

/** Adds a creator to the roster or puts it back; `added` is false if it was there already. */
async function addEntry(work: Work, limit: number, { creatorId, status, note }: NewEntry) {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  const id = newId('rst', now.getTime());
  const made = await insertEntry(db, { id, brandId, creatorId, status, note, addedAt: now, updatedAt: null });
  if (made) {
    await settle(work, limit, null, made);
    return { entry: made, added: true };
  }
  const old = await getEntry(db, brandId, creatorId);
  if (old.status !== 'removed') return { entry: old, added: false };
  const back = await updateEntry(db, old, { status, addedAt: now, updatedAt: now, ...(note === null ? {} : { note }) });
  await settle(work, limit, old, back);
  return { entry: back, added: true };
}

/**
 * Adds an accepted creator to the roster in the caller's transaction. Above the plan's `limit` it throws
 * CREATOR_LIMIT_REACHED, and the transaction must not continue.
 */
export async function putOnRoster(
  work: Work,
  limit: number,
  creatorId: string,
): Promise<{ entryId: string; added: boolean }> {
  const { entry, added } = await addEntry(work, limit, { creatorId, status: 'active', note: null });
  return { entryId: entry.id, added };
}

async function addNew(work: Work, limit: number, input: NewEntry): Promise<RosterRow> {
  const { entry, added } = await addEntry(work, limit, input);
  if (added) return entry;
  throw new ApiError('ALREADY_ON_ROSTER', 'This creator is already on the roster.', {
    facts: { existing_id: entry.id },
  });
}

export async function addByEmail(work: Work, limit: number, input: RosterAdd): Promise<RosterRow> {
  const person = { email: input.creator_email, name: null, igHandle: null, ttHandle: null };
  const creatorId = await ensureCreator(work, person);
  return await addNew(work, limit, { creatorId, status: 'active', note: input.note ?? null });
}

/** Another creator of the brand has the value. An applicant has no roster entry, so the creator id is given. */
async function conflict({ db, brandId }: Work, creatorId: string, message: string): Promise<ApiError> {
  const entry = await findEntry(db, brandId, creatorId);
  return new ApiError('CONFLICT', message, { facts: { existing_id: entry?.id ?? creatorId } });
}

const same = (a: string | null, b: string | null) => a?.toLowerCase() === b?.toLowerCase();

/** The one creator with these handles and this address; missing values are filled in. Two creators are a CONFLICT. */
async function joinIdentity(work: Work, identity: Identity, columns: Partial<CreatorRow>): Promise<CreatorRow> {
  const matching = await listMatching(work.db, work.brandId, identity);
  const found = matching.find(({ igHandle }) => same(igHandle, identity.igHandle)) ?? matching[0];
  if (!found) throw new Error('The creator that blocked the insert was not found.');
  const { email, igHandle, ttHandle } = identity;
  const fits = (given: string | null, held: string | null) => given === null || held === null || same(given, held);
  const isOne = fits(email, found.email) && fits(igHandle, found.igHandle) && fits(ttHandle, found.ttHandle);
  if (matching.length > 1 || !isOne) {
    const what = email === null ? 'The handles' : 'The handles and the e-mail address';
    throw await conflict(work, found.id, `${what} belong to different creators of the brand.`);
  }
  const joined = await changeCreator(work, found, {
    ...columns,
    ...(found.email === null && email !== null ? { email } : {}),
    ...(found.igHandle === null && igHandle !== null ? { igHandle } : {}),
    ...(found.ttHandle === null && ttHandle !== null ? { ttHandle } : {}),
  });
  if (!joined) throw new Error('What nobody else had is taken.');
  return joined;
}

export async function addByHandle(
  work: Work,
  limit: number,
  input: RosterAddByHandle,
  profile: ProfileColumns,
): Promise<{ entry: RosterRow; creator: CreatorRow }> {
  const { ig_handle: igHandle = null, tt_handle: ttHandle = null, creator_email: email = null } = input;
  const identity = { email, igHandle, ttHandle };
  const { name = null, ...seen } = profile;
  const made = await makeCreator(work, {
    ...seen,
    ...identity,
    name: input.name ?? name,
    tags: input.tags ?? [],
  });
  const stated = given({ name: input.name ?? undefined, tags: input.tags ?? undefined });
  const creator = made ?? (await joinIdentity(work, identity, { ...seen, ...stated }));
  const entry = await addNew(work, limit, { creatorId: creator.id, status: 'hired', note: null });
  return { entry, creator };
}

async function patchCreator(work: Work, creatorId: string, { name, tags, creator_email }: RosterPatch): Promise<void> {
  const change = given({ name, tags: tags === null ? [] : tags, email: creator_email });
  if (Object.keys(change).length === 0) return;
  const { db, brandId } = work;
  if (await changeCreator(work, await getCreator(db, brandId, creatorId), change)) return;
  const identity = { email: creator_email ?? null, igHandle: null, ttHandle: null };
  const [other] = await listMatching(db, brandId, identity);
  throw await conflict(work, other?.id ?? '', 'Another creator of the brand has this e-mail address.');
}

export async function patchEntry(work: Work, limit: number, id: string, patch: RosterPatch): Promise<void> {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  const old = await getEntry(db, brandId, id);
  await patchCreator(work, old.creatorId, patch);
  const { status, note } = patch;
  await settle(work, limit, old, await updateEntry(db, old, { ...given({ status, note }), updatedAt: now }));
}

/** Takes a creator off the roster; their record and history stay. */
export async function removeEntry(work: Work, id: string): Promise<RosterRow> {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  const old = await getEntry(db, brandId, id);
  if (old.status === 'removed') return old;
  const removed = await updateEntry(db, old, { status: 'removed', updatedAt: now });
  work.audit({ resourceId: removed.id, old, new: removed });
  await announce(work, 'roster.creator_removed', removed);
  return removed;
}
