import { z } from 'zod';
import type { ClickHouse } from '../../../kit/engines/clickhouse/open.ts';
import { integer, queryInTime } from '../../../kit/engines/clickhouse/query.ts';
import { tsvTime } from '../../../kit/engines/clickhouse/tsv.ts';
import type { UsageWindow } from '../queries.ts';
import type { SearchUsage } from './schema.ts';

const Sums = z.object({
  pages: integer,
  walks: integer,
  previews: integer,
  empty: integer,
  credits: integer,
  micros: z.array(z.number().nullable()),
});
const Previewed = z.object({ previewed: integer, previewed_then_searched: integer });
const Filters = z.object({ filter: z.string(), searches: integer, empty: integer });

const msOf = (micros: number | null | undefined) =>
  micros === null || micros === undefined ? null : Math.round(micros / 100) / 10;

/** How the brand searched, from the searches that were answered. */
export async function readSearchUsage(
  clickhouse: ClickHouse,
  brandId: string,
  { from, until, keyId }: UsageWindow,
): Promise<SearchUsage> {
  const params = { brand: brandId, from: tsvTime(from), until: tsvTime(until), key: keyId ?? '' };
  const searches = `requests_v1 WHERE brand_id = {brand:String} AND at >= {from:DateTime64(3, 'UTC')}
    AND at < {until:DateTime64(3, 'UTC')} AND search != '' AND status = 200
    ${keyId === undefined ? '' : 'AND key_id = {key:String}'}`;
  const [[sums], [previewed], filters] = await Promise.all([
    queryInTime(
      clickhouse,
      Sums,
      `SELECT countIf(search IN ('page', 'look_up')) AS pages, countIf(search = 'walk') AS walks,
         countIf(search = 'preview') AS previews, countIf(search != 'preview' AND results = 0) AS empty,
         sum(credits) AS credits,
         arrayMap(x -> if(isNaN(x), NULL, x), quantilesIf(0.5, 0.95)(micros, search IN ('page', 'look_up'))) AS micros
       FROM ${searches}`,
      params,
    ),
    queryInTime(
      clickhouse,
      Previewed,
      `SELECT count() AS previewed, countIf(searched_at >= previewed_at) AS previewed_then_searched FROM (
         SELECT minIf(at, search = 'preview') AS previewed_at, maxIf(at, search != 'preview') AS searched_at
         FROM ${searches} GROUP BY fingerprint HAVING countIf(search = 'preview') > 0
       )`,
      params,
    ),
    queryInTime(
      clickhouse,
      Filters,
      `SELECT filter, count() AS searches, countIf(results = 0) AS empty
       FROM (SELECT arrayJoin(filters) AS filter, results FROM ${searches})
       GROUP BY filter ORDER BY searches DESC, filter`,
      params,
    ),
  ]);
  if (!sums || !previewed) throw new Error('ClickHouse answered an aggregation without a row.');
  const { micros, ...counts } = sums;
  return { ...counts, ...previewed, p50_ms: msOf(micros[0]), p95_ms: msOf(micros[1]), filters };
}
