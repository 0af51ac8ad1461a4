import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { listing } from '../../engines/postgres/listing.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { lockOwn } from '../../engines/postgres/own.ts';
import type { ApplicationStatus, ApplicationsTable } from '../../engines/postgres/workflow-tables.ts';
import type { ListWindow } from '../../values/page.ts';
import { given } from '../../values/patch.ts';
import { takesApplications } from '../campaigns/policy.ts';

export type ApplicationRow = Selectable<ApplicationsTable>;

export interface ApplicationWhere extends ListWindow {
  status?: ApplicationStatus | undefined;
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

export async function updateApplication(
  db: Db,
  brandId: string,
  id: string,
  change: Updateable<ApplicationsTable>,
): Promise<ApplicationRow> {
  return await db
    .updateTable('applications')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

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
    .select(['status', 'deadline'])
    .where('brandId', '=', brandId)
    .where('id', '=', campaignId)
    .forShare()
    .executeTakeFirst();
  return row !== undefined && takesApplications(row, now);
}
