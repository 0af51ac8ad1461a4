/** The sums of `dimension_daily_v1`, besides the visitors of its clicks. */
const SUMMED = ['clicks', 'orders', 'click_orders', 'sales', 'refunds', 'commission'] as const;

export const DIMENSION_KEYS = 'dimension, day, key, currency';

/** The keys of a row by dimension, in the order of the numbers that the rollup has for them; `sql/clickhouse` has the same. */
const OF_CLICK = [
  'link_id',
  'creator_id',
  'toString(country)',
  'toString(device)',
  'referrer_host',
  'toString(kind)',
  "leftPad(toString(toHour(at)), 2, '0')",
];
const OF_ORDER = [...OF_CLICK, 'store_id', 'toString(source)'];

const joinKeys = (keys: readonly string[]) =>
  `ARRAY JOIN [${keys.map((_, i) => i + 1).join(', ')}] AS dimension, [${keys.join(', ')}] AS key`;

const CLICKS = `FROM clicks_v1 ${joinKeys(OF_CLICK)}`;
const IS_COUNTED = "(kind = 'counted' OR dimension = 6)";

/** The clicks that `inside` selects, as their view sums them into `dimension_daily_v1`. */
export const clickDimensions = (inside: string) =>
  `SELECT brand_id, dimension, toDate(at) AS day, key, currency, count() AS clicks,
    uniqCombinedState(12)(visitor) AS visitors
  ${CLICKS} WHERE ${inside} AND ${IS_COUNTED} GROUP BY brand_id, ${DIMENSION_KEYS}`;

/**
 * Fewer visitors than this are exact. From here on their number is an estimate that may depend on the order in which
 * clicks were summed, by up to 5 %. `clicks` are always exact.
 */
const EXACT_VISITORS = 256;
const VISITORS_DIFFER = `abs(sum(visitors)) > if(max(abs(visitors)) < ${EXACT_VISITORS}, 0, max(abs(visitors)) / 20)`;

/** Keys for which the rollup is not the sum of the clicks and orders that `inside` selects. */
export const dimensionDifference = (inside: string) => {
  const keys = 'dimension, toDate(at) AS day, key, currency';
  const clicks = `SELECT ${keys}, toInt64(count()) AS clicks, toInt64(uniqCombined(12)(visitor)) AS visitors,
      0 AS orders, 0 AS click_orders, 0 AS sales, 0 AS refunds, 0 AS commission
    ${CLICKS} WHERE ${inside} AND ${IS_COUNTED} GROUP BY ${DIMENSION_KEYS}`;
  const orders = `SELECT ${keys}, 0 AS clicks, 0 AS visitors, toInt64(sum(orders)) AS orders,
      toInt64(sum(click_orders)) AS click_orders, sum(sales) AS sales, sum(refunds) AS refunds,
      sum(commission) AS commission
    FROM order_figures_v1 ${joinKeys(OF_ORDER)} WHERE ${inside} GROUP BY ${DIMENSION_KEYS}`;
  const rollup = `SELECT toInt8(dimension) AS dimension, day, key, currency, -toInt64(sum(clicks)) AS clicks,
      -toInt64(uniqCombinedMerge(12)(visitors)) AS visitors, -toInt64(sum(orders)) AS orders,
      -toInt64(sum(click_orders)) AS click_orders, -sum(sales) AS sales, -sum(refunds) AS refunds,
      -sum(commission) AS commission
    FROM dimension_daily_v1 WHERE ${inside} GROUP BY ${DIMENSION_KEYS}`;
  const differs = [...SUMMED.map((column) => `sum(${column}) != 0`), VISITORS_DIFFER].join(' OR ');
  return `SELECT ${DIMENSION_KEYS} FROM (${clicks} UNION ALL ${orders} UNION ALL ${rollup})
    GROUP BY ${DIMENSION_KEYS} HAVING ${differs}`;
};
