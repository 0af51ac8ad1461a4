import { z } from 'zod';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { idArray, idSet, integer, isIdLike, queryInTime } from '../../kit/engines/clickhouse/query.ts';
import { UTM_NAMES } from '../../kit/values/utm.ts';
import { hasStoredDays, hasStoredHours, type LocalTime, toLocalTime } from './local-time.ts';
import { selectHours, splitWindow, toDayCondition, toWindowCondition, type Window } from './sums.ts';
import { type MergedCreators, toOwnerColumn } from './totals.ts';

type RolledUp = 'link' | 'creator' | 'country' | 'device' | 'referrer' | 'kind' | 'hour' | 'store' | 'source';
type InEvents = (typeof UTM_NAMES)[number] | 'order_kind';
/** Products are in the orders alone, and what no rollup has in events. */
type Dimension = RolledUp | 'product' | InEvents;

/** The columns of events that the rollups have as the key of a dimension. */
const COLUMN: Readonly<Record<Exclude<Dimension, 'hour'>, string>> = {
  link: 'link_id',
  creator: 'creator_id',
  country: 'toString(country)',
  device: 'toString(device)',
  referrer: 'referrer_host',
  kind: 'toString(kind)',
  store: 'store_id',
  source: 'toString(source)',
  product: 'product',
  utm_source: 'toString(utm_source)',
  utm_medium: 'toString(utm_medium)',
  utm_campaign: 'toString(utm_campaign)',
  utm_term: 'toString(utm_term)',
  utm_content: 'toString(utm_content)',
  order_kind: 'toString(order_kind)',
};

const isInEvents = (dimension: Dimension): dimension is InEvents =>
  dimension === 'order_kind' || UTM_NAMES.some((name) => name === dimension);

const toEventColumn =
  ({ hour }: LocalTime) =>
  (dimension: Dimension): string =>
    dimension === 'hour' ? hour : COLUMN[dimension];

/** Links by the key of their group, such as a campaign. */
export interface Group {
  key: string;
  linkIds: readonly string[];
}

/** The grouping of a breakdown's rows. */
export type Grouping =
  | { of: Exclude<Dimension, 'creator'> | 'weekday' | 'day' | 'month' | 'day_and_hour' }
  | { of: 'creator'; merged: MergedCreators }
  | { of: 'groups'; groups: readonly Group[] };

/** The dimension of the rollup that has `by`; undefined if each has it. */
function getDimension(by: Grouping): Dimension | undefined {
  if (by.of === 'groups') return 'link';
  if (by.of === 'day_and_hour') return 'hour';
  return by.of === 'weekday' || by.of === 'day' || by.of === 'month' ? undefined : by.of;
}

/** The key of a row; `toColumn` gives the expression of a dimension. */
function toKeyExpression(
  by: Grouping,
  toColumn: (dimension: Dimension) => string,
  { day, dayAndHour }: Pick<LocalTime, 'day' | 'dayAndHour'>,
): string {
  if (by.of === 'weekday') return `toString(toDayOfWeek(${day}))`;
  if (by.of === 'day') return `toString(${day})`;
  if (by.of === 'month') return `substring(toString(${day}), 1, 7)`;
  if (by.of === 'day_and_hour') return dayAndHour;
  if (by.of === 'creator') return toOwnerColumn(by.merged, toColumn('creator'));
  if (by.of !== 'groups') return toColumn(by.of);
  const keys = by.groups.flatMap(({ key, linkIds }) => linkIds.map(() => toHex(key)));
  const ids = by.groups.flatMap(({ linkIds }) => linkIds);
  return `unhex(transform(${toColumn('link')}, ${idArray(ids)}, ${idArray(keys)}, ''))`;
}

/** The key of a row of events. */
export const toEventKey = (by: Grouping, time: LocalTime): string => toKeyExpression(by, toEventColumn(time), time);

/** True if a row's key or the filters depend on days or hours. */
const needsClock = (by: Grouping, { hour, weekday }: EventFilter): boolean =>
  hour !== undefined ||
  weekday !== undefined ||
  by.of === 'hour' ||
  by.of === 'weekday' ||
  by.of === 'day' ||
  by.of === 'month' ||
  by.of === 'day_and_hour';

/** Encodes any text safely for a statement. */
const toHex = (text: string) => Buffer.from(text).toString('hex');

/** A set of links, or all but those. */
export interface LinkSet {
  ids: readonly string[];
  isOutside: boolean;
}

