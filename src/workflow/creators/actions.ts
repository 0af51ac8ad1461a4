import type { Updateable } from 'kysely';
import type { CreatorsTable } from '../../kit/engines/postgres/database.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import { inWork, type Work } from '../../kit/operation/work.ts';
import { newId } from '../../kit/values/ids.ts';
import type { ProfileColumns } from './profiles/actions.ts';
import {
  type CreatorRow,
  type Identity,
  insertCreator,
  listCreatorsByEmail,
  listMatching,
  lockBrandRoster,
  updateCreator,
} from './queries.ts';

export interface NewCreator extends Identity, Omit<ProfileColumns, 'name'> {
  name: string | null;
  tags?: string[];
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
  const isReaddressed = change.email !== undefined && change.email?.toLowerCase() !== old.email?.toLowerCase();
  // The reader of the earlier address no longer sees the page.
  const revoked = isReaddressed ? { linkVersion: old.linkVersion + 1 } : {};
  const row = await updateCreator(work.db, old, { ...unprofiled, ...change, ...revoked, updatedAt: work.now });
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

/** Mails the page of each brand that knows this address, at most once an hour, and does not reveal whether any does. */
export async function mailPageLinks({ postgres, clock }: Context, email: string, requestId: string): Promise<void> {
  for (const { id, brandId, email: to, linkVersion } of await listCreatorsByEmail(postgres.db, email)) {
    if (to === null) continue;
    const actor = { brandId, keyId: null, operation: 'request_page', requestId };
    await inWork(postgres.db, clock, actor, async (work) => {
      const subjectRow = `${id}:${work.now.toISOString().slice(0, 13)}`;
      const params = { creator_id: id, link_version: linkVersion };
      await queueMail(work, { kind: 'page_requested', to, subjectRow, creatorId: id, params });
    });
  }
}
