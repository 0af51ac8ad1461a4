import type { Updateable } from 'kysely';
import type { CreatorsTable } from '../../engines/postgres/workflow-tables.ts';
import type { Context } from '../../operation/context.ts';
import type { Work } from '../../operation/work.ts';
import { newId } from '../../values/ids.ts';
import { given } from '../../values/patch.ts';
import { readProfile } from './profiles.ts';
import {
  type CreatorRow,
  type Identity,
  insertCreator,
  listMatching,
  lockBrandRoster,
  updateCreator,
} from './queries.ts';

/** The values of a creator's public profiles, as columns; unknown values are absent. */
export type ProfileColumns = Partial<
  Pick<CreatorRow, 'name' | 'pfpUrl' | 'igFollowers' | 'ttFollowers' | 'engagementRate' | 'profiledAt'>
>;

export interface NewCreator extends Identity, Omit<ProfileColumns, 'name'> {
  name: string | null;
  tags?: string[];
}

/** Makes outside calls, so never within a transaction. A creator is profiled once every handle is known. */
export async function lookUpProfile(
  context: Context,
  { igHandle, ttHandle }: Omit<Identity, 'email'>,
): Promise<ProfileColumns> {
  const [ig, tt] = await Promise.all([
    igHandle === null ? undefined : readProfile(context, 'photo_app', igHandle),
    ttHandle === null ? undefined : readProfile(context, 'video_app', ttHandle),
  ]);
  const isComplete = (igHandle === null || ig !== undefined) && (ttHandle === null || tt !== undefined);
  return given({
    name: ig?.name ?? tt?.name ?? undefined,
    pfpUrl: ig?.pictureUrl ?? tt?.pictureUrl ?? undefined,
    igFollowers: ig?.followers ?? undefined,
    ttFollowers: tt?.followers ?? undefined,
    engagementRate: ig?.engagementRate ?? tt?.engagementRate ?? undefined,
    profiledAt: isComplete ? context.clock.now() : undefined,
  });
}

/** Creates the creator; undefined if another creator of the brand has the e-mail or a handle. */
export async function makeCreator(work: Work, person: NewCreator): Promise<CreatorRow | undefined> {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  const row = await insertCreator(db, { ...person, id: newId('crt', now.getTime()), brandId, createdAt: now });
  if (row) work.audit({ resourceId: row.id, old: null, new: row });
  return row;
}

/**
 * Sets the changed columns; undefined if another creator of the brand has the e-mail or a handle. The profile of a new
 * handle is not known yet.
 */
export async function changeCreator(
  work: Work,
  old: CreatorRow,
  change: Updateable<CreatorsTable>,
): Promise<CreatorRow | undefined> {
  await lockBrandRoster(work.db, work.brandId);
  const unprofiled = change.igHandle || change.ttHandle ? { profiledAt: null } : {};
  const row = await updateCreator(work.db, old, { ...unprofiled, ...change, updatedAt: work.now });
  if (row) work.audit({ resourceId: row.id, old, new: row });
  return row;
}

async function findOrMake(work: Work, email: string, name: string | null): Promise<CreatorRow> {
  const identity = { email, igHandle: null, ttHandle: null };
  const made = await makeCreator(work, { ...identity, name });
  const found = made ?? (await listMatching(work.db, work.brandId, identity))[0];
  if (!found) throw new Error('The creator that blocked the insert was not found.');
  return found;
}

/**
 * The id of the brand's creator with this e-mail, created if needed. A missing name or handle is filled in, never
 * overwritten, and a handle that another creator of the brand has is not taken.
 */
export async function ensureCreator(
  work: Work,
  person: { email: string; name: string | null; igHandle: string | null; ttHandle: string | null },
): Promise<string> {
  let creator = await findOrMake(work, person.email, person.name);
  const { name, igHandle, ttHandle } = person;
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
