import { given } from '../../api/patch.ts';
import type { Work } from '../../api/work.ts';
import { newId } from '../../values/ids.ts';
import { ensureCreator } from '../creators/actions.ts';
import { holdCircle } from '../creators/queries.ts';
import { putOnRoster } from '../roster/actions.ts';
import {
  type ApplicationRow,
  holdApplication,
  holdApplicationOf,
  holdOpen,
  insertApplication,
  updateApplication,
} from './queries.ts';
import { type ApplicationPatch, applicationOf } from './schema.ts';

/**
 * Changes an application. Entering accepted puts the creator on the roster, and the first time emits `application.approved`; when
 * `rosterLimit` forbids that, nothing is changed.
 */
export async function patchApplication(
  work: Work,
  id: string,
  { status, note }: ApplicationPatch,
  rosterLimit: number,
): Promise<ApplicationRow> {
  const { db, now, brandId } = work;
  if (status === 'accepted') await holdCircle(db, brandId);
  const old = await holdApplication(db, brandId, id);
  const approved = status === 'accepted' && old.approvedAt === null ? { approvedAt: now } : {};
  const row = await updateApplication(db, brandId, id, { ...given({ status, note }), ...approved, updatedAt: now });
  if (row.status === 'accepted' && old.status !== 'accepted') {
    await putOnRoster(work, rosterLimit, row.creatorId);
    if (old.approvedAt === null) work.emit('application.approved', applicationOf(row));
  }
  work.audit({ resourceId: id, old, new: row });
  return row;
}

/** What a creator sends. Handles are without a leading @. */
export interface Applying {
  email: string;
  name: string | null;
  photoApp: string | null;
  videoApp: string | null;
  message: string | null;
  portfolioUrls: string[];
}

/** What became of an application. */
export type Reception = 'received' | 'updated' | 'known' | 'closed';

/** One application per campaign and e-mail address: sent again it replaces the first, as long as nobody decided on it. */
export async function receiveApplication(work: Work, campaignId: string, applying: Applying): Promise<Reception> {
  const { db, now, brandId } = work;
  await holdCircle(db, brandId);
  if (!(await holdOpen(db, brandId, campaignId))) return 'closed';
  const { email, name, photoApp, videoApp, message, portfolioUrls } = applying;
  const old = await holdApplicationOf(db, brandId, campaignId, email);
  if (old && old.status !== 'pending') return 'known';
  const creatorId = await ensureCreator(work, { email, name, igHandle: photoApp, ttHandle: videoApp });
  const sent = { creatorName: name, creatorPhotoApp: photoApp, creatorVideoApp: videoApp, message, portfolioUrls };
  if (old) {
    const row = await updateApplication(db, brandId, old.id, { ...sent, updatedAt: now });
    work.audit({ resourceId: row.id, old, new: row });
    return 'updated';
  }
  const row = await insertApplication(db, {
    ...sent,
    id: newId('app', now.getTime()),
    brandId,
    campaignId,
    creatorId,
    creatorEmail: email,
    status: 'pending',
    note: null,
    appliedAt: now,
    updatedAt: null,
  });
  work.audit({ resourceId: row.id, old: null, new: row });
  work.emit('application.received', applicationOf(row));
  return 'received';
}
