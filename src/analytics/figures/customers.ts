import { z } from 'zod';
import { insertOnce, quorumSettings } from '../../kit/engines/clickhouse/insert.ts';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { command, idTuple, integer, queryInTime, READ_BACK, readBack } from '../../kit/engines/clickhouse/query.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { hasStoredDays, toLocalMs } from './local-time.ts';
import { isDayEdge, type Window } from './sums.ts';

/** Columns of an order's row besides its brand and version, in the order of its line. */
const ORDER_COLUMNS = [
  'order_id',
  'customer',
  'counts',
  'is_known',
  'is_first',
  'is_first_of_month',
  'is_first_of_week',
  'at',
  'first_at',
  'currency',
  'store_id',
  'link_id',
  'creator_id',
  'campaign_id',
  'first_creator_id',
  'before_of_store',
  'before_of_link',
  'before_of_creator',
  'before_of_campaign',
  'worth',
  'again_30',
  'again_60',
  'again_90',
  'worth_90',
];

/** Tab-separated rows of brand, version and line. */
export const insertCustomerOrders = (clickhouse: ClickHouse, rows: string, token: string) =>
  insertOnce(clickhouse, 'customer_orders_v1', ['brand_id', 'version', ...ORDER_COLUMNS], rows, token);

/** The sums that days hold, as expressions of an order's row. */
const SUMS = {
  orders: 'counts',
  known: 'is_known',
  worth: 'worth',
  firsts: 'is_first',
  firsts_of_month: 'is_first_of_month',
  firsts_of_week: 'is_first_of_week',
  first_worth: 'worth * is_first',
  again_30: 'again_30',
  again_60: 'again_60',
  again_90: 'again_90',
  worth_90: 'worth_90',
} as const;
const NAMES = Object.keys(SUMS);

/** In the order of their numbers: the key of each dimension, and the time since when an element of a day counts. */
const DIMENSIONS = {
  store: { key: 'store_id', since: 'before_of_store' },
  link: { key: 'link_id', since: 'before_of_link' },
  creator: { key: 'creator_id', since: 'before_of_creator' },
  campaign: { key: 'campaign_id', since: 'before_of_campaign' },
  first_creator: { key: 'first_creator_id', since: 'first_at' },
} as const;
export type CustomersBy = Exclude<keyof typeof DIMENSIONS, 'first_creator'>;

const writeArray = (values: readonly string[]) => `[${values.join(', ')}]`;

/** Sums the rows that `inside` selects by day. */
const foldedDays = (inside: string) => {
  const each = Object.values(DIMENSIONS);
  const sums = Object.entries(SUMS).map(([name, value]) => `sum(${value}) AS ${name}_sum`);
  return `SELECT brand_id, dimension, day, max(newest) AS version, groupArray(toString(key)) AS keys,
      groupArray(toString(currency)) AS currencies, groupArray(toInt32(since_day)) AS since,
      ${NAMES.map((name) => `groupArray(${name}_sum) AS ${name}`).join(', ')}
    FROM (
      SELECT brand_id, dimension, day, key, currency, if(time < 0, -1, intDiv(time, ${DAY_MS})) AS since_day,
        max(version) AS newest, ${sums.join(', ')}
      FROM customer_orders_v1 FINAL
      ARRAY JOIN ${writeArray(each.map((_, place) => String(place + 1)))} AS dimension,
        ${writeArray(each.map(({ key }) => `toString(${key})`))} AS key, ${writeArray(each.map(({ since }) => since))} AS time
      WHERE ${inside}
      GROUP BY brand_id, dimension, day, key, currency, since_day
    ) GROUP BY brand_id, dimension, day`;
};

/** Recomputes the sums of the days that `inside` selects. */
async function foldDays(clickhouse: ClickHouse, inside: string): Promise<void> {
  const settings = ['insert_deduplicate = 0', 'max_partitions_per_insert_block = 0', READ_BACK];
  await command(
    clickhouse,
    `INSERT INTO customer_days_v1 (brand_id, dimension, day, version, keys, currencies, since, ${NAMES.join(', ')})
    ${foldedDays(inside)} SETTINGS ${[...settings, ...quorumSettings(clickhouse.cluster)].join(', ')}`,
  );
}

const toDate = (day: number) => `toDate(${day})`;

