import type { Work } from '../../operation/work.ts';
import { newId } from '../../values/ids.ts';
import { given } from '../../values/patch.ts';
import { lockBrandRoster } from '../creators/queries.ts';
import { putOnRoster } from '../roster/actions.ts';
import { askForProof } from './change-actions.ts';
import { personOf } from './person-actions.ts';
import { type ApplicationRow, insertApplication, lockApplication, lockOpen, updateApplication } from './queries.ts';
import { type ApplicationPatch, applicationOf } from './schema.ts';

/**
 * Changes an application. Accepting it assigns its claims to the creator, puts them on the roster and, the first time,
 * emits `application.approved`. If `rosterLimit` does not allow that, nothing changes.
 */
export async function patchApplication(
  work: Work,
  id: string,
  { status, note }: ApplicationPatch,
  rosterLimit: number,
): Promise<ApplicationRow> {
  const { db, now, brandId } = work;
  if (status === 'accepted') await lockBrandRoster(db, brandId);
  const old = await lockApplication(db, brandId, id);
  const enters = status === 'accepted' && old.status !== 'accepted';
  const person = enters ? { creatorId: await personOf(work, old) } : {};
  const approved = enters && old.approvedAt === null ? { approvedAt: now } : {};
  const change = { ...given({ status, note }), ...person, ...approved, updatedAt: now };
  const row = await updateApplication(db, brandId, id, change);
  if (person.creatorId !== undefined) {
    await putOnRoster(work, rosterLimit, person.creatorId);
    if (old.approvedAt === null) work.emit('application.approved', applicationOf(row));
  }
  if (row.status !== old.status) {
    work.emit('application.status_changed', { ...applicationOf(row), previous_status: old.status });
  }
  work.audit({ resourceId: id, old, new: row });
  return row;
}

/** What a creator submits. Handles have no leading @. */
export interface Applying {
  email: string;
  name: string | null;
  photoApp: string | null;
  videoApp: string | null;
  message: string | null;
  portfolioUrls: string[];
}

/** The result of an application. Strangers do not learn whether an address has applied before. */
export type Reception = 'received' | 'closed';

/**
 * One application per campaign and e-mail address: the first stays until the address confirms another, because the
 * sender of a second one has not proved that the address is theirs.
 */
export async function receiveApplication(work: Work, campaignId: string, applying: Applying): Promise<Reception> {
  const { db, now, brandId } = work;
  if (!(await lockOpen(db, brandId, campaignId, now))) return 'closed';
  const { email, name, photoApp, videoApp, message, portfolioUrls } = applying;
  const claims = { creatorName: name, creatorPhotoApp: photoApp, creatorVideoApp: videoApp, message, portfolioUrls };
  const row = await insertApplication(db, {
    ...claims,
    id: newId('app', now.getTime()),
    brandId,
    campaignId,
    creatorId: null,
    creatorEmail: email,
    status: 'pending',
    note: null,
    appliedAt: now,
    updatedAt: null,
  });
  if (!row) {
    await askForProof(work, campaignId, email, claims);
    return 'received';
  }
  work.audit({ resourceId: row.id, old: null, new: row });
  work.emit('application.received', applicationOf(row));
  return 'received';
}
