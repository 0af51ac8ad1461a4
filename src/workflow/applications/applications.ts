import { type Selectable, sql, type Updateable } from 'kysely';
import { COUNT, countRows, isFound } from '../../kit/engines/postgres/count.ts';
import type { ApplicationChangesTable, ApplicationsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../kit/engines/postgres/own.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Work } from '../../kit/operation/work.ts';
import { DAY_MS, HOUR_MS } from '../../kit/values/duration.ts';
import { ApiError, type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { mailPeople } from '../../platform/people/people.ts';
import { getCampaign, takesApplications } from '../campaigns/campaigns.ts';
import { type CreatorRow, changeCreator, ensureCreator, listMatching, lockBrandRoster } from '../creators/creators.ts';
import { findEntry, putOnRoster } from '../roster/roster.ts';
import { type ApplicationFilter, type ApplicationPatch, toApplication } from './applications.shapes.ts';

export type ApplicationRow = Selectable<ApplicationsTable>;

export const applications = listing({
  noun: 'application',
  table: 'applications',
  time: 'appliedAt',
  changed: ['appliedAt', 'updatedAt'],
  // The campaign's title.
  shown: [
    (brandId, after) => sql`select one.id from applications as one
      join campaigns as campaign on campaign.id = one.campaign_id and campaign.brand_id = one.brand_id
      where one.brand_id = ${brandId} and campaign.updated_at > ${after}`,
  ],
  matching: (db, _brandId, { status, campaign_id, creator_email }: Omit<ApplicationFilter, keyof Page>) =>
    db
      .selectFrom('applications')
      .where((eb) => eb.and(omitUndefined({ status, campaignId: campaign_id })))
      .$if(creator_email !== undefined, (query) =>
        query.where(sql`lower(creator_email)`, '=', sql`lower(${creator_email})`),
      ),
  rows: (db: Db) =>
    db
      .selectFrom('applications')
      .innerJoin('campaigns', 'campaigns.id', 'applications.campaignId')
      .selectAll('applications')
      .select('campaigns.title as campaignTitle'),
  // Ids are in the order of creation, and break the ties.
  ranks: {
    waiting: { at: sql`(applications.status = 'pending')::int`, of: ({ status }) => Number(status === 'pending') },
  },
});
export const { get: getApplication } = applications;

const lockApplication = (db: Db, brandId: string, id: string): Promise<ApplicationRow> =>
  lockOwn(db.selectFrom('applications').selectAll(), 'application', brandId, id);

const updateApplication = (db: Db, brandId: string, id: string, change: Updateable<ApplicationsTable>) =>
  updateOwn(db.updateTable('applications').set(change).returningAll(), brandId, id);

/** A campaign for its public page; drafts are not public. Found by id alone, because a visitor has no brand. */
export async function findPublicCampaign(db: Db, id: string) {
  return await db
    .selectFrom('campaigns')
    .innerJoin('brands', 'brands.id', 'campaigns.brandId')
    .select([
      'campaigns.id',
      'campaigns.brandId',
      'campaigns.title',
      'campaigns.status',
      'campaigns.deadline',
      'campaigns.description',
      'campaigns.compensationType',
      'campaigns.compensationAmountMinor',
      'campaigns.compensationRatePpm',
      'campaigns.compensationCurrency',
      'brands.name as brandName',
      'brands.logo as brandLogo',
      'brands.website as brandWebsite',
      'brands.timeZone',
    ])
    .where('campaigns.id', '=', id)
    .where('campaigns.status', '<>', 'draft')
    .executeTakeFirst();
}
export type PublicCampaign = NonNullable<Awaited<ReturnType<typeof findPublicCampaign>>>;

/** True if the campaign accepts applications now. The shared lock keeps it open until the transaction ends. */
async function lockOpen(db: Db, brandId: string, campaignId: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('campaigns')
    .innerJoin('brands', 'brands.id', 'campaigns.brandId')
    .select(['campaigns.status', 'campaigns.deadline', 'brands.timeZone'])
    .where('campaigns.brandId', '=', brandId)
    .where('campaigns.id', '=', campaignId)
    .forShare('campaigns')
    .executeTakeFirst();
  return row !== undefined && takesApplications(row, now);
}

/** A creator whom the brand may write to, with their email address. */
export interface Addressee {
  id: string;
  email: string;
  name: string | null;
}

/**
 * Finds the person that a brand may write to at this email address, ignoring case: a creator on its roster, or an
 * applicant of one of its campaigns. Undefined for strangers and for creators removed from the roster, even if they
 * once applied.
 */
export async function findAddressee(db: Db, brandId: string, email: string): Promise<Addressee | undefined> {
  const row = await db
    .selectFrom('creators as creator')
    .leftJoin('rosterEntries as entry', (join) =>
      join.onRef('entry.creatorId', '=', 'creator.id').onRef('entry.brandId', '=', 'creator.brandId'),
    )
    .select(['creator.id', 'creator.email', 'creator.name'])
    .where('creator.brandId', '=', brandId)
    .where(sql`lower(creator.email)`, '=', email.toLowerCase())
    .where((eb) =>
      eb.or([
        eb('entry.status', '<>', 'removed'),
        eb.and([
          eb('entry.status', 'is', null),
          eb.exists(
            eb
              .selectFrom('applications as application')
              .select('application.id')
              .where('application.brandId', '=', brandId)
              .whereRef('application.creatorId', '=', 'creator.id'),
          ),
        ]),
      ]),
    )
    .executeTakeFirst();
  return row && { id: row.id, email: row.email ?? email, name: row.name };
}

/** The problem with a field that names a person whom the brand may not write to. */
export const notOnRoster = (email: string, field = 'creator_email'): Problem => ({
  field,
  code: 'not_on_roster',
  message: `${email} is neither on the roster nor an applicant of a campaign; add them to the roster first.`,
});

/** Like `findAddressee`, but throws 422 not_on_roster for anyone else. */
export async function getAddressee(db: Db, brandId: string, email: string): Promise<Addressee> {
  const addressee = await findAddressee(db, brandId, email);
  if (!addressee) throw validationError([notOnRoster(email)]);
  return addressee;
}

export type ApplicationChangeRow = Selectable<ApplicationChangesTable>;

/**
 * The pending application of an address, ignoring case, locked until the transaction ends; undefined once it is
 * decided.
 */
export async function lockPending(
  db: Db,
  brandId: string,
  campaignId: string,
  email: string,
): Promise<ApplicationRow | undefined> {
  return await db
    .selectFrom('applications')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('campaignId', '=', campaignId)
    .where(sql`lower(creator_email)`, '=', email.toLowerCase())
    .where('status', '=', 'pending')
    .forUpdate()
    .executeTakeFirst();
}

/** A change and the facts that its page shows, found by id alone, because a visitor with the link has no brand. */
export async function findChange(db: Db, id: string) {
  return await db
    .selectFrom('applicationChanges as change')
    .innerJoin('applications as application', 'application.id', 'change.applicationId')
    .innerJoin('campaigns as campaign', 'campaign.id', 'application.campaignId')
    .selectAll('change')
    .select(['application.status', 'application.creatorEmail', 'campaign.title'])
    .where('change.id', '=', id)
    .executeTakeFirst();
}

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
  const person = enters ? { creatorId: await ensureApplicant(work, old) } : {};
  const approval = enters && old.approvedAt === null ? { approvedAt: now } : {};
  const change = { ...omitUndefined({ status, note }), ...person, ...approval, updatedAt: now };
  const row = await updateApplication(db, brandId, id, change);
  if (person.creatorId !== undefined) {
    await putOnRoster(work, rosterLimit, person.creatorId);
    if (old.approvedAt === null) work.emit('application.approved', toApplication(row));
  }
  if (row.status !== old.status) {
    work.emit('application.status_changed', { ...toApplication(row), previous_status: old.status });
    await mailDecision(work, row);
  }
  work.audit({ resourceId: id, old, new: row });
  return row;
}

