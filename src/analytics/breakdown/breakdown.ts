import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { type Page, toPage, toPagination } from '../../kit/values/page.ts';
import { platformName } from '../../kit/values/platforms.ts';
import { listMerged } from '../../workflow/creators/creators.ts';
import {
  type BreakdownSums,
  type By,
  type LinkSet,
  listBreakdown,
  listBreakdownOf,
  listProductTitles,
  type Only,
  totalBreakdown,
} from '../figures/breakdown.ts';
import type { Merged } from '../figures/totals.ts';
import { listLinkGroups, listNames, listNamesOf } from '../labels.ts';
import { earlierOf, type Period, periodOf } from '../periods.ts';
import { type DimensionFilter, NONE } from '../summary/summary.shapes.ts';
import type { BreakdownQuery, BreakdownRow } from './breakdown.shapes.ts';

type Engines = Pick<Context, 'postgres' | 'clickhouse' | 'clock'>;

/** A filter's value as events have it. */
const asEvent = (value: string | undefined) => (value === NONE ? '' : value);

async function linksOf(db: Db, brandId: string, { campaign, platform, link }: DimensionFilter): Promise<LinkSet[]> {
  const sets: LinkSet[] = link === undefined ? [] : [{ ids: [asEvent(link) ?? ''], isOutside: false }];
  for (const [column, value] of [['campaignId', campaign] as const, ['platform', platform] as const]) {
    if (value === undefined) continue;
    const groups = await listLinkGroups(db, brandId, column);
    const chosen = value === NONE ? groups : groups.filter(({ key }) => key === value);
    sets.push({ ids: chosen.flatMap(({ linkIds }) => linkIds), isOutside: value === NONE });
  }
  return sets;
}

/** All ids that the creator has had. */
const idsOf = (creator: string, merged: Merged) =>
  creator === NONE ? [''] : [creator, ...[...merged].flatMap(([gone, id]) => (id === creator ? [gone] : []))];

/** The events that the filters select. */
export async function onlyOf(db: Db, brandId: string, merged: Merged, filter: DimensionFilter): Promise<Only> {
  const { country, device, referrer, creator, store, source, product, weekday, hour, click_kind } = filter;
  return {
    country: asEvent(country),
    device: asEvent(device),
    referrer: asEvent(referrer),
    kind: asEvent(click_kind),
    store: asEvent(store),
    source: asEvent(source),
    product: asEvent(product),
    hour: hour === undefined ? undefined : String(hour).padStart(2, '0'),
    weekday,
    creatorIds: creator === undefined ? undefined : idsOf(creator, merged),
    links: await linksOf(db, brandId, filter),
  };
}

/** What the rows of a breakdown are grouped by. */
export async function byOf(db: Db, brandId: string, by: BreakdownQuery['by'], merged: Merged): Promise<By> {
  if (by === 'creator') return { of: 'creator', merged };
  if (by === 'campaign') return { of: 'groups', groups: await listLinkGroups(db, brandId, 'campaignId') };
  if (by === 'platform') return { of: 'groups', groups: await listLinkGroups(db, brandId, 'platform') };
  return { of: by === 'click_kind' ? 'kind' : by };
}

const countries = new Intl.DisplayNames('en', { type: 'region' });
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** What people call the keys that we name ourselves. */
const OWN_LABEL: Partial<Record<BreakdownQuery['by'], (key: string) => string>> = {
  country: (key) => countries.of(key) ?? key,
  platform: platformName,
  weekday: (key) => WEEKDAYS[Number(key) - 1] ?? key,
  hour: (key) => `${key}:00`,
};

/** What people call the keys of a breakdown. */
export async function labelsOf(
  db: Db,
  brandId: string,
  by: BreakdownQuery['by'],
  keys: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (by === 'creator') return await listNames(db, brandId, keys);
  if (by === 'link') return await listNamesOf(db, brandId, 'links', keys);
  if (by === 'campaign') return await listNamesOf(db, brandId, 'campaigns', keys);
  if (by === 'store') return await listNamesOf(db, brandId, 'integrations', keys);
  const own = OWN_LABEL[by];
  return new Map(keys.map((key) => [key, own ? own(key) : key]));
}

