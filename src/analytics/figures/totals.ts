import { z } from 'zod';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { idArray, idSet, integer, queryInTime } from '../../kit/engines/clickhouse/query.ts';
import {
  type CurrencyFigures,
  type LinkFigures,
  SUMS,
  Sums,
  selectSource,
  toCurrencyFigures,
  type Window,
} from './sums.ts';

async function querySums(
  clickhouse: ClickHouse,
  rollup: 'brand_daily_v1' | 'link_life_v1',
  condition: string,
  params: Record<string, string>,
): Promise<CurrencyFigures[]> {
  const sql = `SELECT currency, ${SUMS} FROM ${rollup} WHERE ${condition} GROUP BY currency ORDER BY currency`;
  return (await queryInTime(clickhouse, Sums, sql, params)).map(toCurrencyFigures);
}

const OF_BRAND = 'brand_id = {brand:String}';

/** The brand's lifetime figures, one row for each currency, without manual commissions, which have no link. */
export async function sumBrand(clickhouse: ClickHouse, brandId: string): Promise<CurrencyFigures[]> {
  const [all, unlinkedSums] = await Promise.all([
    querySums(clickhouse, 'brand_daily_v1', OF_BRAND, { brand: brandId }),
    querySums(clickhouse, 'link_life_v1', `${OF_BRAND} AND link_id = ''`, { brand: brandId }),
  ]);
  const own = new Map(unlinkedSums.map(({ currency, commissionMinor }) => [currency, commissionMinor]));
  return all.map((row) => ({ ...row, commissionMinor: row.commissionMinor - (own.get(row.currency) ?? 0) }));
}

/** Like `sumBrand`, for the brand's links from the first id to the last, both included. */
export async function sumLinkSpan(
  clickhouse: ClickHouse,
  brandId: string,
  span: { first: string; last: string },
): Promise<CurrencyFigures[]> {
  const condition = `${OF_BRAND} AND link_id BETWEEN {first:String} AND {last:String}`;
  return await querySums(clickhouse, 'link_life_v1', condition, { brand: brandId, ...span });
}

/** Like `sumBrand`, for the links with these ids. */
export async function sumLinks(
  clickhouse: ClickHouse,
  brandId: string,
  ids: readonly string[],
): Promise<CurrencyFigures[]> {
  if (ids.length === 0) return [];
  const condition = `${OF_BRAND} AND link_id IN ${idSet(ids)}`;
  return await querySums(clickhouse, 'link_life_v1', condition, { brand: brandId });
}

const LinkSums = Sums.extend({ link_id: z.string() });
const CreatorSums = Sums.extend({ owner_id: z.string() });

/** Merged creators: maps the id in the figures to the current id. */
export type MergedCreators = ReadonlyMap<string, string>;

/** The current creator of a row. Almost no brand has merged creators; then it is just the column. */
export const toOwnerColumn = (merged: MergedCreators, column = 'creator_id'): string =>
  merged.size === 0
    ? column
    : `transform(${column}, ${idArray([...merged.keys()])}, ${idArray([...merged.values()])}, ${column})`;

/** Lifetime figures of each link; zeros for a link without any yet. */
export async function listLinkFigures(
  clickhouse: ClickHouse,
  brandId: string,
  links: readonly { id: string; currency: string }[],
): Promise<Map<string, LinkFigures>> {
  if (links.length === 0) return new Map();
  const rows = await queryInTime(
    clickhouse,
    LinkSums,
    `SELECT link_id, currency, ${SUMS} FROM link_life_v1
    WHERE brand_id = {brand:String} AND link_id IN ${idSet(links.map(({ id }) => id))}
    GROUP BY link_id, currency ORDER BY link_id, currency`,
    { brand: brandId },
  );
  const byLink = Map.groupBy(rows, ({ link_id }) => link_id);
  return new Map(
    links.map(({ id, currency }) => [id, linkFigures((byLink.get(id) ?? []).map(toCurrencyFigures), currency)]),
  );
}

const RANKED = {
  clicks: 'sum(clicks)',
  conversions: 'sum(conversions)',
  revenue: 'sum(sales) - sum(refunds)',
} as const;
export type RankedFigure = keyof typeof RANKED;

const LinkRank = z.object({ link_id: z.string(), in_currency: z.string(), figure: integer });
type LinkRank = z.output<typeof LinkRank>;

/** One lifetime figure of each link that has it: revenue by currency, counts under an empty currency. */
export async function listLinkRanks(clickhouse: ClickHouse, brandId: string, by: RankedFigure): Promise<LinkRank[]> {
  return await queryInTime(
    clickhouse,
    LinkRank,
    `SELECT link_id, ${by === 'revenue' ? 'currency' : "''"} AS in_currency, ${RANKED[by]} AS figure FROM link_life_v1
    WHERE brand_id = {brand:String} AND link_id != '' GROUP BY link_id, in_currency HAVING figure != 0`,
    { brand: brandId },
  );
}

function linkFigures(figures: readonly CurrencyFigures[], currency: string): LinkFigures {
  const own = figures.find((one) => one.currency === currency);
  return {
    clicks: figures.reduce((sum, { clicks }) => sum + clicks, 0),
    conversions: figures.reduce((sum, { conversions }) => sum + conversions, 0),
    revenueMinor: own?.revenueMinor ?? 0,
    commissionMinor: own?.commissionMinor ?? 0,
    others: figures.filter((one) => one !== own),
  };
}

/** Lifetime figures of creators, one row for each currency; no row for a creator without any. */
export async function listCreatorFigures(
  clickhouse: ClickHouse,
  brandId: string,
  creatorIds: readonly string[],
  merged: MergedCreators,
): Promise<Map<string, CurrencyFigures[]>> {
  if (creatorIds.length === 0) return new Map();
  const rows = await queryInTime(
    clickhouse,
    CreatorSums,
    `SELECT ${toOwnerColumn(merged)} AS owner_id, currency, ${SUMS} FROM link_life_v1
    WHERE brand_id = {brand:String} AND owner_id IN ${idSet(creatorIds)}
    GROUP BY owner_id, currency ORDER BY owner_id, currency`,
    { brand: brandId },
  );
  const byOwner = Map.groupBy(rows, ({ owner_id }) => owner_id);
  return new Map([...byOwner].map(([id, sums]) => [id, sums.map(toCurrencyFigures)]));
}

const DaySums = Sums.extend({ day: z.string() });

/** Sums per day and currency, in order. */
export async function listDays(clickhouse: ClickHouse, brandId: string, window: Window) {
  const { from, params } = selectSource(brandId, window, 'brand_daily_v1', { byDay: true });
  const sql = `SELECT day, currency, ${SUMS} FROM ${from} GROUP BY day, currency ORDER BY day, currency`;
  return await queryInTime(clickhouse, DaySums, sql, params);
}

/** Sums per creator and currency. */
export async function listCreatorSums(clickhouse: ClickHouse, brandId: string, window: Window, merged: MergedCreators) {
  const { from, params } = selectSource(brandId, window, 'link_daily_v1');
  const sql = `SELECT ${toOwnerColumn(merged)} AS owner_id, currency, ${SUMS} FROM ${from} GROUP BY owner_id, currency ORDER BY owner_id, currency`;
  return await queryInTime(clickhouse, CreatorSums, sql, params);
}
