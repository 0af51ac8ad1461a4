import { type PerformanceWhere, sumGroups } from '../../figures/performance-queries.ts';
import { revenueOf, type Sums } from '../../figures/schema.ts';
import type { Context } from '../../operation/context.ts';
import { listLinksByCampaign } from './queries.ts';
import { balancesOf, whereOf } from './rows.ts';
import type { CampaignPerformance, CampaignPerformanceFilter } from './schema.ts';

type Engines = Pick<Context, 'postgres' | 'clickhouse'>;

interface CampaignSums extends Sums {
  campaignId: string | null;
  title: string | null;
}

const keyOf = ({ campaignId, currency }: Pick<CampaignSums, 'campaignId' | 'currency'>) => `${campaignId} ${currency}`;

/** Sums by campaign and currency. A link's campaign may change, so only PostgreSQL knows it, not the figures. */
async function sumByCampaign({ postgres, clickhouse }: Engines, brandId: string, where: PerformanceWhere) {
  const campaigns = await listLinksByCampaign(postgres.db, brandId, where.creatorIds);
  const linkIds = campaigns.map((campaign) => campaign.linkIds);
  const sums = await sumGroups(clickhouse, brandId, where, linkIds);
  return sums.map(({ place, ...sum }): CampaignSums => {
    const { id = null, title = null } = campaigns[place ?? -1] ?? {};
    return { ...sum, campaignId: id, title };
  });
}

/** By revenue in minor units, whatever its currency, then by conversions and clicks. */
const inOrder = (a: CampaignSums, b: CampaignSums): number =>
  revenueOf(b) - revenueOf(a) || b.conversions - a.conversions || b.clicks - a.clicks || (keyOf(a) < keyOf(b) ? -1 : 1);

/** One row for each campaign and currency, the highest revenue first. */
export async function listByCampaign(
  context: Engines,
  brandId: string,
  filter: CampaignPerformanceFilter,
): Promise<CampaignPerformance[]> {
  const where = await whereOf(context, brandId, filter);
  const sums = where ? await sumByCampaign(context, brandId, where) : [];
  return sums.sort(inOrder).map((sum) => ({
    campaign_id: sum.campaignId,
    campaign_title: sum.title,
    ...balancesOf(sum),
  }));
}

export async function* eachByCampaign(context: Engines, brandId: string, filter: CampaignPerformanceFilter) {
  yield* await listByCampaign(context, brandId, filter);
}
