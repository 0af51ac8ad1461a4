import { z } from 'zod';
import type { ClickHouse } from '../../../kit/engines/clickhouse/open.ts';
import { idSet, integer, readBack } from '../../../kit/engines/clickhouse/query.ts';
import { tsvTime } from '../../../kit/engines/clickhouse/tsv.ts';
import { clickedAtOf } from '../../../kit/values/click-token.ts';
import { postedRows } from '../columns.ts';
import type { Range } from '../sync/queries.ts';

/** A click that won an order. */
export interface WonClick {
  brandId: string;
  linkId: string;
  clickId: string;
}

const Click = z.object({
  click_id: z.string(),
  kind: z.string(),
  country: z.string(),
  device: z.string(),
  referrer_host: z.string(),
});
export type Click = z.output<typeof Click>;

const dayOf = (at: Date) => tsvTime(at).slice(0, 10);

/** The clicks that ClickHouse has, by id. Brand, day and link are the key of their table. */
export async function findClicks(clickhouse: ClickHouse, clicks: readonly WonClick[]): Promise<Map<string, Click>> {
  if (clicks.length === 0) return new Map();
  const setOf = (value: (click: WonClick) => string) => idSet([...new Set(clicks.map(value))]);
  const rows = await readBack(
    clickhouse,
    Click,
    `SELECT click_id, kind, country, device, referrer_host FROM clicks_v1
    WHERE brand_id IN ${setOf(({ brandId }) => brandId)}
      AND toDate(at) IN (SELECT toDate(arrayJoin(splitByChar(',', {days:String}))))
      AND link_id IN ${setOf(({ linkId }) => linkId)} AND click_id IN ${setOf(({ clickId }) => clickId)}`,
    { days: [...new Set(clicks.map(({ clickId }) => dayOf(clickedAtOf(clickId))))].join(',') },
  );
  return new Map(rows.map((row) => [row.click_id, row]));
}

/** The entries up to a position, without those in `left`. */
const upTo = (left: readonly Range[]) =>
  `seq <= {position:UInt64} ${left.map(({ from, to }) => `AND NOT (seq BETWEEN ${from} AND ${to})`).join(' ')}`;

const Count = z.object({ count: integer });

async function countOf(clickhouse: ClickHouse, sql: string, params: { brand: string; position: number }) {
  const [found] = await readBack(clickhouse, Count, `SELECT count() AS count FROM (${sql})`, params);
  return found?.count ?? 0;
}

const SUMMED = ['orders', 'sales', 'refunds', 'commission'] as const;

/** Days of a link on which the table of orders differs from the postings. */
export async function countUnlikePostings(
  clickhouse: ClickHouse,
  brandId: string,
  position: number,
  left: readonly Range[],
): Promise<number> {
  const inside = `brand_id = {brand:String} AND ${upTo(left)}`;
  const keys = 'day, link_id, creator_id, currency';
  const sql = `SELECT ${keys} FROM (
    SELECT ${keys}, toInt64(conversions) AS orders, sales, refunds, pending + approved + paid + refund_adjustment AS commission
    FROM (${postedRows(inside)})
    UNION ALL SELECT toDate(at) AS day, link_id, creator_id, currency, -toInt64(orders) AS orders, -sales AS sales,
      -refunds AS refunds, -commission AS commission
    FROM order_figures_v1 WHERE ${inside}
  ) GROUP BY ${keys} HAVING ${SUMMED.map((column) => `sum(${column}) != 0`).join(' OR ')}`;
  return await countOf(clickhouse, sql, { brand: brandId, position });
}

/** Rows of orders that have other facts than their click. */
export async function countUnlikeClicks(
  clickhouse: ClickHouse,
  brandId: string,
  position: number,
  left: readonly Range[],
): Promise<number> {
  const won = `(SELECT click_id, kind, country, device, referrer_host FROM order_figures_v1
    WHERE brand_id = {brand:String} AND click_id != '' AND ${upTo(left)})`;
  const sql = `SELECT 1 FROM ${won} AS won INNER JOIN (
      SELECT click_id, toString(kind) AS kind, country, device, referrer_host FROM clicks_v1
      WHERE brand_id = {brand:String} AND click_id IN (SELECT click_id FROM ${won})
    ) AS click ON click.click_id = won.click_id
    WHERE (toString(won.kind), won.country, won.device, won.referrer_host)
      != (click.kind, click.country, click.device, click.referrer_host)`;
  return await countOf(clickhouse, sql, { brand: brandId, position });
}

/** The store and the click of a sale as one text; ledger/queries.ts builds the same text. */
const FACTS = "concatWithSeparator('|', toString(seq), store_id, source, click_id)";

const SaleFacts = z.object({ sales: integer, fingerprint: z.string() });

/** How many sales the table of orders has, and the sum of the hashes of their facts. */
export async function findSaleFacts(
  clickhouse: ClickHouse,
  brandId: string,
  position: number,
  left: readonly Range[],
): Promise<z.output<typeof SaleFacts>> {
  const [found] = await readBack(
    clickhouse,
    SaleFacts,
    `SELECT count() AS sales, toString(sum(reinterpretAsUInt32(reverse(substring(MD5(${FACTS}), 1, 4))))) AS fingerprint
    FROM order_figures_v1 WHERE brand_id = {brand:String} AND orders = 1 AND ${upTo(left)}`,
    { brand: brandId, position },
  );
  return found ?? { sales: 0, fingerprint: '0' };
}