/** Recomputes the sums of some days of brands. */
export const foldBrandDays = (clickhouse: ClickHouse, days: readonly { brandId: string; day: number }[]) =>
  foldDays(
    clickhouse,
    `(brand_id, day) IN (${days.map(({ brandId, day }) => `(${idTuple([brandId]).slice(1, -1)}, ${toDate(day)})`).join(', ')})`,
  );

const Month = z.object({ month: integer });

/** Recomputes the sums of all days of brands, a month at a time to bound memory. */
export async function foldMonths(clickhouse: ClickHouse, brandIds: readonly string[]): Promise<void> {
  const inside = `brand_id IN ${idTuple(brandIds)}`;
  const months = `SELECT DISTINCT toYYYYMM(day) AS month FROM customer_orders_v1 WHERE ${inside} ORDER BY month`;
  for (const { month } of await readBack(clickhouse, Month, months)) {
    await foldDays(clickhouse, `${inside} AND toYYYYMM(day) = ${month}`);
  }
}

/** The last version of each brand's rows. */
export async function listCustomerVersions(clickhouse: ClickHouse): Promise<{ brandId: string; seq: number }[]> {
  const Row = z.object({ brand_id: z.string(), seq: integer });
  const sql = 'SELECT brand_id, max(version) AS seq FROM customer_orders_v1 GROUP BY brand_id';
  return (await readBack(clickhouse, Row, sql)).map(({ brand_id: brandId, seq }) => ({ brandId, seq }));
}

const Newer = z.object({ customer: z.string() });

/** Customers of the brand whose rows changed after a version. */
export async function listNewerCustomers(clickhouse: ClickHouse, brandId: string, version: number): Promise<string[]> {
  const sql = `SELECT DISTINCT toString(customer) AS customer FROM customer_orders_v1
    WHERE brand_id = {brand:String} AND version > {version:UInt64}`;
  return (await readBack(clickhouse, Newer, sql, { brand: brandId, version })).map(({ customer }) => customer);
}

const LINE = `concatWithSeparator('\\t', ${ORDER_COLUMNS.map((name) => `toString(${name})`).join(', ')})`;
const Summed = z.object({ count: integer, fingerprint: z.string() });

/** Counts the brand's orders and sums the hashes of their rows, without those of some customers. */
export async function sumCustomerOrders(clickhouse: ClickHouse, brandId: string, without: readonly string[]) {
  const [sums] = await readBack(
    clickhouse,
    Summed,
    `SELECT count() AS count, toString(sum(reinterpretAsUInt32(reverse(substring(MD5(${LINE}), 1, 4))))) AS fingerprint
    FROM customer_orders_v1 FINAL WHERE brand_id = {brand:String} AND counts = 1
      ${without.length === 0 ? '' : `AND customer NOT IN (${without.join(', ')})`}`,
    { brand: brandId },
  );
  return sums ?? { count: 0, fingerprint: '0' };
}

const Count = z.object({ count: integer });

/** Counts the days whose sums differ from their orders. */
export async function countBrokenDays(clickhouse: ClickHouse, brandId: string): Promise<number> {
  const elements = `arraySort(arrayZip(keys, currencies, since, ${NAMES.join(', ')}))`;
  const sql = `SELECT count() AS count FROM (
    SELECT dimension, day FROM (
      SELECT toInt8(dimension) AS dimension, day, toString(${elements}) AS content FROM customer_days_v1 FINAL
      WHERE brand_id = {brand:String}
      UNION ALL SELECT toInt8(dimension) AS dimension, day, toString(${elements}) AS content
      FROM (${foldedDays('brand_id = {brand:String}')})
    ) GROUP BY dimension, day HAVING count() != 2 OR uniqExact(content) != 1)`;
  const [row] = await readBack(clickhouse, Count, sql, { brand: brandId });
  return row?.count ?? 0;
}

const dayNumber = (at: Date | number) => Math.floor(Number(at) / DAY_MS);

const isWholeDays = ({ from, until }: Window) => isDayEdge(from) && isDayEdge(until);

/** Selects the elements of a period by one dimension: whole days from their sums, other days and times from orders. */
interface Elements extends Window {
  of: keyof typeof DIMENSIONS;
  /** True if the period has whole days. */
  isWhole: boolean;
  /** The sums that are read. */
  names: readonly (keyof typeof SUMS)[];
  /** Days on which the time of each order matters, given as any time of theirs in milliseconds. */
  apart?: readonly number[];
}