/** Selects events by their dimensions; an empty text selects events without a value. */
export interface EventFilter {
  country?: string | undefined;
  device?: string | undefined;
  referrer?: string | undefined;
  kind?: string | undefined;
  store?: string | undefined;
  source?: string | undefined;
  product?: string | undefined;
  utm_source?: string | undefined;
  utm_medium?: string | undefined;
  utm_campaign?: string | undefined;
  utm_term?: string | undefined;
  utm_content?: string | undefined;
  /** The kind of the order; clicks have none. */
  order_kind?: string | undefined;
  /** Two digits. */
  hour?: string | undefined;
  /** 1 is Monday. */
  weekday?: number | undefined;
  currency?: string | undefined;
  /** All ids that the creator has had. */
  creatorIds?: readonly string[] | undefined;
  /** An event must be in each of these sets. */
  links?: readonly LinkSet[] | undefined;
}

interface FigureCondition {
  /** Undefined if each rollup has the column. */
  dimension?: Dimension;
  sql: (toColumn: (dimension: Dimension) => string, day: string) => string;
}

const TEXTS = [
  ...(['country', 'device', 'referrer', 'kind', 'store', 'source', 'product', 'hour', 'order_kind'] as const),
  ...UTM_NAMES,
] as const;

function inLinks(column: string, { ids, isOutside }: LinkSet): string {
  const possible = ids.filter(isIdLike);
  if (possible.length === 0) return isOutside ? 'true' : 'false';
  return `${column} ${isOutside ? 'NOT IN' : 'IN'} ${idSet(possible)}`;
}

function toConditions(only: EventFilter): FigureCondition[] {
  const { weekday, currency, creatorIds, links = [] } = only;
  return [
    ...TEXTS.filter((name) => only[name] !== undefined).map(
      (dimension): FigureCondition => ({
        dimension,
        sql: (toColumn) => `${toColumn(dimension)} = {${dimension}:String}`,
      }),
    ),
    ...links.map((set): FigureCondition => ({ dimension: 'link', sql: (toColumn) => inLinks(toColumn('link'), set) })),
    ...(creatorIds === undefined
      ? []
      : [
          {
            dimension: 'creator',
            sql: (toColumn) => inLinks(toColumn('creator'), { ids: creatorIds, isOutside: false }),
          } satisfies FigureCondition,
        ]),
    ...(weekday === undefined
      ? []
      : [{ sql: (_columnOf, day) => `toDayOfWeek(${day}) = {weekday:UInt8}` } satisfies FigureCondition]),
    ...(currency === undefined ? [] : [{ sql: () => 'currency = {currency:String}' } satisfies FigureCondition]),
  ];
}

function toParams(only: EventFilter): Record<string, string | number> {
  const { weekday, currency } = only;
  const params: Record<string, string | number> = {};
  for (const name of TEXTS) {
    const value = only[name];
    if (value !== undefined) params[name] = value;
  }
  return { ...params, ...(weekday === undefined ? {} : { weekday }), ...(currency === undefined ? {} : { currency }) };
}

export interface BreakdownWhere extends Window {
  from: Date;
  until: Date;
  only: EventFilter;
}

interface Rows {
  sql: string;
  params: Record<string, string | number>;
}

const NAMES = ['clicks', 'orders', 'click_orders', 'sales', 'refunds', 'commission'] as const;
const IS_ANYTHING = NAMES.map((name) => `${name} != 0`).join(' OR ');

/** No visitors, as rollups have them. */
const NO_VISITORS = "arrayReduce('uniqCombinedState(12)', CAST([], 'Array(UInt64)'))";
const ROLLUP_COLUMNS = ['day', 'key', 'currency', 'visitors', ...NAMES].join(', ');

/** Events of a window, summed as the views sum them into the rollup of one dimension. */
function selectEdge(dimension: RolledUp, window: Window): string {
  const inside = toWindowCondition(window);
  const hasClicks = dimension !== 'store' && dimension !== 'source';
  const column = toEventColumn(toLocalTime({}))(dimension);
  const none = (names: readonly string[]) => names.map((name) => `toInt64(0) AS ${name}`).join(', ');
  const sums = NAMES.slice(1).map((name) => `toInt64(sum(${name})) AS ${name}`);
  return `SELECT toDate(at) AS day, ${hasClicks ? column : "''"} AS key, currency,
      uniqCombinedState(12)(visitor) AS visitors, toInt64(count()) AS clicks, ${none(NAMES.slice(1))}
    FROM clicks_v1 WHERE ${inside} ${dimension === 'kind' ? '' : "AND kind = 'counted'"} GROUP BY day, key, currency
    UNION ALL SELECT toDate(at) AS day, ${column} AS key, currency, ${NO_VISITORS} AS visitors, ${none(['clicks'])},
      ${sums.join(', ')}
    FROM order_figures_v1 WHERE ${inside} GROUP BY day, key, currency`;
}