const NOTHING = { clicks: 0, visitors: 0, orders: 0, click_orders: 0, sales: 0, refunds: 0, commission: 0 };

function figuresOf({ clicks, visitors, orders, click_orders, sales, refunds, commission }: typeof NOTHING) {
  const revenue = sales - refunds;
  return {
    ...{ clicks, visitors, orders, revenue_minor: revenue, refunds_minor: refunds, commission_minor: commission },
    conversion_rate: clicks === 0 ? null : Math.round((click_orders / clicks) * 10_000) / 100,
    aov_minor: orders === 0 ? null : Math.round(revenue / orders),
  };
}

/** A brand's breakdown, ready to be read in parts. */
interface Prepared {
  by: By;
  only: Only;
  period: Period;
  /** The period to compare with. */
  earlier: Period | undefined;
}

async function prepare(
  { postgres: { db }, clock }: Engines,
  brandId: string,
  { by, compare, currency, ...query }: BreakdownQuery,
): Promise<Prepared> {
  const merged = await listMerged(db, brandId);
  const period = periodOf(query, clock.now());
  return {
    by: await byOf(db, brandId, by, merged),
    only: { ...(await onlyOf(db, brandId, merged, query)), currency },
    period,
    earlier: compare && earlierOf(period, compare),
  };
}

const rowKeyOf = ({ group_key, currency }: Pick<BreakdownSums, 'group_key' | 'currency'>) => `${currency} ${group_key}`;

async function rowsOf(
  { postgres: { db }, clickhouse }: Engines,
  brandId: string,
  by: BreakdownQuery['by'],
  prepared: Prepared,
  sums: readonly BreakdownSums[],
): Promise<BreakdownRow[]> {
  const { earlier, only } = prepared;
  const keys = [...new Set(sums.map(({ group_key }) => group_key))];
  const named = keys.filter(Boolean);
  const [labels, before] = await Promise.all([
    by === 'product'
      ? listProductTitles(clickhouse, brandId, prepared.period, named)
      : labelsOf(db, brandId, by, named),
    earlier ? listBreakdownOf(clickhouse, brandId, prepared.by, { ...earlier, only }, keys) : [],
  ]);
  const earlierSums = new Map(before.map((row) => [rowKeyOf(row), row]));
  return sums.map((row) => ({
    key: row.group_key || null,
    label: labels.get(row.group_key) ?? null,
    currency: row.currency,
    ...figuresOf(row),
    previous: earlier ? figuresOf(earlierSums.get(rowKeyOf(row)) ?? NOTHING) : null,
  }));
}

/** One page of a breakdown. */
export async function breakDown(context: Engines, brandId: string, query: BreakdownQuery) {
  const page: Page = toPage(query);
  const prepared = await prepare(context, brandId, query);
  const { by, only, period, earlier } = prepared;
  const where = { ...period, only };
  const [sums, totals] = await Promise.all([
    listBreakdown(context.clickhouse, brandId, by, where, { ...page, sort: query.sort }),
    totalBreakdown(context.clickhouse, brandId, by, where),
  ]);
  return {
    data: await rowsOf(context, brandId, query.by, prepared, sums),
    pagination: toPagination(page, totals.rows),
    meta: {
      period: period.shown,
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
const LABELLED_TOGETHER = 5_000;

/** Every row in the list's order, as of one moment. */
export async function* eachBreakdownRow(
  context: Engines,
  brandId: string,
  query: BreakdownQuery,
): AsyncGenerator<BreakdownRow> {
  const prepared = await prepare(context, brandId, query);
  const where = { ...prepared.period, only: prepared.only };
  const part = { sort: query.sort, offset: 0, limit: ALL };
  const sums = await listBreakdown(context.clickhouse, brandId, prepared.by, where, part);
  for (const some of toChunks(sums, LABELLED_TOGETHER)) yield* await rowsOf(context, brandId, query.by, prepared, some);
}
