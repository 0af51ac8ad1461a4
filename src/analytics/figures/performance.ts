import { z } from 'zod';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { idArray, idSet, integer, queryInTime } from '../../kit/engines/clickhouse/query.ts';
import type { Page } from '../../kit/values/page.ts';
import { IS_ANYTHING, SUMS, Sums, selectSource, type Window } from './sums.ts';

const PerformanceSums = Sums.extend({ link_id: z.string() });
export type PerformanceSums = z.output<typeof PerformanceSums>;

export interface PerformanceWhere extends Window {
  /** All ids that the creator has had. */
  creatorIds?: readonly string[] | undefined;
  linkIds?: readonly string[] | undefined;
  /** The row after which the list continues, identified by its key, because rows may appear or disappear in between. */
  after?: Pick<PerformanceSums, 'link_id' | 'currency'> | undefined;
}

const IS_AFTER = 'link_id <= {link:String} AND (link_id < {link:String} OR currency > {currency:String})';

/** One row per currency and link, or per currency and whatever `key` groups by. */
function performanceRows(
  brandId: string,
  { creatorIds, linkIds, after, ...window }: PerformanceWhere,
  key: { name: string; of: string } = { name: 'link_id', of: 'link_id' },
) {
  const { from, params } = selectSource(
    brandId,
    window,
    window.from === undefined && window.until === undefined ? 'link_life_v1' : 'link_daily_v1',
  );
  const conditions = [
    // Sums without a link are not listed.
    "link_id != ''",
    ...(creatorIds === undefined ? [] : [`creator_id IN ${idSet(creatorIds)}`]),
    ...(linkIds === undefined ? [] : ['link_id IN {links:Array(String)}']),
    ...(after === undefined ? [] : [IS_AFTER]),
  ];
  const where = `WHERE ${conditions.join(' AND ')}`;
  return {
    sql: `SELECT ${key.of} AS ${key.name}, currency, ${SUMS} FROM ${from} ${where}
      GROUP BY ${key.name}, currency HAVING ${IS_ANYTHING}`,
    params: {
      ...params,
      ...(linkIds === undefined ? {} : { links: [...linkIds] }),
      ...(after === undefined ? {} : { link: after.link_id, currency: after.currency }),
    },
  };
}

const NEWEST = 'link_id DESC, currency';
const ORDERS = { newest: NEWEST, revenue: `sales - refunds DESC, conversions DESC, clicks DESC, ${NEWEST}` } as const;

/** Sums per link and currency, newest link first by default. */
export async function listPerformance(
  clickhouse: ClickHouse,
  brandId: string,
  where: PerformanceWhere,
  { offset, limit, sort = 'newest' }: Pick<Page, 'offset' | 'limit'> & { sort?: keyof typeof ORDERS },
): Promise<PerformanceSums[]> {
  const rows = performanceRows(brandId, where);
  const sql = `${rows.sql} ORDER BY ${ORDERS[sort]} LIMIT {limit:UInt64} OFFSET {offset:UInt64}`;
  return await queryInTime(clickhouse, PerformanceSums, sql, { ...rows.params, limit, offset });
}

const PerformanceTotals = Sums.extend({ rows: integer });

/** Number of rows in the whole list, and their sums by currency. */
export async function totalPerformance(
  clickhouse: ClickHouse,
  brandId: string,
  where: PerformanceWhere,
): Promise<{ total: number; byCurrency: Sums[] }> {
  const rows = performanceRows(brandId, where);
  const sql = `SELECT currency, count() AS rows, ${SUMS} FROM (${rows.sql}) GROUP BY currency ORDER BY currency`;
  const totals = await queryInTime(clickhouse, PerformanceTotals, sql, rows.params);
  return {
    total: totals.reduce((sum, row) => sum + row.rows, 0),
    byCurrency: totals.map(({ rows: _rows, ...sums }) => sums),
  };
}

const GroupSums = Sums.extend({ place: z.string().transform((text) => (text === '' ? undefined : Number(text))) });

/**
 * Sums per currency and group of links, each with the index of its group, or undefined for links in no group. Sending the
 * ids to ClickHouse takes a fifth of the time of reading the sums of 100,000 links, and a tenth of this process's time.
 */
export async function sumGroups(
  clickhouse: ClickHouse,
  brandId: string,
  where: PerformanceWhere,
  groups: readonly (readonly string[])[],
) {
  const places = groups.flatMap((ids, place) => ids.map(() => String(place)));
  const of = `transform(link_id, ${idArray(groups.flat())}, ${idArray(places)}, '')`;
  const rows = performanceRows(brandId, where, { name: 'place', of });
  return await queryInTime(clickhouse, GroupSums, rows.sql, rows.params);
}
