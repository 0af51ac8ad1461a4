import { z } from 'zod';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { idArray, integer, queryInTime } from '../../kit/engines/clickhouse/query.ts';
import { type Group, type Grouping, toEventKey } from './breakdown.ts';
import { toLocalTime } from './local-time.ts';
import { toWindowCondition } from './sums.ts';

/** Divides orders by the cost of their goods: by day and campaign. */
export interface CostParts {
  /** The days on which another rate begins, in order. */
  starts: readonly string[];
  /** Links of campaigns with rates of their own. */
  groups: readonly Group[];
  /** Millionths of revenue: of each day's beginning, first that of other links, then those of `groups`. */
  ratesPpm: readonly number[];
  /** The costs of items by product, which replace the rate for them. */
  items?: ItemCosts | undefined;
}

export interface ItemCosts {
  /** The days on which another cost begins, in order. */
  starts: readonly string[];
  /** Minor units for an item, by `toItemKey`. */
  minor: ReadonlyMap<string, number>;
}

/** The key of a product's cost in an order of this currency, on a day after this many of `starts`. */
export const toItemKey = (starts: number, currency: string, sku: string): string =>
  `${starts}-${currency}-${Buffer.from(sku).toString('hex').toUpperCase()}`;

const startsBefore = (starts: readonly string[], day: string) =>
  starts.length === 0 ? '0' : `arrayCount(start -> toDate(start) <= ${day}, ${idArray(starts)})`;

/** The cost of an item of each of the row's products; -1 where nobody entered one. */
function toUnitCosts(items: ItemCosts | undefined, day: string): string {
  if (!items || items.minor.size === 0) return "CAST([], 'Array(Int64)')";
  const key = `concat(toString(${startsBefore(items.starts, day)}), '-', currency, '-', hex(product))`;
  const [keys, values] = [[...items.minor.keys()], [...items.minor.values()].map(String)];
  return `arrayMap(product -> toInt64(transform(${key}, ${idArray(keys)}, ${idArray(values)}, '-1')), products)`;
}

export interface ReturnsWhere {
  from: Date;
  /** Exclusive. */
  until: Date;
  currency?: string | undefined;
  /** The zone of its days. */
  timeZone: string;
}

/** The index of an order in `ratesPpm`. */
function toPartIndex({ starts, groups }: CostParts, day: string): string {
  const ids = groups.flatMap(({ linkIds }) => linkIds);
  const numbers = groups.flatMap(({ linkIds }, i) => linkIds.map(() => String(i + 1)));
  const group = ids.length === 0 ? '0' : `toUInt32(transform(link_id, ${idArray(ids)}, ${idArray(numbers)}, '0'))`;
  return `${startsBefore(starts, day)} * ${groups.length + 1} + ${group}`;
}

const ReturnSums = z.object({
  group_key: z.string(),
  currency: z.string(),
  part: integer,
  orders: integer,
  sales: integer,
  refunds: integer,
  commission: integer,
  goods: integer,
  /** Rows with goods that no cost of an item covers. */
  uncovered: integer,
});
export type ReturnSums = z.output<typeof ReturnSums>;

/**
 * Sums per key, currency and part of the costs. The goods of each order and refund are rounded separately, so that rows
 * add up under any grouping.
 */
export async function listReturnSums(
  clickhouse: ClickHouse,
  brandId: string,
  by: Grouping,
  where: ReturnsWhere,
  parts: CostParts,
): Promise<ReturnSums[]> {
  const { currency } = where;
  const time = toLocalTime(where);
  const rates = `CAST([${parts.ratesPpm.join(', ')}], 'Array(Int64)')`;
  const sql = `SELECT group_key, currency, part, sum(ordered) AS orders, sum(sold) AS sales, sum(refunded) AS refunds,
      sum(earned) AS commission,
      sum(intDiv(rest * ${rates}[part + 1] + 500000 * sign(rest), 1000000) + intDiv(of_items + 500 * sign(of_items), 1000))
        AS goods,
      countIf(rest != 0 OR (ordered > 0 AND NOT has_items)) AS uncovered
    FROM (
      SELECT *, sold - refunded - arraySum(arrayMap((unit, gain) -> if(unit < 0, 0, gain), units, gains)) AS rest,
        arraySum(arrayMap((unit, count) -> if(unit < 0, 0, unit * count), units, counts)) AS of_items,
        arrayExists(unit -> unit >= 0, units) AS has_items
      FROM (
        SELECT ${toEventKey(by, time)} AS group_key, currency, toUInt32(${toPartIndex(parts, time.day)}) AS part, orders AS ordered,
          sales AS sold, refunds AS refunded, commission AS earned, ${toUnitCosts(parts.items, time.day)} AS units,
          if(empty(units), CAST([], 'Array(Int64)'), arrayMap((sale, refund) -> sale - refund, product_sales, product_refunds)) AS gains,
          if(empty(units), CAST([], 'Array(Int64)'), product_items) AS counts
        FROM order_figures_v1
        WHERE ${toWindowCondition(where)}
          ${currency === undefined ? '' : 'AND currency = {currency:String}'}
      )
    ) GROUP BY group_key, currency, part`;
  return await queryInTime(clickhouse, ReturnSums, sql, {
    brand: brandId,
    ...(currency === undefined ? {} : { currency }),
  });
}