/** Rows of the rollup of one dimension. Clicks have no store and no source: they are those of any other dimension. */
function selectRollup(dimension: RolledUp, days: string): string {
  const columns = ['day', 'key', 'currency', 'visitors', ...NAMES.map((name) => `toInt64(${name}) AS ${name}`)];
  const rows = (more: string) => `FROM dimension_daily_v1 WHERE ${days} AND ${more}`;
  const own = `SELECT ${columns.join(', ')} ${rows(`dimension = '${dimension}'`)}`;
  if (dimension !== 'store' && dimension !== 'source') return own;
  const none = NAMES.slice(1).map((name) => `toInt64(0) AS ${name}`);
  // In a query of its own, because the empty key would hide the one that the condition is about.
  const clicks = `SELECT day, '' AS key, currency, visitors, toInt64(clicks) AS clicks, ${none.join(', ')}
    FROM (SELECT day, currency, visitors, clicks ${rows("dimension = 'kind' AND key = 'counted'")})`;
  return `${own} UNION ALL ${clicks}`;
}

/** Sums of rows that a rollup has. */
function sumRollup(
  brandId: string,
  from: string,
  key: string,
  { only }: BreakdownWhere,
  inside: readonly string[],
): Rows {
  const sums = NAMES.map((name) => `sum(${name}) AS ${name}`).join(', ');
  return {
    sql: `SELECT ${key} AS group_key, currency, uniqCombinedMerge(12)(visitors) AS visitors, ${sums}
      FROM (${from}) WHERE ${['true', ...inside].join(' AND ')}
      GROUP BY group_key, currency HAVING ${IS_ANYTHING}`,
    params: { ...toParams(only), brand: brandId },
  };
}

/** Sums of the rollup of one dimension, with the events of the days at both ends of the window. */
function rollupRows(brandId: string, by: Grouping, where: BreakdownWhere, dimension: RolledUp): Rows {
  const toColumn = () => 'key';
  const { whole, edges } = splitWindow(where);
  const parts = [
    ...(whole ? [selectRollup(dimension, toDayCondition(whole))] : []),
    ...edges.map((edge) => `SELECT ${ROLLUP_COLUMNS} FROM (${selectEdge(dimension, edge)})`),
  ];
  const inside = toConditions(where.only).map(({ sql }) => sql(toColumn, 'day'));
  const key = toKeyExpression(by, toColumn, { day: 'day', dayAndHour: "concat(toString(day), 'T', key, '+00:00')" });
  return sumRollup(brandId, parts.join(' UNION ALL '), key, where, inside);
}

/** Sums by days and hours of another zone whose hours begin with those of UTC. */
function hourRows(brandId: string, by: Grouping, where: BreakdownWhere): Rows {
  const time = toLocalTime(where);
  const inside = toConditions(where.only).map(({ sql }) => sql(toEventColumn(time), time.day));
  const columns = ['visitors', ...NAMES.map((name) => `toInt64(${name}) AS ${name}`)].join(', ');
  return sumRollup(brandId, selectHours(where, columns), toEventKey(by, time), where, inside);
}

const EVENT = [
  'brand_id, at, currency, link_id, creator_id, store_id, source, kind, country, device, referrer_host',
  ...UTM_NAMES,
  'order_kind',
].join(', ');
const withRest = (array: string, total: string) =>
  `arrayPushBack(${array}, ${total} - arraySum(${array})) AS all_${total}`;

/**
 * Orders by product. An order counts once, for the product of its largest line; amounts without a product are under ''.
 */
const selectProducts = (window: Window) => `(
  SELECT ${EVENT}, product, if(place = 1, orders, 0) AS orders, if(place = 1, click_orders, 0) AS click_orders,
    sale AS sales, refund AS refunds, earned AS commission
  FROM (
    SELECT ${EVENT}, orders, click_orders, arrayPushBack(products, '') AS all_products,
      ${withRest('product_sales', 'sales')}, ${withRest('product_refunds', 'refunds')},
      ${withRest('product_commission', 'commission')}
    FROM order_figures_v1 WHERE ${toWindowCondition(window)}
  )
  ARRAY JOIN all_products AS product, arrayEnumerate(all_products) AS place, all_sales AS sale, all_refunds AS refund,
    all_commission AS earned
)`;

