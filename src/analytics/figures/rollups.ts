import { z } from 'zod';
import { quorumSettings } from '../../kit/engines/clickhouse/insert.ts';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import {
  command,
  idTuple,
  integer,
  query,
  queryInTime,
  READ_BACK,
  readBack,
} from '../../kit/engines/clickhouse/query.ts';
import { tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import { clickDimensions, DIMENSION_KEYS, dimensionDifference } from './dimensions.ts';
import { COLUMNS, rawRows } from './sums.ts';
import type { Range } from './sync.ts';

const KEYS = 'day, link_id, creator_id, currency';

const sumColumns = (sign: '' | '-') =>
  COLUMNS.map((column) => `${sign}toInt64(sum(${column})) AS ${column}`).join(', ');

/** Combines both queries as rows of the keys, the second one negated: keys whose sum is not zero differ. */
const difference = (keys: string, one: string, other: string) =>
  `SELECT ${keys}, ${COLUMNS.map((column) => `sum(${column}) AS d_${column}`).join(', ')} FROM (
    SELECT ${keys}, ${sumColumns('')} FROM ${one} GROUP BY ${keys}
    UNION ALL SELECT ${keys}, ${sumColumns('-')} FROM ${other} GROUP BY ${keys}
  ) GROUP BY ${keys} HAVING ${COLUMNS.map((column) => `d_${column} != 0`).join(' OR ')}`;

const ofBrand = (table: string) => `(SELECT * FROM ${table} WHERE brand_id = {brand:String})`;

const Count = z.object({ count: integer });

/** Rollups of the brand that differ from the sums of their source, with the number of differing rows. */
export async function listBrokenRollups(clickhouse: ClickHouse, brandId: string) {
  const daily = ofBrand('link_daily_v1');
  const comparisons = [
    ['link_daily_v1', difference(KEYS, rawRows('brand_id = {brand:String}'), daily)],
    ['link_life_v1', difference('link_id, creator_id, currency', daily, ofBrand('link_life_v1'))],
    ['brand_daily_v1', difference('day, currency', daily, ofBrand('brand_daily_v1'))],
    ['dimension_daily_v1', dimensionDifference('brand_id = {brand:String}')],
  ] as const;
  const brokenRollups: { table: string; rows: number }[] = [];
  for (const [table, sql] of comparisons) {
    const [row] = await readBack(clickhouse, Count, `SELECT count() AS count FROM (${sql})`, { brand: brandId });
    if (row && row.count > 0) brokenRollups.push({ table, rows: row.count });
  }
  return brokenRollups;
}

/** Sums are text, because they can be larger than JavaScript's safe integers and must still be comparable. */
export const AccountSum = z.object({
  account: z.string(),
  currency: z.string(),
  amount: z.string(),
  postings: integer,
  /** The sum of the hashes of all postings. Postings that only swap links, creators, entries or times change it. */
  fingerprint: z.string(),
});
export type AccountSum = z.output<typeof AccountSum>;

/** All facts of a posting that figures depend on, as one text; affiliates/ledger/ledger.ts builds the same text. */
const POSTING = `concatWithSeparator('|', toString(seq), toString(line), kind, account, toString(amount_minor), currency,
  link_id, creator_id, toString(at))`;

/** The postings that ClickHouse has of the brand's entries up to `position`, except those in `exceptions`. */
export async function listAccountSums(
  clickhouse: ClickHouse,
  brandId: string,
  position: number,
  exceptions: readonly Range[],
): Promise<AccountSum[]> {
  const without = exceptions.map(({ from, to }) => `AND NOT (seq BETWEEN ${from} AND ${to})`).join(' ');
  return await readBack(
    clickhouse,
    AccountSum,
    `SELECT account, currency, toString(sum(amount_minor)) AS amount, count() AS postings,
      toString(sum(reinterpretAsUInt32(reverse(substring(MD5(${POSTING}), 1, 4))))) AS fingerprint
    FROM (SELECT * FROM ledger_v1 WHERE brand_id = {brand:String} AND seq <= {position:UInt64} ${without})
    GROUP BY account, currency ORDER BY account, currency`,
    { brand: brandId, position },
  );
}

/** Brands with any rows in ClickHouse. */
export async function listBrands(clickhouse: ClickHouse): Promise<string[]> {
  const Row = z.object({ brand_id: z.string() });
  const rows = await query(
    clickhouse,
    Row,
    `SELECT DISTINCT brand_id FROM (SELECT brand_id FROM clicks_v1 UNION ALL SELECT brand_id FROM ledger_v1
      UNION ALL SELECT brand_id FROM link_daily_v1) ORDER BY brand_id`,
  );
  return rows.map(({ brand_id }) => brand_id);
}

/** The last ledger entry of each brand. */
export async function listLastSeqs(clickhouse: ClickHouse): Promise<{ brandId: string; seq: number }[]> {
  const Row = z.object({ brand_id: z.string(), seq: integer });
  const rows = await readBack(clickhouse, Row, 'SELECT brand_id, max(seq) AS seq FROM ledger_v1 GROUP BY brand_id');
  return rows.map(({ brand_id: brandId, seq }) => ({ brandId, seq }));
}

/** Lists the brands that have a row that was stored twice since the sequence number. */
export async function listDoubled(
  clickhouse: ClickHouse,
  table: 'ledger_v1' | 'order_figures_v1',
  brandIds: readonly string[],
  from: number,
): Promise<string[]> {
  const Row = z.object({ brand_id: z.string() });
  const sql = `SELECT brand_id FROM ${table} WHERE brand_id IN ${idTuple(brandIds)} AND seq >= {from:UInt64}
    GROUP BY brand_id HAVING count() != uniqExact(seq, line)`;
  return (await readBack(clickhouse, Row, sql, { from })).map(({ brand_id }) => brand_id);
}

/** Deletes the brand's clicks up to a time. The rollups keep them until the brand is rebuilt. */
export const deleteClicks = (clickhouse: ClickHouse, brandId: string, until: Date): Promise<void> =>
  command(
    clickhouse,
    "DELETE FROM clicks_v1 WHERE brand_id = {brand:String} AND at <= toDateTime64({until:String}, 3, 'UTC')",
    {
      brand: brandId,
      until: tsvTime(until),
    },
  );

const FOLDED = [
  'ledger_v1',
  'link_daily_v1',
  'link_life_v1',
  'brand_daily_v1',
  'order_figures_v1',
  'dimension_daily_v1',
  'customer_orders_v1',
  'customer_days_v1',
];

/** Deletes everything of the brands that can be rebuilt. Their clicks stay. */
export async function deleteFolded(clickhouse: ClickHouse, brandIds: readonly string[]): Promise<void> {
  for (const table of FOLDED) {
    await command(clickhouse, `DELETE FROM ${table} WHERE brand_id IN ${idTuple(brandIds)}`);
  }
}

const Month = z.object({ month: integer });

/**
 * Inserts the brands' clicks into `link_daily_v1`, and through its views into the other rollups, and into
 * `dimension_daily_v1`. Deduplication is off, because a second rebuild must insert the same rows again. The sets of
 * visitors take memory, so they are made a month at a time.
 */
export async function rebuildClicks(clickhouse: ClickHouse, brandIds: readonly string[]): Promise<void> {
  const inside = `brand_id IN ${idTuple(brandIds)}`;
  const settings = `SETTINGS ${['insert_deduplicate = 0', 'max_partitions_per_insert_block = 0', READ_BACK, ...quorumSettings(clickhouse.cluster)].join(', ')}`;
  await command(
    clickhouse,
    `INSERT INTO link_daily_v1 (brand_id, ${KEYS}, clicks)
    SELECT brand_id, toDate(at) AS day, link_id, creator_id, currency, count() AS clicks
    FROM clicks_v1 WHERE ${inside} AND kind = 'counted'
    GROUP BY brand_id, ${KEYS} ${settings}`,
  );
  const months = `SELECT DISTINCT toYYYYMM(at) AS month FROM clicks_v1 WHERE ${inside} ORDER BY month`;
  for (const { month } of await readBack(clickhouse, Month, months)) {
    const rows = clickDimensions(`${inside} AND toYYYYMM(at) = ${month}`);
    await command(
      clickhouse,
      `INSERT INTO dimension_daily_v1 (brand_id, ${DIMENSION_KEYS}, clicks, visitors) ${rows} ${settings}`,
    );
  }
}

const Reconciliation = z.object({ step: z.enum(['waiting', 'done']), claim: z.string(), batch: integer });
export type Reconciliation = z.output<typeof Reconciliation>;

/** The progress of the reconciliation since the server started; undefined if it has not begun. */
export async function findReconciliation(clickhouse: ClickHouse): Promise<Reconciliation | undefined> {
  const sql = 'SELECT step, claim, batch FROM mending_v1 ORDER BY step DESC LIMIT 1';
  const [row] = await queryInTime(clickhouse, Reconciliation, sql);
  return row;
}

export async function insertReconciliation(
  clickhouse: ClickHouse,
  { claim, batch }: Pick<Reconciliation, 'claim' | 'batch'>,
): Promise<void> {
  const sql = "INSERT INTO mending_v1 SELECT 'waiting', {claim:String}, {batch:UInt64}";
  await command(clickhouse, sql, { claim, batch });
}

/** Does nothing if the server was restarted in the meantime, because it must be reconciled again. */
export async function finishReconciliation(clickhouse: ClickHouse): Promise<void> {
  await command(
    clickhouse,
    "INSERT INTO mending_v1 SELECT 'done', claim, batch FROM mending_v1 WHERE step = 'waiting' LIMIT 1",
  );
}
