import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { COUNT, countOf, isFound } from '../../kit/engines/postgres/count.ts';
import type { ApplicationChangesTable, ApplicationsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../kit/engines/postgres/own.ts';
import { type Problem, validationError } from '../../kit/values/errors.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { given } from '../../kit/values/patch.ts';
import { takesApplications } from '../campaigns/policy.ts';

export type ApplicationRow = Selectable<ApplicationsTable>;

export interface ApplicationWhere extends ListWindow {
  status?: ApplicationsTable['status'] | undefined;
  campaign_id?: string | undefined;
  creator_email?: string | undefined;
}

const withTitle = (db: Db) =>
  db
    .selectFrom('applications')
    .innerJoin('campaigns', 'campaigns.id', 'applications.campaignId')
    .selectAll('applications')
    .select('campaigns.title as campaignTitle');

export const applications = listing({
  noun: 'application',
  table: 'applications',
  time: 'appliedAt',
  changed: ['appliedAt', 'updatedAt'],
  matching: (db, _brandId, { status, campaign_id, creator_email }: ApplicationWhere) =>
    db
      .selectFrom('applications')
      .where((eb) => eb.and(given({ status, campaignId: campaign_id })))
      .$if(creator_email !== undefined, (query) =>
        query.where(sql`lower(creator_email)`, '=', sql`lower(${creator_email})`),
      ),
  rows: withTitle,
});
export const { get: getApplication } = applications;

export const lockApplication = (db: Db, brandId: string, id: string): Promise<ApplicationRow> =>
  lockOwn(db.selectFrom('applications').selectAll(), 'application', brandId, id);

/** Undefined if the address, ignoring case, has already applied to the campaign. */
export async function insertApplication(
  db: Db,
  row: Insertable<ApplicationsTable>,
): Promise<ApplicationRow | undefined> {
  return await db
    .insertInto('applications')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** How many applied to the campaign since a time. */
export const countSince = (db: Db, brandId: string, campaignId: string, since: Date): Promise<number> =>
  countOf(
    db
      .selectFrom('applications')
      .select(COUNT)
      .where('brandId', '=', brandId)
      .where('campaignId', '=', campaignId)
      .where('appliedAt', '>', since),
  );

export const updateApplication = (db: Db, brandId: string, id: string, change: Updateable<ApplicationsTable>) =>
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
      'brands.timeZone',
    ])
    .where('campaigns.id', '=', id)
    .where('campaigns.status', '<>', 'draft')
    .executeTakeFirst();
}
export type PublicCampaign = NonNullable<Awaited<ReturnType<typeof findPublicCampaign>>>;

/** Whether the campaign accepts applications now; it cannot be closed before the transaction ends. */
export async function lockOpen(db: Db, brandId: string, campaignId: string, now: Date): Promise<boolean> {
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

/** A creator whom the brand may write to, with their e-mail address. */
export interface Addressee {
  id: string;
  email: string;
  name: string | null;
}

/**
 * Finds whom a brand may write to at this e-mail address, ignoring case: a creator on its roster, or an applicant of
 * one of its campaigns. Undefined for strangers and for creators removed from the roster, even if they once applied.
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

/** How many changes of an application were requested since then. */
export const countChanges = (db: Db, brandId: string, applicationId: string, since: Date): Promise<number> =>
  countOf(
    db
      .selectFrom('applicationChanges')
      .select(COUNT)
      .where('brandId', '=', brandId)
      .where('applicationId', '=', applicationId)
      .where('createdAt', '>', since),
  );

export async function insertChange(db: Db, row: Insertable<ApplicationChangesTable>): Promise<void> {
  await db.insertInto('applicationChanges').values(row).execute();
}

/** Deletes changes whose links have expired. */
export async function deleteOldChanges(db: Db, brandId: string, applicationId: string, before: Date): Promise<void> {
  await db
    .deleteFrom('applicationChanges')
    .where('brandId', '=', brandId)
    .where('applicationId', '=', applicationId)
    .where('createdAt', '<', before)
    .execute();
}

/** The change with what its page shows, found by id alone, because a visitor with the link has no brand. */
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

/** False if it was confirmed before. */
export const confirmOnce = (db: Db, brandId: string, id: string, now: Date): Promise<boolean> =>
  isFound(
    db
      .updateTable('applicationChanges')
      .set({ confirmedAt: now })
      .where('brandId', '=', brandId)
      .where('id', '=', id)
      .where('confirmedAt', 'is', null)
      .returning('id'),
  );
