import type { Context } from '../../api/context.ts';
import { listPerformance, type PerformanceSums, type PerformanceWhere } from '../../figures/queries.ts';
import { revenueOf, type Sums } from '../../figures/schema.ts';
import { listCampaignsOf } from './queries.ts';
import { balancesOf, whereOf } from './rows.ts';
import type { CampaignPerformance, CampaignPerformanceFilter } from './schema.ts';

/** Links whose campaign is looked up at once; one statement of either engine for so many. */
const BATCH = 20_000;

type Engines = Pick<Context, 'postgres' | 'clickhouse'>;

interface CampaignSums extends Sums {
  campaignId: string | null;
  title: string | null;
}

const keyOf = ({ campaignId, currency }: Pick<CampaignSums, 'campaignId' | 'currency'>) => `${campaignId} ${currency}`;

function added(one: CampaignSums, other: Sums): CampaignSums {
  return {
    ...one,
    clicks: one.clicks + other.clicks,
    conversions: one.conversions + other.conversions,
    sales: one.sales + other.sales,
    refunds: one.refunds + other.refunds,
    pending: one.pending + other.pending,
    approved: one.approved + other.approved,
    paid: one.paid + other.paid,
    refund_adjustment: one.refund_adjustment + other.refund_adjustment,
  };
}

/**
 * Sums a campaign and currency. Which campaign a link is of is PostgreSQL's to say, and may change, so figures do not
 * hold it: they are read a link, and only of links with any.
 */
async function sumByCampaign({ postgres, clickhouse }: Engines, brandId: string, where: PerformanceWhere) {
  const found = new Map<string, CampaignSums>();
  let after: PerformanceSums | undefined;
  for (;;) {
    const sums = await listPerformance(clickhouse, brandId, { ...where, after }, { offset: 0, limit: BATCH });
    const campaigns = await listCampaignsOf(postgres.db, brandId, [...new Set(sums.map(({ link_id }) => link_id))]);
    for (const { link_id, ...sum } of sums) {
      const { campaignId = null, title = null } = campaigns.get(link_id) ?? {};
      const key = keyOf({ campaignId, ...sum });
      const own = found.get(key);
      found.set(key, own ? added(own, sum) : { ...sum, campaignId, title });
    }
    if (sums.length < BATCH) return [...found.values()];
    after = sums.at(-1);
  }
}

/** By revenue, whatever its currency, then conversions and clicks. */
const inOrder = (a: CampaignSums, b: CampaignSums): number =>
  revenueOf(b) - revenueOf(a) || b.conversions - a.conversions || b.clicks - a.clicks || (keyOf(a) < keyOf(b) ? -1 : 1);

/** What each campaign brought, a row a currency, the one that sold most first. */
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
