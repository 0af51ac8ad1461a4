import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { shownName } from '../../workflow/creators/creators.ts';
import { listPerformance, type PerformanceSums, type PerformanceWhere, sumGroups } from '../figures/performance.ts';
import { computeRevenue, type Sums, toEnd, toStart } from '../figures/sums.ts';
import type {
  CampaignPerformance,
  CampaignPerformanceFilter,
  PerformanceFilter,
  PerformanceRow,
} from './performance.shapes.ts';

/** Assignments by id, with their creators as the API shows them. */
async function listAssignments(db: Db, brandId: string, ids: readonly string[]) {
  const rows = await db
    .selectFrom('links')
    .innerJoin('creators', 'creators.id', 'links.creatorId')
    .select(['links.id', 'links.campaignId', 'links.type', 'links.value', 'creators.email as creatorEmail'])
    .select(shownName)
    .where('links.brandId', '=', brandId)
    .where('creators.brandId', '=', brandId)
    .where('links.id', '=', sql<string>`any(${ids})`)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Ids of the creator with this address in the figures: several once records were merged. */
async function listCreatorIds(db: Db, brandId: string, email: string): Promise<string[]> {
  const rows = await db
    .selectFrom('creators')
    .leftJoin('creatorMerges as merged', (join) =>
      join.onRef('merged.brandId', '=', 'creators.brandId').onRef('merged.creatorId', '=', 'creators.id'),
    )
    .select(['creators.id', 'merged.goneId'])
    .where('creators.brandId', '=', brandId)
    .where(sql`lower(email)`, '=', sql`lower(${email})`)
    .execute();
  return [...new Set(rows.flatMap(({ id, goneId }) => (goneId === null ? [id] : [id, goneId])))];
}

const BATCH = 1_000;

export const toBalances = (sums: Sums) => ({
  currency: sums.currency,
  clicks: sums.clicks,
  conversions: sums.conversions,
  revenue_minor: computeRevenue(sums),
  commission_minor: { pending: sums.pending, approved: sums.approved, paid: sums.paid },
  refund_adjustment_minor: sums.refund_adjustment,
});

/** Undefined when no row can match, because the brand knows no creator with that address. */
export async function toPerformanceFilter(
  { postgres }: Pick<Context, 'postgres'>,
  brandId: string,
  {
    creator_email,
    date_from,
    date_to,
    time_zone,
    link_ids,
  }: Omit<CampaignPerformanceFilter, 'campaign_id'> & Partial<PerformanceFilter>,
): Promise<PerformanceWhere | undefined> {
  const window = {
    from: date_from === undefined ? undefined : toStart(date_from, time_zone),
    until: date_to === undefined ? undefined : toEnd(date_to, time_zone),
    linkIds: link_ids,
  };
  if (creator_email === undefined) return window;
  const creatorIds = await listCreatorIds(postgres.db, brandId, creator_email);
  return creatorIds.length === 0 ? undefined : { ...window, creatorIds };
}

/** Sums with their code or link. */
export async function toRows(
  { postgres }: Pick<Context, 'postgres'>,
  brandId: string,
  sums: readonly PerformanceSums[],
): Promise<PerformanceRow[]> {
  const assignments = await listAssignments(postgres.db, brandId, [...new Set(sums.map(({ link_id }) => link_id))]);
  return sums.flatMap((sum) => {
    const link = assignments.get(sum.link_id);
    if (!link) return [];
    const { creatorEmail, creatorName, campaignId, type, value } = link;
    return [
      {
        link_id: sum.link_id,
        creator_email: creatorEmail,
        creator_name: creatorName,
        campaign_id: campaignId,
        type,
        value,
        ...toBalances(sum),
      },
    ];
  });
}

/** Every row, in the list's order, at most once. */
export async function* eachRow(
  context: Pick<Context, 'postgres' | 'clickhouse'>,
  brandId: string,
  filter: PerformanceFilter,
): AsyncGenerator<PerformanceRow> {
  const where = await toPerformanceFilter(context, brandId, filter);
  let after: PerformanceSums | undefined;
  while (where) {
    const sums = await listPerformance(context.clickhouse, brandId, { ...where, after }, { offset: 0, limit: BATCH });
    yield* await toRows(context, brandId, sums);
    if (sums.length < BATCH) return;
    after = sums.at(-1);
  }
}

type Engines = Pick<Context, 'postgres' | 'clickhouse'>;

interface CampaignSums extends Sums {
  campaignId: string | null;
  title: string | null;
}

const toKey = ({ campaignId, currency }: Pick<CampaignSums, 'campaignId' | 'currency'>) => `${campaignId} ${currency}`;

/**
 * Sums by campaign and currency; with `only`, of these campaigns and one sum of everything else. A link's campaign may
 * change, so only PostgreSQL knows it, not the figures.
 */
export async function sumByCampaign(
  { postgres, clickhouse }: Engines,
  brandId: string,
  where: PerformanceWhere,
  only?: readonly string[],
): Promise<CampaignSums[]> {
  // Campaigns with their current links, of all creators or of these.
  const campaigns = await postgres.db
    .selectFrom('links')
    .innerJoin('campaigns', (join) =>
      join.onRef('campaigns.id', '=', 'links.campaignId').onRef('campaigns.brandId', '=', 'links.brandId'),
    )
    .select(['campaigns.id', 'campaigns.title', sql<string[]>`array_agg(links.id)`.as('linkIds')])
    .where('links.brandId', '=', brandId)
    .$if(where.creatorIds !== undefined, (query) =>
      query.where('links.creatorId', '=', sql<string>`any(${where.creatorIds})`),
    )
    .$if(only !== undefined, (query) => query.where('links.campaignId', '=', sql<string>`any(${only})`))
    .groupBy('campaigns.id')
    .execute();
  const linkIds = campaigns.map((campaign) => campaign.linkIds);
  const sums = await sumGroups(clickhouse, brandId, where, linkIds);
  return sums.map(({ place, ...sum }): CampaignSums => {
    const { id = null, title = null } = campaigns[place ?? -1] ?? {};
    return { ...sum, campaignId: id, title };
  });
}

/** One row for each campaign and currency, the highest revenue first. */
export async function listByCampaign(
  context: Engines,
  brandId: string,
  filter: CampaignPerformanceFilter,
): Promise<CampaignPerformance[]> {
  const where = await toPerformanceFilter(context, brandId, filter);
  const sums = where ? await sumByCampaign(context, brandId, where) : [];
  const { campaign_id } = filter;
  const matching = sums.filter(({ campaignId }) => campaign_id === undefined || campaignId === campaign_id);
  // By revenue in minor units, whatever its currency, then by conversions and clicks.
  return matching
    .sort(
      (a: CampaignSums, b: CampaignSums): number =>
        computeRevenue(b) - computeRevenue(a) ||
        b.conversions - a.conversions ||
        b.clicks - a.clicks ||
        (toKey(a) < toKey(b) ? -1 : 1),
    )
    .map((sum) => ({
      campaign_id: sum.campaignId,
      campaign_title: sum.title,
      ...toBalances(sum),
    }));
}

export async function* eachByCampaign(context: Engines, brandId: string, filter: CampaignPerformanceFilter) {
  yield* await listByCampaign(context, brandId, filter);
}
