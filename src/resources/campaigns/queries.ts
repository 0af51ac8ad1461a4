import type { Insertable, Selectable, Updateable } from 'kysely';
import { listing } from '../../engines/postgres/listing.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { lockOwn } from '../../engines/postgres/own.ts';
import type { CampaignStatus, CampaignsTable } from '../../engines/postgres/workflow-tables.ts';
import type { ListWindow } from '../../values/page.ts';
import { given } from '../../values/patch.ts';

export type CampaignRow = Selectable<CampaignsTable>;

/** The numbers of applicants and of accepted ones, counted from the applications. */
const withCounts = (db: Db, brandId: string) =>
  db
    .selectFrom('campaigns')
    .selectAll('campaigns')
    .select((eb) => {
      const applications = eb
        .selectFrom('applications')
        .where('applications.brandId', '=', brandId)
        .whereRef('applications.campaignId', '=', 'campaigns.id')
        .select(({ fn }) => fn.countAll<number>().as('count'));
      return [
        applications.$asScalar().$notNull().as('applicantCount'),
        applications.where('status', '=', 'accepted').$asScalar().$notNull().as('hiredCount'),
      ];
    });

export interface CampaignWhere extends ListWindow {
  status?: CampaignStatus | undefined;
}

export const campaigns = listing({
  noun: 'campaign',
  table: 'campaigns',
  time: 'createdAt',
  matching: (db, _brandId, { status }: CampaignWhere) =>
    db.selectFrom('campaigns').where((eb) => eb.and(given({ status }))),
  rows: withCounts,
});
export const { get: getCampaign } = campaigns;

export const lockCampaign = (db: Db, brandId: string, id: string): Promise<CampaignRow> =>
  lockOwn(db.selectFrom('campaigns').selectAll(), 'campaign', brandId, id);

export async function insertCampaign(db: Db, row: Insertable<CampaignsTable>): Promise<CampaignRow> {
  return await db.insertInto('campaigns').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function updateCampaign(
  db: Db,
  brandId: string,
  id: string,
  change: Updateable<CampaignsTable>,
): Promise<CampaignRow> {
  return await db
    .updateTable('campaigns')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Campaigns are never deleted, so an existing one stays. */
export async function hasCampaign(db: Db, brandId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('campaigns')
    .select('id')
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}
