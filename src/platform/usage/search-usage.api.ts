import { z } from 'zod';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { integer, queryInTime } from '../../kit/engines/clickhouse/query.ts';
import { tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import { get } from '../../kit/operation/kit.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { toDay } from '../../kit/values/time-zone.ts';
import { CALLS_KEPT_MS } from '../requests/requests.ts';
import type { UsageWindow } from './usage.ts';

const count = (meaning: string, example: number) => z.number().int().describe(meaning).meta({ example });
const ms = (meaning: string, example: number) => z.number().nullable().describe(meaning).meta({ example });

const SearchUsageFilter = z.object({
  from: z.iso.date().describe('First UTC day of the searches; by default 13 days before `to`.').optional(),
  to: z.iso.date().describe('Last UTC day of the searches, inclusive; today by default.').optional(),
  key: z.string().max(100).describe('Only searches with the key of this id.').optional(),
});
export type SearchUsageFilter = z.output<typeof SearchUsageFilter>;

const SearchUsage = z
  .object({
    pages: count('Pages of creators that searches answered, look-ups included.', 420),
    walks: count('Walks that began.', 3),
    previews: count('Previews, which are free.', 96),
    empty: count('Pages and walks that found no creator.', 12),
    credits: count('Credits that these searches cost.', 4_230),
    previewed: count('Different searches that were previewed.', 40),
    previewed_then_searched: count('Of those, how many were searched or walked after their first preview.', 18),
    p50_ms: ms('Half of the pages took at most this many milliseconds; null without pages.', 9.2),
    p95_ms: ms('95% of the pages took at most this many milliseconds; null without pages.', 31.5),
    filters: z
      .array(
        z.object({
          filter: z.string().describe('Parameter of search.').meta({ example: 'city' }),
          searches: count('Pages, walks and previews that used it.', 300),
          empty: count('Of those, how many found no creator.', 4),
        }),
      )
      .describe('Filters that were used, most often first.'),
  })
  .meta({ id: 'SearchUsage' });
export type SearchUsage = z.input<typeof SearchUsage>;

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

const toMs = (micros: number | null | undefined) =>
  micros === null || micros === undefined ? null : Math.round(micros / 100) / 10;

/** Sums up the searches that were answered. */
async function readSearchUsage(
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
  return { ...counts, ...previewed, p50_ms: toMs(micros[0]), p95_ms: toMs(micros[1]), filters };
}

export const getSearchUsage = get({
  id: 'get_search_usage',
  path: '/v1/usage/searches',
  tag: 'Usage',
  summary: 'Get how the brand searches',
  description:
    'Which filters keys used, how many searches found nothing, how many previews became searches, and how long ' +
    'answers took, from ' +
    'the calls of the last 14 days (`GET /v1/requests`).',
  forAgents: { isListed: false },
  item: SearchUsage,
  query: SearchUsageFilter,
  errors: [],
  find: async ({ clickhouse, clock }, { caller, query }) => {
    const now = clock.now();
    const to = query.to ?? toDay(now);
    const until = new Date(Date.parse(to) + DAY_MS);
    const first = query.from ? Date.parse(query.from) : until.getTime() - CALLS_KEPT_MS;
    const from = new Date(Math.max(first, now.getTime() - CALLS_KEPT_MS));
    return await readSearchUsage(clickhouse, caller.brandId, { from, until, keyId: query.key });
  },
});