/** Mails the applicant, once for each decision. */
async function mailDecision(work: Work, { id, campaignId, creatorId, creatorEmail: to, status }: ApplicationRow) {
  if (status !== 'accepted' && status !== 'rejected') return;
  const { title: campaign } = await getCampaign(work.db, work.brandId, campaignId);
  const kind = status === 'accepted' ? ('application_accepted' as const) : ('application_declined' as const);
  await queueMail(work, { kind, to, subjectRow: id, creatorId, params: { campaign } });
}

/** More applications to a campaign within an hour are one mail, so that strangers cannot flood the brand's mailboxes. */
const MAILED_PER_HOUR = 20;

/** Mails the brand's people. */
async function mailReceived(work: Work, { id, campaignId, creatorName, creatorEmail }: ApplicationRow) {
  const { title: campaign } = await getCampaign(work.db, work.brandId, campaignId);
  const since = new Date(work.now.getTime() - HOUR_MS);
  const recentCount = await countRows(
    work.db
      .selectFrom('applications')
      .select(COUNT)
      .where('brandId', '=', work.brandId)
      .where('campaignId', '=', campaignId)
      .where('appliedAt', '>', since),
  );
  const isFlood = recentCount > MAILED_PER_HOUR;
  await mailPeople(work, 'applications', {
    kind: 'application_received',
    subjectRow: isFlood ? `${campaignId}:${work.now.toISOString().slice(0, 13)}` : id,
    params: { application_id: id, creator: creatorName ?? creatorEmail, campaign },
  });
}

