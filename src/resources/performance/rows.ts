import { listPerformance, type PerformanceSums, type PerformanceWhere } from '../../figures/performance-queries.ts';
import { endOf, revenueOf, type Sums, startOf } from '../../figures/schema.ts';
import type { Context } from '../../operation/context.ts';
import { listAssignments, listCreatorIds } from './queries.ts';
import type { CampaignPerformanceFilter, PerformanceFilter, PerformanceRow } from './schema.ts';

const BATCH = 1_000;

export const balancesOf = (sums: Sums) => ({
  currency: sums.currency,
  clicks: sums.clicks,
  conversions: sums.conversions,
  revenue_minor: revenueOf(sums),
  commission_minor: { pending: sums.pending, approved: sums.approved, paid: sums.paid },
  refund_adjustment_minor: sums.refund_adjustment,
});

/** Undefined when no row can match, because the brand knows no creator with that address. */
export async function whereOf(
  { postgres }: Pick<Context, 'postgres'>,
  brandId: string,
  { creator_email, date_from, date_to, link_ids }: CampaignPerformanceFilter & Partial<PerformanceFilter>,
): Promise<PerformanceWhere | undefined> {
  const window = {
    from: date_from === undefined ? undefined : startOf(date_from),
    until: date_to === undefined ? undefined : endOf(date_to),
    linkIds: link_ids,
  };
  if (creator_email === undefined) return window;
  const creatorIds = await listCreatorIds(postgres.db, brandId, creator_email);
  return creatorIds.length === 0 ? undefined : { ...window, creatorIds };
}

/** Sums with their code or link. */
export async function rowsOf(
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
        ...{ type, value },
        ...balancesOf(sum),
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
  const where = await whereOf(context, brandId, filter);
  let after: PerformanceSums | undefined;
  while (where) {
    const sums = await listPerformance(context.clickhouse, brandId, { ...where, after }, { offset: 0, limit: BATCH });
    yield* await rowsOf(context, brandId, sums);
    if (sums.length < BATCH) return;
    after = sums.at(-1);
  }
}