function selectElements({ of, names, isWhole, from, until, apart = [] }: Elements): string {
  const { key, since } = DIMENSIONS[of];
  const days = apart.map((at) => dayNumber(at)).map((day) => `toDate(${day})`);
  const inside = [
    'brand_id = {brand:String}',
    ...(from ? [`day >= toDate(${dayNumber(from)})`] : []),
    ...(until ? [`day <= toDate(${dayNumber(until.getTime() - 1)})`] : []),
  ].join(' AND ');
  const ofOrders = [
    ...(from ? [`at >= ${from.getTime()}`] : []),
    ...(until ? [`at < ${until.getTime()}`] : []),
    ...(isWhole ? [days.length === 0 ? 'false' : `day IN (${days.join(', ')})`] : []),
  ];
  const orders = `SELECT toString(${key}) AS key, toString(currency) AS currency, at AS time, ${since} AS since,
      ${names.map((name) => `toInt64(${SUMS[name]}) AS ${name}`).join(', ')}
    FROM customer_orders_v1 FINAL WHERE ${[inside, ...ofOrders].join(' AND ')}`;
  if (!isWhole) return orders;
  const sums = `SELECT toString(key) AS key, toString(currency) AS currency, toInt64(day) * ${DAY_MS} AS time,
      if(since_day < 0, -1, toInt64(since_day) * ${DAY_MS}) AS since, ${names.map((name) => `toInt64(day_${name}) AS ${name}`).join(', ')}
    FROM (SELECT day, keys, currencies, since AS days_since, ${names.map((name) => `${name} AS all_${name}`).join(', ')} FROM customer_days_v1 FINAL
      WHERE ${inside} AND dimension = '${of}' ${days.length === 0 ? '' : `AND day NOT IN (${days.join(', ')})`})
    ARRAY JOIN keys AS key, currencies AS currency, days_since AS since_day,
      ${names.map((name) => `all_${name} AS day_${name}`).join(', ')}`;
  return days.length === 0 ? sums : `${sums} UNION ALL ${orders}`;
}

const CustomerSums = z.object({
  key: z.string(),
  currency: z.string(),
  orders: integer,
  /** New and returning ones. */
  customers: integer,
  newCustomers: integer,
  firstMinor: integer,
  /** New customers whose first order is 30, 60 and 90 days old, and the part of them who had ordered again by then. */
  oldOne: integer,
  oldTwo: integer,
  oldThree: integer,
  againOne: integer,
  againTwo: integer,
  againThree: integer,
  /** The value that the oldest of them bought within 90 days. */
  worthMinor: integer,
});
export type CustomerSums = z.output<typeof CustomerSums>;

/** Customers of the orders in a period. Of each customer only the first of these orders has none before it in the period. */
export async function listCustomerSums(
  clickhouse: ClickHouse,
  brandId: string,
  { by, currency }: { by: CustomersBy; currency?: string | undefined },
  { from, until }: { from: Date; until: Date },
  now: Date,
): Promise<CustomerSums[]> {
  const ago = (days: number) => now.getTime() - days * DAY_MS;
  const isOld = (days: number) => `time <= ${ago(days)}`;
  const elements = selectElements({
    of: by,
    from,
    until,
    isWhole: isWholeDays({ from, until }),
    apart: [ago(30), ago(60), ago(90)],
    names: ['known', 'firsts', 'first_worth', 'again_30', 'again_60', 'again_90', 'worth_90'],
  });
  const sql = `SELECT key, currency, sum(known) AS orders, sumIf(known, since < ${from.getTime()}) AS customers,
      sum(firsts) AS newCustomers, sum(first_worth) AS firstMinor, sumIf(firsts, ${isOld(30)}) AS oldOne,
      sumIf(firsts, ${isOld(60)}) AS oldTwo, sumIf(firsts, ${isOld(90)}) AS oldThree,
      sumIf(again_30, ${isOld(30)}) AS againOne, sumIf(again_60, ${isOld(60)}) AS againTwo,
      sumIf(again_90, ${isOld(90)}) AS againThree, sumIf(worth_90, ${isOld(90)}) AS worthMinor
    FROM (${elements}) WHERE ${currency === undefined ? 'true' : 'currency = {currency:String}'}
    GROUP BY key, currency HAVING orders > 0`;
  const params = { brand: brandId, ...(currency === undefined ? {} : { currency }) };
  return await queryInTime(clickhouse, CustomerSums, sql, params);
}

