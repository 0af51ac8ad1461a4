import type { ClickHouse } from '../../../kit/engines/clickhouse/open.ts';
import { idSet, queryInTime } from '../../../kit/engines/clickhouse/query.ts';
import { SUMS } from '../columns.ts';
import { type CurrencyFigures, figuresOf, Sums } from '../schema.ts';

async function sumsWhere(
  clickhouse: ClickHouse,
  rollup: 'brand_daily_v1' | 'link_life_v1',
  condition: string,
  params: Record<string, string>,
): Promise<CurrencyFigures[]> {
  const sql = `SELECT currency, ${SUMS} FROM ${rollup} WHERE ${condition} GROUP BY currency ORDER BY currency`;
  return (await queryInTime(clickhouse, Sums, sql, params)).map(figuresOf);
}

const OF_BRAND = 'brand_id = {brand:String}';

/** The brand's lifetime figures, one row for each currency, without manual commissions, which have no link. */
export async function totalsOfBrand(clickhouse: ClickHouse, brandId: string): Promise<CurrencyFigures[]> {
  const [all, unlinked] = await Promise.all([
    sumsWhere(clickhouse, 'brand_daily_v1', OF_BRAND, { brand: brandId }),
    sumsWhere(clickhouse, 'link_life_v1', `${OF_BRAND} AND link_id = ''`, { brand: brandId }),
  ]);
  const own = new Map(unlinked.map(({ currency, commissionMinor }) => [currency, commissionMinor]));
  return all.map((row) => ({ ...row, commissionMinor: row.commissionMinor - (own.get(row.currency) ?? 0) }));
}

/** Like `totalsOfBrand`, for the brand's links from the first id to the last, both included. */
export async function totalsOfSpan(
  clickhouse: ClickHouse,
  brandId: string,
  span: { first: string; last: string },
): Promise<CurrencyFigures[]> {
  const condition = `${OF_BRAND} AND link_id BETWEEN {first:String} AND {last:String}`;
  return await sumsWhere(clickhouse, 'link_life_v1', condition, { brand: brandId, ...span });
}

/** Like `totalsOfBrand`, for the links with these ids. */
export async function totalsOfLinks(
  clickhouse: ClickHouse,
  brandId: string,
  ids: readonly string[],
): Promise<CurrencyFigures[]> {
  if (ids.length === 0) return [];
  const condition = `${OF_BRAND} AND link_id IN ${idSet(ids)}`;
  return await sumsWhere(clickhouse, 'link_life_v1', condition, { brand: brandId });
}
