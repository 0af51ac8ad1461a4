import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { validationError } from '../../kit/values/errors.ts';
import { formatCountry } from '../../kit/values/format.ts';
import { type Page, toPage, toPagination } from '../../kit/values/page.ts';
import { platformName } from '../../kit/values/platforms.ts';
import { listMerged } from '../../workflow/creators/creators.ts';
import {
  type BreakdownSums,
  type EventFilter,
  type Grouping,
  type LinkSet,
  listAllBreakdown,
  listBreakdown,
  listProductTitles,
  totalBreakdown,
} from '../figures/breakdown.ts';
import type { MergedCreators } from '../figures/totals.ts';
import {
  assertKnown,
  findStoreOfSource,
  labelInChunks,
  listCreatorNames,
  listLinkGroups,
  listNames,
} from '../labels.ts';
import { findPeriod, type Period, toEarlierPeriod } from '../periods.ts';
import { type DimensionFilter, NONE } from '../summary/summary.shapes.ts';
import type { BreakdownQuery, BreakdownRow } from './breakdown.shapes.ts';

type Engines = Pick<Context, 'postgres' | 'clickhouse' | 'clock'>;

/** Translates a filter's value to the value in events, which is empty for none. */
const toEventValue = (value: string | undefined) => (value === NONE ? '' : value);

async function toLinkSets(db: Db, brandId: string, filter: DimensionFilter): Promise<LinkSet[]> {
  const { campaign, platform, group, link } = filter;
  const sets: LinkSet[] = link === undefined ? [] : [{ ids: [toEventValue(link) ?? ''], isOutside: false }];
  for (const [column, value] of [
    ['links.campaignId', campaign] as const,
    ['links.platform', platform] as const,
    ['member.groupId', group] as const,
  ]) {
    if (value === undefined) continue;
    const groups = await listLinkGroups(db, brandId, column);
    const selection = value === NONE ? groups : groups.filter(({ key }) => key === value);
    sets.push({ ids: selection.flatMap(({ linkIds }) => linkIds), isOutside: value === NONE });
  }
  return sets;
}

/** A filter's id, unless it selects what has none. */
const toId = (value: string | undefined) => (value === NONE ? undefined : value);

/** The provider of a source, and its store if the source names one. */
async function toSourceFilter(db: Db, brandId: string, { source, store }: DimensionFilter) {
  if (!source?.includes(':')) return { source: toEventValue(source), store: toEventValue(store) };
  const id = await findStoreOfSource(db, brandId, source);
  const got = `got ${JSON.stringify(source)}.`;
  if (id === undefined) {
    throw validationError([{ field: 'source', code: 'not_found', message: `is not a store of this brand; ${got}` }]);
  }
  if (store !== undefined && store !== id) {
    throw validationError([
      { field: 'source', code: 'contradiction', message: `is not the store of \`store\`; ${got}` },
    ]);
  }
  return { source: source.split(':', 1)[0], store: id };
}

/** The events that the filters select. */
export async function toEventFilter(
  db: Db,
  brandId: string,
  mergedCreators: MergedCreators,
  filter: DimensionFilter,
): Promise<EventFilter> {
  const { country, device, referrer, creator, campaign, link, product, weekday, hour, click_kind } = filter;
  const isMerged = creator !== undefined && mergedCreators.has(creator);
  const ids = {
    creator: isMerged ? undefined : toId(creator),
    campaign: toId(campaign),
    link: toId(link),
    group: toId(filter.group),
  };
  await assertKnown(db, brandId, { ...ids, store: toId(filter.store) });
  return {
    country: toEventValue(country),
    device: toEventValue(device),
    referrer: toEventValue(referrer),
    kind: toEventValue(click_kind),
    ...(await toSourceFilter(db, brandId, filter)),
    product: toEventValue(product),
    utm_source: toEventValue(filter.utm_source),
    utm_medium: toEventValue(filter.utm_medium),
    utm_campaign: toEventValue(filter.utm_campaign),
    utm_term: toEventValue(filter.utm_term),
    utm_content: toEventValue(filter.utm_content),
    order_kind: toEventValue(filter.kind),
    hour: hour === undefined ? undefined : String(hour).padStart(2, '0'),
    weekday,
    // All ids that the creator has had.
    creatorIds:
      creator === undefined
        ? undefined
        : creator === NONE
          ? ['']
          : [creator, ...[...mergedCreators].flatMap(([oldId, id]) => (id === creator ? [oldId] : []))],
    links: await toLinkSets(db, brandId, filter),
  };
}

/** Translates `by` to the grouping of the figures. */
export async function toGrouping(
  db: Db,
  brandId: string,
  by: BreakdownQuery['by'],
  merged: MergedCreators,
): Promise<Grouping> {
  if (by === 'creator') return { of: 'creator', merged };
  if (by === 'campaign') return { of: 'groups', groups: await listLinkGroups(db, brandId, 'links.campaignId') };
  if (by === 'platform') return { of: 'groups', groups: await listLinkGroups(db, brandId, 'links.platform') };
  if (by === 'group') return { of: 'groups', groups: await listLinkGroups(db, brandId, 'member.groupId') };
  if (by === 'kind') return { of: 'order_kind' };
  return { of: by === 'click_kind' ? 'kind' : by };
}

