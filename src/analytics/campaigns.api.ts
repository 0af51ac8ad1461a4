import type { Context } from '../kit/operation/context.ts';
import { read } from '../kit/operation/kit.ts';
import { noun } from '../kit/operation/noun.ts';
import { toChunks } from '../kit/values/chunks.ts';
import { fromMinor } from '../kit/values/decimals.ts';
import { ApiError } from '../kit/values/errors.ts';
import { toPage, toPagination } from '../kit/values/page.ts';
import { mapInBatches } from '../kit/values/wire.ts';
import { getBrandCurrency } from '../platform/brands/brands.ts';
import {
  Campaign,
  CampaignFilter,
  CampaignList,
  SOLD_FIGURES,
  type SoldFigure,
} from '../workflow/campaigns/campaigns.shapes.ts';
import { campaigns, type ListedCampaign, listCampaignsByIds, toCampaign } from '../workflow/campaigns/campaigns.ts';
import { withFreshness, withFreshRows } from './figures/freshness.ts';
import { type CurrencyFigures, FRESHNESS, toCurrencyFigures } from './figures/sums.ts';
import { sumByCampaign } from './performance/performance.ts';

type Engines = Pick<Context, 'postgres' | 'clickhouse'>;

/** The sales of campaigns by their ids; undefined while ClickHouse does not answer. */
type Results = ReadonlyMap<string | null, readonly CurrencyFigures[]> | undefined;

/** Reads what all campaigns sold, or only these: the same sums as on a campaign's own page. */
async function loadResults(context: Engines, brandId: string, only?: readonly string[]): Promise<Results> {
  const sums = await sumByCampaign(context, brandId, {}, only);
  const byCampaign = Map.groupBy(sums, ({ campaignId }) => campaignId);
  return new Map([...byCampaign].map(([id, ofCampaign]) => [id, ofCampaign.map(toCurrencyFigures)]));
}

const NOTHING = { conversions: null, revenueMinor: null, commissionMinor: null, others: [] };

/** A campaign's orders of all currencies, its money in the brand's currency, and its money in others. */
function findFigures(results: Results, id: string, currency: string) {
  if (results === undefined) return NOTHING;
  const figures = results.get(id) ?? [];
  const own = figures.find((one) => one.currency === currency);
  return {
    conversions: figures.reduce((sum, { conversions }) => sum + conversions, 0),
    revenueMinor: own?.revenueMinor ?? 0,
    commissionMinor: own?.commissionMinor ?? 0,
    others: figures.filter((one) => one !== own && (one.revenueMinor !== 0 || one.commissionMinor !== 0)),
  };
}

const toMajor = (minor: number | null, currency: string) => (minor === null ? null : fromMinor(minor, currency));

function toListed(row: ListedCampaign, results: Results, currency: string): Campaign {
  const { conversions, revenueMinor, commissionMinor, others } = findFigures(results, row.id, currency);
  return {
    ...toCampaign(row),
    conversions,
    revenue: toMajor(revenueMinor, currency),
    commission: toMajor(commissionMinor, currency),
    by_currency: others.map((one) => ({
      currency: one.currency,
      revenue: fromMinor(one.revenueMinor, one.currency),
      commission: fromMinor(one.commissionMinor, one.currency),
    })),
  };
}

const findSortFigure = (sort: string): SoldFigure | undefined => SOLD_FIGURES.find((figure) => figure === sort);

const listMatchingIds = async ({ postgres: { db } }: Engines, brandId: string, query: CampaignFilter) =>
  (await campaigns.found(db, brandId, query).select('campaigns.id').execute()).map(({ id }) => id);

/** The ids of all matching campaigns, those that sold most first. */
async function listSortedIds(
  context: Engines,
  brandId: string,
  query: CampaignFilter,
  { results, currency, figure }: { results: Results; currency: string; figure: SoldFigure },
): Promise<string[]> {
  const ranked = (await listMatchingIds(context, brandId, query)).map((id) => {
    const { conversions, revenueMinor, commissionMinor } = findFigures(results, id, currency);
    return { id, rank: { conversions, revenue: revenueMinor, commission: commissionMinor }[figure] ?? 0 };
  });
  return ranked.sort((a, b) => b.rank - a.rank || (a.id > b.id ? -1 : 1)).map(({ id }) => id);
}

