import type { Insertable, Selectable, Updateable } from 'kysely';
import type { ListWindow, Page } from '../../api/page.ts';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { Db, Exports } from '../../engines/postgres/open.ts';
import { type Cut, cutTo, inOrder, inWindow, type Order } from '../../engines/postgres/window.ts';
import type { CampaignStatus, CampaignsTable } from '../../engines/postgres/workflow-tables.ts';
import { notFound } from '../../values/errors.ts';

export type CampaignRow = Selectable<CampaignsTable>;

/** How many applied and how many were accepted, counted on the applications themselves. */
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
    })
    .where('campaigns.brandId', '=', brandId);

export interface CampaignWhere extends ListWindow {
  status?: CampaignStatus | undefined;
}

/** What the filter finds, without an order. */
function matching(db: Db, brandId: string, { status, ...window }: CampaignWhere) {
  return db
    .selectFrom('campaigns')
    .where('campaigns.brandId', '=', brandId)
    .$if(status !== undefined, (query) => query.where('campaigns.status', '=', status ?? 'active'))
    .where(inWindow('campaigns.createdAt', window));
}

const orderOf = ({ sort }: CampaignWhere): Order => ({ time: 'campaigns.createdAt', id: 'campaigns.id', sort });

/** The ids first: PostgreSQL would count applications for every row that an offset skips. */
async function selectCampaigns(db: Db, brandId: string, where: CampaignWhere, cut: Cut) {
  const ids = cutTo(matching(db, brandId, where).select('campaigns.id'), orderOf(where), cut);
  return await inOrder(withCounts(db, brandId).where('campaigns.id', 'in', ids), orderOf(where)).execute();
}

export async function listCampaigns(db: Db, brandId: string, where: CampaignWhere, page: Page) {
  const { total } = await matching(db, brandId, where)
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows: await selectCampaigns(db, brandId, where, page), total };
}

/** Every campaign that the filter finds, in the list's order. */
export function eachCampaign(exports: Exports, brandId: string, where: CampaignWhere) {
  return inBatches<Awaited<ReturnType<typeof getCampaign>>>(exports, brandId, (trx, last, limit) =>
    selectCampaigns(trx, brandId, where, { limit, after: last && { at: last.createdAt, id: last.id } }),
  );
}

export async function getCampaign(db: Db, brandId: string, id: string) {
  const row = await withCounts(db, brandId).where('campaigns.id', '=', id).executeTakeFirst();
  if (!row) throw notFound('campaign');
  return row;
}

/** The row, locked until the transaction ends: a change that depends on what stands there cannot lose another's. */
export async function lockCampaign(db: Db, brandId: string, id: string): Promise<CampaignRow> {
  const row = await db
    .selectFrom('campaigns')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound('campaign');
  return row;
}

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

/** Campaigns are never erased, so what is there stays. */
export async function hasCampaign(db: Db, brandId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('campaigns')
    .select('id')
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}
