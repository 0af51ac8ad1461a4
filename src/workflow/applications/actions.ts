import { queueMail } from '../../kit/mail/queue.ts';
import type { Work } from '../../kit/operation/work.ts';
import { DAY_MS, HOUR_MS } from '../../kit/values/duration.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { given } from '../../kit/values/patch.ts';
import { mailPeople } from '../../platform/people/actions.ts';
import { getCampaign } from '../campaigns/queries.ts';
import { changeCreator, ensureCreator } from '../creators/actions.ts';
import { type CreatorRow, listMatching, lockBrandRoster } from '../creators/queries.ts';
import { putOnRoster } from '../roster/actions.ts';
import { findEntry } from '../roster/queries.ts';
import {
  type ApplicationChangeRow,
  type ApplicationRow,
  confirmOnce,
  countChanges,
  countSince,
  deleteOldChanges,
  insertApplication,
  insertChange,
  lockApplication,
  lockOpen,
  lockPending,
  updateApplication,
} from './queries.ts';
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
    await mailDecision(work, row);
  }
  work.audit({ resourceId: id, old, new: row });
  return row;
}

/** To the applicant, once for each decision. */
async function mailDecision(work: Work, { id, campaignId, creatorId, creatorEmail: to, status }: ApplicationRow) {
  if (status !== 'accepted' && status !== 'rejected') return;
  const { title: campaign } = await getCampaign(work.db, work.brandId, campaignId);
  const kind = status === 'accepted' ? ('application_accepted' as const) : ('application_declined' as const);
  await queueMail(work, { kind, to, subjectRow: id, creatorId, params: { campaign } });
}

/** More applications to a campaign within an hour are one mail, so that strangers cannot flood the brand's mailboxes. */
const MAILED_PER_HOUR = 20;

/** To the brand's people. */
async function mailReceived(work: Work, { id, campaignId, creatorName, creatorEmail }: ApplicationRow) {
  const { title: campaign } = await getCampaign(work.db, work.brandId, campaignId);
  const since = new Date(work.now.getTime() - HOUR_MS);
  const isFlood = (await countSince(work.db, work.brandId, campaignId, since)) > MAILED_PER_HOUR;
  await mailPeople(work, 'applications', {
    kind: 'application_received',
    subjectRow: isFlood ? `${campaignId}:${work.now.toISOString().slice(0, 13)}` : id,
    params: { application_id: id, creator: creatorName ?? creatorEmail, campaign },
  });
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
  await mailReceived(work, row);
  return 'received';
}

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
async function askForProof(work: Work, campaignId: string, email: string, claims: Claims): Promise<void> {
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

const same = (a: string | null, b: string | null) => a !== null && a.toLowerCase() === b?.toLowerCase();

/** The application's claims that already belong to this creator. */
function claimedOf(application: ApplicationRow, { email, igHandle, ttHandle }: CreatorRow): string {
  const claims = [
    same(application.creatorEmail, email) ? `the e-mail address ${email}` : undefined,
    same(application.creatorPhotoApp, igHandle) ? `the Instagram handle ${igHandle}` : undefined,
    same(application.creatorVideoApp, ttHandle) ? `the TikTok handle ${ttHandle}` : undefined,
  ];
  return claims.filter((claim) => claim !== undefined).join(' and ');
}

/** A creator without a roster entry is identified by the creator id. */
async function conflict(work: Work, application: ApplicationRow, owners: readonly CreatorRow[]): Promise<ApiError> {
  const ids: string[] = [];
  for (const { id } of owners) ids.push((await findEntry(work.db, work.brandId, id))?.id ?? id);
  const whose = owners.map((owner, i) => `${claimedOf(application, owner)} is of ${ids[i]}`).join(', ');
  const message = `The application's claims belong to different creators: ${whose}. Merge them first, with POST /v1/roster/{id}/merge.`;
  return new ApiError('CONFLICT', message, { facts: { existing_ids: ids } });
}

/**
 * The id of the creator that an accepted application belongs to; missing claims are added to the creator. Claims that
 * belong to different creators are a CONFLICT. A handle of a creator with another e-mail address stays with that
 * creator.
 */
async function personOf(work: Work, application: ApplicationRow): Promise<string> {
  if (application.creatorId !== null) return application.creatorId;
  const { creatorEmail: email, creatorName: name, creatorPhotoApp: igHandle, creatorVideoApp: ttHandle } = application;
  const owners = await listMatching(work.db, work.brandId, { email, igHandle, ttHandle });
  if (owners.length > 1) throw await conflict(work, application, owners);
  const [owner] = owners;
  // Known only by a handle so far: accepting confirms that the address is theirs.
  if (owner && owner.email === null) await changeCreator(work, owner, { email });
  return await ensureCreator(work, { email, name, igHandle, ttHandle });
}
