import type { Insertable, Selectable, Updateable } from 'kysely';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { CampaignsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../kit/engines/postgres/own.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { given } from '../../kit/values/patch.ts';
import { patternOf } from '../creators/queries.ts';

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
  status?: CampaignsTable['status'] | undefined;
  search?: string | undefined;
}

export const campaigns = listing({
  noun: 'campaign',
  table: 'campaigns',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, { status, search }: CampaignWhere) =>
    db
      .selectFrom('campaigns')
      .where((eb) => eb.and(given({ status })))
      .$if(search !== undefined, (query) => query.where('title', 'ilike', patternOf(search ?? ''))),
  rows: withCounts,
});
export const { get: getCampaign } = campaigns;

export const lockCampaign = (db: Db, brandId: string, id: string): Promise<CampaignRow> =>
  lockOwn(db.selectFrom('campaigns').selectAll(), 'campaign', brandId, id);

export async function insertCampaign(db: Db, row: Insertable<CampaignsTable>): Promise<CampaignRow> {
  return await db.insertInto('campaigns').values(row).returningAll().executeTakeFirstOrThrow();
}

export const updateCampaign = (db: Db, brandId: string, id: string, change: Updateable<CampaignsTable>) =>
  updateOwn(db.updateTable('campaigns').set(change).returningAll(), brandId, id);

/** Campaigns are never deleted, so an existing one stays. */
export const hasCampaign = (db: Db, brandId: string, id: string): Promise<boolean> =>
  isFound(db.selectFrom('campaigns').select('id').where('brandId', '=', brandId).where('id', '=', id));
