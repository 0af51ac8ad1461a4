import type { Insertable, Selectable, Updateable } from 'kysely';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { inWindow, isAfter } from '../../engines/postgres/window.ts';
import type { CampaignStatus, CampaignsTable } from '../../engines/postgres/workflow-tables.ts';
import { notFound } from '../../errors.ts';
import type { ListWindow, Page } from '../../page.ts';

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
      return [applications.as('applicantCount'), applications.where('status', '=', 'accepted').as('hiredCount')];
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

const directionOf = ({ sort }: CampaignWhere) => (sort === 'oldest' ? 'asc' : 'desc');

export async function listCampaigns(db: Db, brandId: string, where: CampaignWhere, page: Page) {
  const found = matching(db, brandId, where);
  const { total } = await found.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  // The page's ids first: PostgreSQL would count applications for every row that an offset skips.
  const ids = found
    .select('campaigns.id')
    .orderBy('campaigns.createdAt', directionOf(where))
    .orderBy('campaigns.id', directionOf(where))
    .offset(page.offset)
    .limit(page.limit);
  const rows = await withCounts(db, brandId)
    .where('campaigns.id', 'in', ids)
    .orderBy('campaigns.createdAt', directionOf(where))
    .orderBy('campaigns.id', directionOf(where))
    .execute();
  return { rows, total };
}

/** Every campaign that the filter finds, in the list's order. */
export function eachCampaign(db: Db, brandId: string, where: CampaignWhere) {
  const { status, ...window } = where;
  return inBatches<Awaited<ReturnType<typeof getCampaign>>>(db, (trx, last, limit) =>
    withCounts(trx, brandId)
      .$if(status !== undefined, (query) => query.where('campaigns.status', '=', status ?? 'active'))
      .where(inWindow('campaigns.createdAt', window))
      .where(isAfter('campaigns.createdAt', 'campaigns.id', last && { at: last.createdAt, id: last.id }, where.sort))
      .orderBy('campaigns.createdAt', directionOf(where))
      .orderBy('campaigns.id', directionOf(where))
      .limit(limit)
      .execute(),
  );
}

export async function getCampaign(db: Db, brandId: string, id: string) {
  const row = await withCounts(db, brandId).where('campaigns.id', '=', id).executeTakeFirst();
  if (!row) throw notFound('campaign');
  return row;
}

/** The row, held until the transaction ends: a change that depends on what stands there cannot lose another's. */
export async function holdCampaign(db: Db, brandId: string, id: string): Promise<CampaignRow> {
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
