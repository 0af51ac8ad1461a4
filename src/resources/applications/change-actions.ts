import { queueMail } from '../../mail/queue.ts';
import type { Work } from '../../operation/work.ts';
import { DAY_MS } from '../../values/duration.ts';
import { newId } from '../../values/ids.ts';
import {
  type ApplicationChangeRow,
  confirmOnce,
  countChanges,
  deleteOldChanges,
  insertChange,
  lockPending,
} from './change-queries.ts';
import { type ApplicationRow, lockApplication, updateApplication } from './queries.ts';

/** Prevents strangers from flooding a person's mailbox. */
const CHANGES_PER_DAY = 5;
/** As long as links in mails work. */
const KEPT_MS = 30 * DAY_MS;

type Claims = Pick<ApplicationRow, 'creatorName' | 'creatorPhotoApp' | 'creatorVideoApp' | 'message' | 'portfolioUrls'>;

/** The parts of an application's row that the applicant claims. */
const claimsOf = ({ creatorName, creatorPhotoApp, creatorVideoApp, message, portfolioUrls }: Claims): Claims => ({
  ...{ creatorName, creatorPhotoApp, creatorVideoApp, message, portfolioUrls },
});

/**
 * Someone applies again with the same address. The new details wait until the address confirms them by the link in a
 * mail. A decided application no longer changes.
 */
export async function askForProof(work: Work, campaignId: string, email: string, claims: Claims): Promise<void> {
  const { db, now, brandId } = work;
  const application = await lockPending(db, brandId, campaignId, email);
  if (!application || JSON.stringify(claimsOf(application)) === JSON.stringify(claims)) return;
  const before = (ms: number) => new Date(now.getTime() - ms);
  if ((await countChanges(db, brandId, application.id, before(DAY_MS))) >= CHANGES_PER_DAY) return;
  await deleteOldChanges(db, brandId, application.id, before(KEPT_MS));
  const id = newId('apc', now.getTime());
  await insertChange(db, { ...claims, id, brandId, applicationId: application.id, confirmedAt: null, createdAt: now });
  const params = { change_id: id, campaign_id: campaignId };
  await queueMail(work, { kind: 'application_changed', to: application.creatorEmail, subjectRow: id, params });
}

export type Confirmation = 'changed' | 'decided';

/** The address has confirmed the change, which takes effect once. */
export async function confirmChange(work: Work, change: ApplicationChangeRow): Promise<Confirmation> {
  const { db, now, brandId } = work;
  const old = await lockApplication(db, brandId, change.applicationId);
  if (old.status !== 'pending') return 'decided';
  if (!(await confirmOnce(db, brandId, change.id, now))) return 'changed';
  const row = await updateApplication(db, brandId, old.id, { ...claimsOf(change), updatedAt: now });
  work.audit({ resourceId: old.id, old, new: row });
  return 'changed';
}