const ORDER_KINDS: Readonly<Record<string, string>> = {
  once: 'One-time order',
  first: 'First order of a subscription',
  renewal: 'Renewal',
  upgrade: 'Change of plan',
  resubscribe: 'Subscribed again',
};
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** Labels of the keys that have no row in the database. */
const FIXED_LABELS: Partial<Record<BreakdownQuery['by'], (key: string) => string>> = {
  country: formatCountry,
  platform: platformName,
  weekday: (key) => WEEKDAYS[Number(key) - 1] ?? key,
  hour: (key) => `${key}:00`,
  kind: (key) => ORDER_KINDS[key] ?? key,
};

/** Looks up the labels of a breakdown's keys. */
export async function listLabels(
  db: Db,
  brandId: string,
  by: BreakdownQuery['by'],
  keys: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (by === 'creator') return await listCreatorNames(db, brandId, keys);
  if (by === 'link') return await listNames(db, brandId, 'links', keys);
  if (by === 'campaign') return await listNames(db, brandId, 'campaigns', keys);
  if (by === 'group') return await listNames(db, brandId, 'creatorGroups', keys);
  if (by === 'store') return await listNames(db, brandId, 'integrations', keys);
  const own = FIXED_LABELS[by];
  return new Map(keys.map((key) => [key, own ? own(key) : key]));
}

const ZERO_SUMS = { clicks: 0, visitors: 0, orders: 0, click_orders: 0, sales: 0, refunds: 0, commission: 0 };

function toFigures({ clicks, visitors, orders, click_orders, sales, refunds, commission }: typeof ZERO_SUMS) {
  const revenue = sales - refunds;
  return {
    clicks,
    visitors,
    orders,
    revenue_minor: revenue,
    refunds_minor: refunds,
    commission_minor: commission,
    conversion_rate: clicks === 0 ? null : Math.round((click_orders / clicks) * 10_000) / 100,
    aov_minor: orders === 0 ? null : Math.round(revenue / orders),
  };
}

/** A brand's breakdown, ready to be read in parts. */
interface BreakdownPlan {
  by: Grouping;
  only: EventFilter;
  period: Period;
  /** The period to compare with. */
  earlier: Period | undefined;
}

async function planBreakdown(
  { postgres: { db }, clock }: Engines,
  brandId: string,
  { by, compare, currency, ...query }: BreakdownQuery,
): Promise<BreakdownPlan> {
  const mergedCreators = await listMerged(db, brandId);
  const period = await findPeriod(db, brandId, query, clock.now());
  return {
    by: await toGrouping(db, brandId, by, mergedCreators),
    only: { ...(await toEventFilter(db, brandId, mergedCreators, query)), currency },
    period,
    earlier: compare && toEarlierPeriod(period, compare),
  };
}

const toRowKey = ({ group_key, currency }: Pick<BreakdownSums, 'group_key' | 'currency'>) => `${currency} ${group_key}`;

async function toRows(
  { postgres: { db }, clickhouse }: Engines,
  brandId: string,
  by: BreakdownQuery['by'],
  plan: BreakdownPlan,
  sums: readonly BreakdownSums[],
): Promise<BreakdownRow[]> {
  const { earlier, only } = plan;
  const keys = [...new Set(sums.map(({ group_key }) => group_key))];
  const knownKeys = keys.filter(Boolean);
  const [labels, before] = await Promise.all([
    by === 'product'
      ? listProductTitles(clickhouse, brandId, plan.period, knownKeys)
      : listLabels(db, brandId, by, knownKeys),
    earlier ? listAllBreakdown(clickhouse, brandId, plan.by, { ...earlier, only }, keys) : [],
  ]);
  const earlierSums = new Map(before.map((row) => [toRowKey(row), row]));
  return sums.map((row) => ({
    key: row.group_key || null,
    label: labels.get(row.group_key) ?? null,
    currency: row.currency,
    ...toFigures(row),
    previous: earlier ? toFigures(earlierSums.get(toRowKey(row)) ?? ZERO_SUMS) : null,
  }));
}

/** One page of a breakdown. */
export async function findBreakdown(context: Engines, brandId: string, query: BreakdownQuery) {
  const page: Page = toPage(query);
  const plan = await planBreakdown(context, brandId, query);
  const { by, only, period, earlier } = plan;
  const where = { ...period, only };
  const [sums, totals] = await Promise.all([
    listBreakdown(context.clickhouse, brandId, by, where, { ...page, sort: query.sort }),
    totalBreakdown(context.clickhouse, brandId, by, where),
  ]);
  return {
    data: await toRows(context, brandId, query.by, plan, sums),
    pagination: toPagination(page, totals.rows),
    meta: {
      period: period.shown,
      time_zone: period.timeZone,
      previous_period: earlier?.shown ?? null,
      coverage: {
        orders: totals.orders,
        by_click: totals.click_orders,
        by_code: totals.orders - totals.click_orders,
      },
    },
  };
}

/** More rows than any brand's breakdown has. */
const ALL = 1_000_000;
/** Every row in the list's order, as of one moment. */
export async function* eachBreakdownRow(
  context: Engines,
  brandId: string,
  query: BreakdownQuery,
): AsyncGenerator<BreakdownRow> {
  const plan = await planBreakdown(context, brandId, query);
  const where = { ...plan.period, only: plan.only };
  const part = { sort: query.sort, offset: 0, limit: ALL };
  const sums = await listBreakdown(context.clickhouse, brandId, plan.by, where, part);
  yield* labelInChunks(sums, (some) => toRows(context, brandId, query.by, plan, some));
}