const ShareSums = z.object({
  currency: z.string(),
  isAttributed: z.number().transform((value) => value === 1),
  orders: integer,
  worthMinor: integer,
  /** With an email address, and of these the first ones of their customers. */
  known: integer,
  firsts: integer,
});
export type ShareSums = z.output<typeof ShareSums>;

/** Paid orders of a period, by whether a creator won them. */
export async function listShareSums(clickhouse: ClickHouse, brandId: string, window: Window): Promise<ShareSums[]> {
  const isWhole = isWholeDays(window);
  const elements = selectElements({ ...window, isWhole, of: 'creator', names: ['orders', 'worth', 'known', 'firsts'] });
  const sql = `SELECT currency, key != '' AS isAttributed, sum(orders) AS orders, sum(worth) AS worthMinor,
      sum(known) AS known, sum(firsts) AS firsts
    FROM (${elements}) GROUP BY currency, isAttributed ORDER BY currency, isAttributed`;
  const rows = await queryInTime(clickhouse, ShareSums, sql, { brand: brandId });
  return rows.filter(({ orders }) => orders > 0);
}

const CohortSums = z.object({
  /** The first day of the cohort's month or week. */
  cohort: z.string(),
  /** The first day of the month or week of the orders. */
  bucket: z.string(),
  money: z.string(),
  customers: integer,
  /** Customers whose first order is among these. */
  firsts: integer,
  orders: integer,
  worthMinor: integer,
});
export type CohortSums = z.output<typeof CohortSums>;

/** Orders of known customers from a time on, each with its customer: the stored first ones of a month are those of UTC. */
const selectKnownOrders = (from: Date): string =>
  `SELECT toString(first_creator_id) AS key, toString(currency) AS currency, at AS time, first_at AS since, customer,
      toInt64(is_known) AS known, worth, toInt64(is_first) AS firsts
    FROM customer_orders_v1 FINAL
    WHERE brand_id = {brand:String} AND day >= toDate(${dayNumber(from)}) AND at >= ${from.getTime()} AND is_known = 1`;

/**
 * Sums the later orders of the customers whose first order is in the period, by month or week. `money` is the currency,
 * and empty unless money counts.
 */
export async function listCohortSums(
  clickhouse: ClickHouse,
  brandId: string,
  { by, of, metric }: { by: 'month' | 'week'; of: string; metric: 'customers' | 'orders' | 'revenue' },
  period: { from: Date; until: Date; timeZone: string },
  now: Date,
): Promise<CohortSums[]> {
  const { from, until, timeZone } = period;
  const isStored = hasStoredDays({ from, until: now, timeZone });
  const isFirst = `firsts_of_${by}` as const;
  const elements = isStored
    ? selectElements({
        of: 'first_creator',
        from,
        isWhole: isWholeDays({ from, until }),
        names: ['known', 'worth', 'firsts', isFirst],
      })
    : selectKnownOrders(from);
  const truncate = (at: string) => {
    const day = `toDate(intDiv(${isStored ? at : toLocalMs({ from, until: now, timeZone }, at)}, ${DAY_MS}))`;
    return by === 'month' ? `toStartOfMonth(${day})` : `toMonday(${day})`;
  };
  const isWon = { all: 'true', attributed: "key != ''" }[of] ?? 'key = {of:String}';
  const customers = isStored ? `sum(${isFirst})` : 'uniqExact(customer)';
  const sql = `SELECT ${truncate('since')} AS cohort, ${truncate('time')} AS bucket,
      ${metric === 'revenue' ? 'currency' : "''"} AS money, ${customers} AS customers, sum(firsts) AS firsts,
      sum(known) AS orders, sum(worth) AS worthMinor
    FROM (${elements}) WHERE since >= ${from.getTime()} AND since < ${until.getTime()} AND ${isWon}
    GROUP BY cohort, bucket, money HAVING orders > 0 ORDER BY cohort, money, bucket`;
  return await queryInTime(clickhouse, CohortSums, sql, { brand: brandId, of });
}
