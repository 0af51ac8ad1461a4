/** Columns that every rollup sums. */
export const COLUMNS = [
  'clicks',
  'conversions',
  'sales',
  'refunds',
  'pending',
  'approved',
  'paid',
  'refund_adjustment',
] as const;

/** The engine merges parts lazily, so every read must sum. */
export const SUMS = COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(', ');

/** A row of zeros disappears when its part is merged, so readers must never see it. */
export const IS_ANYTHING = COLUMNS.map((column) => `${column} != 0`).join(' OR ');

const KEYS = 'toDate(at) AS day, link_id, creator_id, currency';
const GROUP = 'GROUP BY day, link_id, creator_id, currency';

/** Commission by status. A manual commission has no link, but counts for its creator. */
const STATES = "('commission_pending', 'commission_approved', 'commission_paid')";

/** The ledger's postings that `inside` selects, summed as the views in sql/clickhouse sum them into `link_daily_v1`. */
export const postedRows = (inside: string) =>
  `SELECT ${KEYS}, 0 AS clicks, countIf(kind = 'sale' AND line = 0) AS conversions,
    -sumIf(amount_minor, account = 'sales') AS sales, sumIf(amount_minor, account = 'sales_refunds') AS refunds,
    -sumIf(amount_minor, account = 'commission_pending') AS pending,
    -sumIf(amount_minor, account = 'commission_approved') AS approved,
    -sumIf(amount_minor, account = 'commission_paid') AS paid,
    -sumIf(amount_minor, account = 'refund_adjustment') AS refund_adjustment
  FROM ledger_v1 WHERE ${inside} AND (link_id != '' OR account IN ${STATES}) ${GROUP}`;

/** The clicks and postings that `inside` selects, summed likewise. */
export const rawRows = (inside: string) => `(
  SELECT ${KEYS}, count() AS clicks, 0 AS conversions, 0 AS sales, 0 AS refunds, 0 AS pending, 0 AS approved,
    0 AS paid, 0 AS refund_adjustment
  FROM clicks_v1 WHERE ${inside} AND kind = 'counted' ${GROUP}
  UNION ALL ${postedRows(inside)})`;