/** An application as the creator submits it. Handles have no leading @. */
export interface ApplicationInput {
  email: string;
  name: string | null;
  photoApp: string | null;
  videoApp: string | null;
  message: string | null;
  portfolioUrls: string[];
}

/** The result of an application. Strangers do not learn whether an address has applied before. */
export type ApplicationResult = 'received' | 'closed';

/**
 * One application per campaign and email address: the first stays until the address confirms another, because the
 * sender of a second one has not proved that the address is theirs.
 */
export async function receiveApplication(
  work: Work,
  campaignId: string,
  applying: ApplicationInput,
): Promise<ApplicationResult> {
  const { db, now, brandId } = work;
  if (!(await lockOpen(db, brandId, campaignId, now))) return 'closed';
  const { email, name, photoApp, videoApp, message, portfolioUrls } = applying;
  const claims = { creatorName: name, creatorPhotoApp: photoApp, creatorVideoApp: videoApp, message, portfolioUrls };
  // The insert does nothing if the address, ignoring case, has already applied to the campaign.
  const row = await db
    .insertInto('applications')
    .values({
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
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) {
    await askForProof(work, campaignId, email, claims);
    return 'received';
  }
  work.audit({ resourceId: row.id, old: null, new: row });
  work.emit('application.received', toApplication(row));
  await mailReceived(work, row);
  return 'received';
}

/** Prevents strangers from flooding a person's mailbox. */
const CHANGES_PER_DAY = 5;
/** Matches the life of links in mails. */
const KEPT_MS = 30 * DAY_MS;

type Claims = Pick<ApplicationRow, 'creatorName' | 'creatorPhotoApp' | 'creatorVideoApp' | 'message' | 'portfolioUrls'>;

/** The parts of an application's row that the applicant claims. */
const pickClaims = ({ creatorName, creatorPhotoApp, creatorVideoApp, message, portfolioUrls }: Claims): Claims => ({
  creatorName,
  creatorPhotoApp,
  creatorVideoApp,
  message,
  portfolioUrls,
});

/**
 * Someone applies again with the same address. The new details wait until the address confirms them by the link in a
 * mail. A decided application no longer changes.
 */
async function askForProof(work: Work, campaignId: string, email: string, claims: Claims): Promise<void> {
  const { db, now, brandId } = work;
  const application = await lockPending(db, brandId, campaignId, email);
  if (!application || JSON.stringify(pickClaims(application)) === JSON.stringify(claims)) return;
  const before = (ms: number) => new Date(now.getTime() - ms);
  const changesToday = await countRows(
    db
      .selectFrom('applicationChanges')
      .select(COUNT)
      .where('brandId', '=', brandId)
      .where('applicationId', '=', application.id)
      .where('createdAt', '>', before(DAY_MS)),
  );
  if (changesToday >= CHANGES_PER_DAY) return;
  // The links of older changes have expired.
  await db
    .deleteFrom('applicationChanges')
    .where('brandId', '=', brandId)
    .where('applicationId', '=', application.id)
    .where('createdAt', '<', before(KEPT_MS))
    .execute();
  const id = newId('apc', now.getTime());
  await db
    .insertInto('applicationChanges')
    .values({ ...claims, id, brandId, applicationId: application.id, confirmedAt: null, createdAt: now })
    .execute();
  const params = { change_id: id, campaign_id: campaignId };
  await queueMail(work, { kind: 'application_changed', to: application.creatorEmail, subjectRow: id, params });
}

export type ConfirmationResult = 'changed' | 'decided';

/** The address has confirmed the change, which takes effect once. */
export async function confirmChange(work: Work, change: ApplicationChangeRow): Promise<ConfirmationResult> {
  const { db, now, brandId } = work;
  const old = await lockApplication(db, brandId, change.applicationId);
  if (old.status !== 'pending') return 'decided';
  const isFirstConfirmation = await isFound(
    db
      .updateTable('applicationChanges')
      .set({ confirmedAt: now })
      .where('brandId', '=', brandId)
      .where('id', '=', change.id)
      .where('confirmedAt', 'is', null)
      .returning('id'),
  );
  if (!isFirstConfirmation) return 'changed';
  const row = await updateApplication(db, brandId, old.id, { ...pickClaims(change), updatedAt: now });
  work.audit({ resourceId: old.id, old, new: row });
  return 'changed';
}

const same = (a: string | null, b: string | null) => a !== null && a.toLowerCase() === b?.toLowerCase();

/** The application's claims that already belong to this creator. */
function describeClaims(application: ApplicationRow, { email, igHandle, ttHandle }: CreatorRow): string {
  const claims = [
    same(application.creatorEmail, email) ? `the email address ${email}` : undefined,
    same(application.creatorPhotoApp, igHandle) ? `the Instagram handle ${igHandle}` : undefined,
    same(application.creatorVideoApp, ttHandle) ? `the TikTok handle ${ttHandle}` : undefined,
  ];
  return claims.filter((claim) => claim !== undefined).join(' and ');
}

/** A creator without a roster entry is identified by the creator id. */
async function conflict(work: Work, application: ApplicationRow, owners: readonly CreatorRow[]): Promise<ApiError> {
  const ids: string[] = [];
  for (const { id } of owners) ids.push((await findEntry(work.db, work.brandId, id))?.id ?? id);
  const whose = owners.map((owner, i) => `${describeClaims(application, owner)} is of ${ids[i]}`).join(', ');
  const message = `The application's claims belong to different creators: ${whose}. Merge them first, with POST /v1/roster/{id}/merge.`;
  return new ApiError('CONFLICT', message, { facts: { existing_ids: ids } });
}

/**
 * The id of the creator that an accepted application belongs to; missing claims are added to the creator. Claims that
 * belong to different creators are a CONFLICT. A handle of a creator with another email address stays with that
 * creator.
 */
async function ensureApplicant(work: Work, application: ApplicationRow): Promise<string> {
  if (application.creatorId !== null) return application.creatorId;
  const { creatorEmail: email, creatorName: name, creatorPhotoApp: igHandle, creatorVideoApp: ttHandle } = application;
  const owners = await listMatching(work.db, work.brandId, { email, igHandle, ttHandle });
  if (owners.length > 1) throw await conflict(work, application, owners);
  const [owner] = owners;
  // Known only by a handle so far: accepting confirms that the address is theirs.
  if (owner && owner.email === null) await changeCreator(work, owner, { email });
  return await ensureCreator(work, { email, name, igHandle, ttHandle });
}