async function sumUp(context: Engines, brandId: string, query: CampaignFilter, results: Results, currency: string) {
  const [sums, ids] = await Promise.all([
    campaigns.sumUp(context.postgres.db, brandId, query),
    listMatchingIds(context, brandId, query),
  ]);
  const figures = ids.map((id) => findFigures(results, id, currency));
  const sum = (name: 'conversions' | 'revenueMinor' | 'commissionMinor') =>
    results === undefined ? null : figures.reduce((total, one) => total + (one[name] ?? 0), 0);
  return sums.map((one) => ({
    ...one.sums,
    currency: one.currency,
    count: one.count,
    conversions: sum('conversions'),
    revenue: toMajor(sum('revenueMinor'), currency),
    commission: toMajor(sum('commissionMinor'), currency),
  }));
}

type LoadResults = (only?: readonly string[]) => Promise<Results>;

async function listPage(context: Engines, brandId: string, query: CampaignFilter, load: LoadResults) {
  const { db } = context.postgres;
  const [page, figure] = [toPage(query), findSortFigure(query.sort)];
  const [currency, all] = await Promise.all([
    getBrandCurrency(db, brandId),
    figure !== undefined || query.totals ? load() : undefined,
  ]);
  const readPage = async () => {
    if (figure === undefined) return await campaigns.list(db, brandId, query, page);
    const ids = await listSortedIds(context, brandId, query, { results: all, currency, figure });
    const idsOfPage = ids.slice(page.offset, page.offset + page.limit);
    return { rows: await listCampaignsByIds(db, brandId, idsOfPage), total: ids.length };
  };
  const [{ rows, total }, totals] = await Promise.all([
    readPage(),
    query.totals ? sumUp(context, brandId, query, all, currency) : undefined,
  ]);
  const results = all ?? (await load(rows.map(({ id }) => id)));
  return {
    data: rows.map((row) => toListed(row, results, currency)),
    pagination: toPagination(page, total),
    ...(totals ? { totals } : {}),
  };
}

const AT_ONCE = 1_000;

/** Streams all matching campaigns. What they sold is read before the first row, because the rows then hold a connection. */
async function* eachCampaign(context: Context, brandId: string, query: CampaignFilter): AsyncGenerator<Campaign> {
  const { db, exports } = context.postgres;
  const [results, currency] = await Promise.all([loadResults(context, brandId), getBrandCurrency(db, brandId)]);
  const show = async (rows: readonly ListedCampaign[]) => rows.map((row) => toListed(row, results, currency));
  const figure = findSortFigure(query.sort);
  if (figure === undefined) {
    yield* mapInBatches(campaigns.each(exports, brandId, query), show);
    return;
  }
  const ids = await listSortedIds(context, brandId, query, { results, currency, figure });
  for (const some of toChunks(ids, AT_ONCE)) yield* await show(await listCampaignsByIds(db, brandId, some));
}

const listCampaigns = read({
  id: 'list_campaigns',
  path: '/v1/campaigns',
  tag: 'Campaigns',
  summary: 'List campaigns',
  description: `Newest first. ${FRESHNESS}`,
  forAgents: { description: 'Newest first.', omits: ['search', 'totals'] },
  query: CampaignFilter,
  response: CampaignList,
  handler: async (context, call) => {
    const { caller, query } = call;
    try {
      return await withFreshness(context, call, () =>
        listPage(context, caller.brandId, query, (only) => loadResults(context, caller.brandId, only)),
      );
    } catch (error) {
      // Without ClickHouse the campaigns are still listed, unless the order is by a figure.
      const isWithoutFigures = error instanceof ApiError && error.engine === 'ClickHouse';
      if (!isWithoutFigures || findSortFigure(query.sort) !== undefined) throw error;
      return await listPage(context, caller.brandId, query, async () => undefined);
    }
  },
  csv: {
    item: Campaign,
    rows: (context, call) => withFreshRows(context, call, eachCampaign(context, call.caller.brandId, call.query)),
  },
});

export const campaignListNoun = noun({ name: 'campaign-list', operations: [listCampaigns] });