/** The rows of orders, one for each product if products matter. */
const selectOrders = (window: Window, hasProducts: boolean): string =>
  hasProducts ? selectProducts(window) : 'order_figures_v1';

const eventParams = (brandId: string, { only }: BreakdownWhere) => ({ ...toParams(only), brand: brandId });

/** The same sums of the events themselves, for windows that begin within a day, and for filters of other dimensions. */
function eventRows(brandId: string, by: Grouping, where: BreakdownWhere, hasProducts: boolean): Rows {
  const { only } = where;
  const time = toLocalTime(where);
  const toColumn = toEventColumn(time);
  const conditions = toConditions(only).map(({ sql }) => sql(toColumn, time.day));
  const inside = [toWindowCondition(where), ...conditions].join(' AND ');
  const key = `${toEventKey(by, time)} AS group_key`;
  const onlyCounted = by.of === 'kind' || only.kind !== undefined ? '' : "AND kind = 'counted'";
  return {
    sql: `SELECT group_key, currency, uniqCombinedIf(12)(visitor, is_click) AS visitors, sum(is_click) AS clicks, sum(ordered) AS orders,
        sum(ordered_by_click) AS click_orders, sum(sold) AS sales, sum(refunded) AS refunds, sum(earned) AS commission
      FROM (
        -- In brackets, because names after WITH hold in the other half too, where they would hide its columns.
        SELECT * FROM (
          WITH '' AS store_id, '' AS source, '' AS product, '' AS order_kind
          SELECT ${key}, currency, visitor, 1 AS is_click, 0 AS ordered, 0 AS ordered_by_click, 0 AS sold, 0 AS refunded,
            0 AS earned
          FROM clicks_v1 WHERE ${inside} ${onlyCounted}
        )
        UNION ALL SELECT ${key}, currency, 0 AS visitor, 0 AS is_click, orders AS ordered,
          click_orders AS ordered_by_click, sales AS sold, refunds AS refunded, commission AS earned
        FROM ${selectOrders(where, hasProducts)} WHERE ${inside}
      ) GROUP BY group_key, currency HAVING ${IS_ANYTHING}`,
    params: eventParams(brandId, where),
  };
}

/** Sums by product for whole days. Clicks have no product, so they are read from their rollup. */
function productRows(brandId: string, where: BreakdownWhere): Rows {
  const clicks = rollupRows(
    brandId,
    { of: 'store' },
    { ...where, only: { ...where.only, product: undefined } },
    'store',
  );
  const time = toLocalTime(where);
  const inside = toConditions(where.only).map(({ sql }) => sql(toEventColumn(time), time.day));
  const sums = NAMES.slice(1)
    .map((name) => `toInt64(sum(${name})) AS ${name}`)
    .join(', ');
  const others = NAMES.slice(1)
    .map((name) => `toInt64(0) AS ${name}`)
    .join(', ');
  const every = ['visitors', ...NAMES].map((name) => `sum(${name}) AS ${name}`).join(', ');
  const isAmong = where.only.product === undefined || where.only.product === '' ? 'true' : 'false';
  return {
    sql: `SELECT group_key, currency, ${every} FROM (
        SELECT '' AS group_key, currency, toUInt64(visitors) AS visitors, toUInt64(clicks) AS clicks, ${others}
        FROM (${clicks.sql}) WHERE clicks != 0 AND ${isAmong}
        UNION ALL SELECT product AS group_key, currency, toUInt64(0) AS visitors, toUInt64(0) AS clicks, ${sums}
        FROM ${selectOrders(where, true)} WHERE ${['true', ...inside].join(' AND ')} GROUP BY product, currency
      ) GROUP BY group_key, currency HAVING ${IS_ANYTHING}`,
    params: { ...clicks.params, ...eventParams(brandId, where) },
  };
}

/** Chooses the rollup if it has the sums: it has those of a single dimension and of some whole days. */
function selectRows(brandId: string, by: Grouping, where: BreakdownWhere): Rows {
  const neededDimensions = new Set([getDimension(by), ...toConditions(where.only).map(({ dimension }) => dimension)]);
  neededDimensions.delete(undefined);
  const [dimension = 'hour'] = neededDimensions;
  const isSingle = neededDimensions.size <= 1;
  const hasClock = hasStoredDays(where) || !needsClock(by, where.only);
  if (!hasClock && isSingle && dimension === 'hour' && hasStoredHours(where)) return hourRows(brandId, by, where);
  const isInRollup = isSingle && splitWindow(where).whole !== undefined && hasClock;
  const hasProducts = neededDimensions.has('product');
  if (!isInRollup || isInEvents(dimension)) return eventRows(brandId, by, where, hasProducts);
  if (dimension !== 'product') return rollupRows(brandId, by, where, dimension);
  return by.of === 'product' ? productRows(brandId, where) : eventRows(brandId, by, where, true);
}

const ProductTitle = z.object({ product: z.string(), title: z.string() });

/** Looks up a title of each product, which may have had several. */
export async function listProductTitles(
  clickhouse: ClickHouse,
  brandId: string,
  window: { from: Date; until: Date },
  products: readonly string[],
): Promise<Map<string, string>> {
  if (products.length === 0) return new Map();
  const sql = `SELECT product, argMax(called, at) AS title
    FROM (SELECT at, products, product_titles FROM order_figures_v1
      WHERE ${toWindowCondition(window)} AND notEmpty(products))
    ARRAY JOIN products AS product, product_titles AS called
    WHERE hex(product) IN ${idSet(products.map((one) => toHex(one).toUpperCase()))} AND called != '' GROUP BY product`;
  const rows = await queryInTime(clickhouse, ProductTitle, sql, { brand: brandId });
  return new Map(rows.map(({ product, title }) => [product, title]));
}

export const BreakdownSums = z.object({
  group_key: z.string(),
  currency: z.string(),
  clicks: integer,
  visitors: integer,
  orders: integer,
  click_orders: integer,
  sales: integer,
  refunds: integer,
  commission: integer,
});
export type BreakdownSums = z.output<typeof BreakdownSums>;

const ORDER = {
  clicks: 'clicks',
  visitors: 'visitors',
  orders: 'orders',
  revenue: 'sales - refunds',
  commission: 'commission',
  // Rows without clicks, or without orders, come last.
  conversion_rate: 'if(clicks = 0, -1, click_orders / clicks)',
  aov: 'if(orders = 0, -inf, (sales - refunds) / orders)',
} as const;
export type BreakdownSort = keyof typeof ORDER;

export interface BreakdownPage {
  sort: BreakdownSort;
  offset: number;
  limit: number;
}

/** Caps the estimated number of visitors, because each of them has clicked. */
const capVisitors = (sql: string) => `SELECT * REPLACE (least(visitors, clicks) AS visitors) FROM (${sql})`;

/** Sums per key and currency, the largest first. */
export async function listBreakdown(
  clickhouse: ClickHouse,
  brandId: string,
  by: Grouping,
  where: BreakdownWhere,
  { sort, offset, limit }: BreakdownPage,
): Promise<BreakdownSums[]> {
  const rows = selectRows(brandId, by, where);
  const sql = `SELECT * FROM (${capVisitors(rows.sql)}) ORDER BY ${ORDER[sort]} DESC, clicks DESC, group_key, currency
    LIMIT {limit:UInt64} OFFSET {offset:UInt64}`;
  return await queryInTime(clickhouse, BreakdownSums, sql, { ...rows.params, limit, offset });
}

/** Sums of these keys, or of all, in no order. */
export async function listAllBreakdown(
  clickhouse: ClickHouse,
  brandId: string,
  by: Grouping,
  where: BreakdownWhere,
  keys?: readonly string[],
): Promise<BreakdownSums[]> {
  if (keys?.length === 0) return [];
  const rows = selectRows(brandId, by, where);
  const only =
    keys === undefined ? '' : `WHERE hex(group_key) IN ${idSet(keys.map((key) => toHex(key).toUpperCase()))}`;
  return await queryInTime(clickhouse, BreakdownSums, `SELECT * FROM (${capVisitors(rows.sql)}) ${only}`, rows.params);
}

const BreakdownTotals = z.object({ rows: integer, orders: integer, click_orders: integer });

/** The number of rows, and how many orders they have. */
export async function totalBreakdown(clickhouse: ClickHouse, brandId: string, by: Grouping, where: BreakdownWhere) {
  const rows = selectRows(brandId, by, where);
  const sql = `SELECT count() AS rows, sum(orders) AS orders, sum(click_orders) AS click_orders FROM (${rows.sql})`;
  const [totals] = await queryInTime(clickhouse, BreakdownTotals, sql, rows.params);
  return totals ?? { rows: 0, orders: 0, click_orders: 0 };
}
