import { z } from 'zod';
import { insertOnce } from '../../kit/engines/clickhouse/insert.ts';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { idSet, integer, readBack } from '../../kit/engines/clickhouse/query.ts';
import { tsvArray, tsvText, tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Account } from '../../kit/outbox/ledger-entry.ts';
import { readClickTime } from '../../kit/values/click-token.ts';
import { UTM_NAMES } from '../../kit/values/utm.ts';
import { oldestWaitingClick } from './freshness.ts';
import { listLines, toOrderKey } from './order-lines.ts';
import { type OrderLines, type ProductPart, productParts } from './products.ts';
import { postedRows } from './sums.ts';
import type { Range, SyncedEntry } from './sync.ts';

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
  utm_source: z.string(),
  utm_medium: z.string(),
  utm_campaign: z.string(),
  utm_term: z.string(),
  utm_content: z.string(),
});
export type Click = z.output<typeof Click>;

/** The clicks that ClickHouse has, by id. Brand, day and link are the key of their table. */
async function findClicks(clickhouse: ClickHouse, clicks: readonly WonClick[]): Promise<Map<string, Click>> {
  if (clicks.length === 0) return new Map();
  const toSet = (value: (click: WonClick) => string) => idSet([...new Set(clicks.map(value))]);
  const rows = await readBack(
    clickhouse,
    Click,
    `SELECT click_id, kind, country, device, referrer_host, ${UTM_NAMES.join(', ')} FROM clicks_v1
    WHERE brand_id IN ${toSet(({ brandId }) => brandId)}
      AND toDate(at) IN (SELECT toDate(arrayJoin(splitByChar(',', {days:String}))))
      AND link_id IN ${toSet(({ linkId }) => linkId)} AND click_id IN ${toSet(({ clickId }) => clickId)}`,
    { days: [...new Set(clicks.map(({ clickId }) => tsvTime(readClickTime(clickId)).slice(0, 10)))].join(',') },
  );
  return new Map(rows.map((row) => [row.click_id, row]));
}

/** The entries up to a position, without those in `exceptions`. */
const toPositionCondition = (exceptions: readonly Range[]) =>
  `seq <= {position:UInt64} ${exceptions.map(({ from, to }) => `AND NOT (seq BETWEEN ${from} AND ${to})`).join(' ')}`;

const Count = z.object({ count: integer });

async function countRows(clickhouse: ClickHouse, sql: string, params: { brand: string; position: number }) {
  const [row] = await readBack(clickhouse, Count, `SELECT count() AS count FROM (${sql})`, params);
  return row?.count ?? 0;
}

const SUMMED = ['orders', 'sales', 'refunds', 'commission'] as const;

/** Counts the days of a link on which the table of orders differs from the postings. */
export async function countUnlikePostings(
  clickhouse: ClickHouse,
  brandId: string,
  position: number,
  exceptions: readonly Range[],
): Promise<number> {
  const inside = `brand_id = {brand:String} AND ${toPositionCondition(exceptions)}`;
  const keys = 'day, link_id, creator_id, currency';
  const sql = `SELECT ${keys} FROM (
    SELECT ${keys}, toInt64(conversions) AS orders, sales, refunds, pending + approved + paid + refund_adjustment AS commission
    FROM (${postedRows(inside)})
    UNION ALL SELECT toDate(at) AS day, link_id, creator_id, currency, -toInt64(orders) AS orders, -sales AS sales,
      -refunds AS refunds, -commission AS commission
    FROM order_figures_v1 WHERE ${inside}
  ) GROUP BY ${keys} HAVING ${SUMMED.map((column) => `sum(${column}) != 0`).join(' OR ')}`;
  return await countRows(clickhouse, sql, { brand: brandId, position });
}

/** Counts the rows of orders whose facts differ from their click. */
export async function countUnlikeClicks(
  clickhouse: ClickHouse,
  brandId: string,
  position: number,
  exceptions: readonly Range[],
): Promise<number> {
  const facts = ['country', 'device', 'referrer_host', ...UTM_NAMES];
  const of = (table: string) => facts.map((fact) => `${table}.${fact}`).join(', ');
  const won = `(SELECT click_id, kind, ${facts.join(', ')} FROM order_figures_v1
    WHERE brand_id = {brand:String} AND click_id != '' AND ${toPositionCondition(exceptions)})`;
  const sql = `SELECT 1 FROM ${won} AS won INNER JOIN (
      SELECT click_id, toString(kind) AS kind, ${facts.join(', ')} FROM clicks_v1
      WHERE brand_id = {brand:String} AND click_id IN (SELECT click_id FROM ${won})
    ) AS click ON click.click_id = won.click_id
    WHERE (toString(won.kind), ${of('won')}) != (click.kind, ${of('click')})`;
  return await countRows(clickhouse, sql, { brand: brandId, position });
}

/** The store and the click of a sale as one text; affiliates/ledger/ledger.ts builds the same text. */
const FACTS = "concatWithSeparator('|', toString(seq), store_id, source, click_id)";

const SaleFacts = z.object({ sales: integer, fingerprint: z.string() });

/** Counts the sales in the table of orders and sums the hashes of their facts. */
export async function findSaleFacts(
  clickhouse: ClickHouse,
  brandId: string,
  position: number,
  exceptions: readonly Range[],
): Promise<z.output<typeof SaleFacts>> {
  const [facts] = await readBack(
    clickhouse,
    SaleFacts,
    `SELECT count() AS sales, toString(sum(reinterpretAsUInt32(reverse(substring(MD5(${FACTS}), 1, 4))))) AS fingerprint
    FROM order_figures_v1 WHERE brand_id = {brand:String} AND orders = 1 AND ${toPositionCondition(exceptions)}`,
    { brand: brandId, position },
  );
  return facts ?? { sales: 0, fingerprint: '0' };
}

const COLUMNS = [
  'brand_id',
  'seq',
  'line',
  'at',
  'currency',
  'link_id',
  'creator_id',
  'store_id',
  'source',
  'click_id',
  'kind',
  'country',
  'device',
  'referrer_host',
  ...UTM_NAMES,
  'order_kind',
  'orders',
  'click_orders',
  'sales',
  'refunds',
  'commission',
  'products',
  'product_titles',
  'product_sales',
  'product_refunds',
  'product_commission',
  'product_items',
];

const STATES: readonly Account[] = ['commission_pending', 'commission_approved', 'commission_paid'];

/** Entries with the lines of their orders, and the clicks that won these, as far as ClickHouse has them. */
export interface OrderEntries {
  entries: readonly SyncedEntry[];
  lines: ReadonlyMap<string, OrderLines>;
  clicks: ReadonlyMap<string, Click>;
  /** True if a click is still on its way to ClickHouse. */
  isClickAwaited: boolean;
}

/** Reads the progress of ClickHouse first, so that a click that arrives in the meantime is found. */
export async function loadOrderEntries(
  { clickhouse, clicksRedis }: Pick<Context, 'clickhouse' | 'clicksRedis'>,
  db: Db,
  entries: readonly SyncedEntry[],
): Promise<OrderEntries> {
  const lines = await listLines(db, entries);
  const won = entries.flatMap(({ brandId, linkId, clickId }: SyncedEntry): WonClick[] =>
    linkId === null || clickId === null ? [] : [{ brandId, linkId, clickId }],
  );
  if (won.length === 0) return { entries, lines, clicks: new Map(), isClickAwaited: false };
  const waitingSince = await oldestWaitingClick(clicksRedis);
  const clicks = await findClicks(clickhouse, won);

  return {
    entries,
    lines,
    clicks,
    isClickAwaited: won.some(
      ({ clickId }: WonClick) => !clicks.has(clickId) && readClickTime(clickId).getTime() >= waitingSince,
    ),
  };
}

/** A sale is an order; one that turned out to be a test is taken back. */
function countOrders(kind: SyncedEntry['kind']): -1 | 0 | 1 {
  if (kind === 'sale') return 1;
  return kind === 'test' ? -1 : 0;
}

/** Sums what an entry adds to figures at one time; the views of `link_daily_v1` add the same. */
function sumPostings({ kind, linkId }: SyncedEntry, postings: SyncedEntry['postings'], isFirst: boolean) {
  const sum = (...accounts: readonly Account[]) =>
    postings
      .filter(({ account }) => accounts.includes(account))
      .reduce((total, { amount_minor }) => total + amount_minor, 0);
  // Without a link, only the commission counts.
  if (linkId === null) return { orders: 0, sales: 0, refunds: 0, commission: -sum(...STATES) };
  return {
    orders: isFirst ? countOrders(kind) : 0,
    sales: -sum('sales'),
    refunds: sum('sales_refunds'),
    commission: -sum(...STATES, 'refund_adjustment'),
  };
}

/** The parts of a row by product, as columns. */
const productColumns = (parts: readonly ProductPart[]): string[] => {
  const list = (value: (part: ProductPart) => string | number) => tsvArray(parts.map(value));
  return [
    list(({ product }) => product),
    list(({ title }) => title),
    list(({ sales }) => sales),
    list(({ refunds }) => refunds),
    list(({ commission }) => commission),
    list(({ milliItems }) => milliItems),
  ];
};

/** One row for each time of the entry at which it changes a figure. */
function toRows(entry: SyncedEntry, click: Click | undefined, lines: OrderLines | undefined): string {
  const { brandId, seq, currency, linkId, creatorId, integrationId, source, clickId, orderKind, postings } = entry;
  const facts = [currency, tsvText(linkId ?? ''), tsvText(creatorId), tsvText(integrationId ?? '')];
  const won = [
    source,
    clickId,
    click?.kind,
    click?.country,
    click?.device,
    click?.referrer_host,
    ...UTM_NAMES.map((name) => click?.[name]),
    orderKind,
  ];
  const texts = [...facts, ...won.map((text) => tsvText(text ?? ''))];
  const [first] = postings;
  const rows = [...Map.groupBy(postings, ({ at }) => at)].map(([at, some], line) => {
    const { orders, ...sums } = sumPostings(entry, some, first !== undefined && some.includes(first));
    return { line, at: new Date(at).getTime(), orders, isSale: orders === 1, ...sums };
  });
  const parts = lines ? productParts(lines, rows) : [];
  return rows
    .map(({ line, at, orders, sales, refunds, commission }, place) => {
      if ([orders, sales, refunds, commission].every((figure) => figure === 0)) return '';
      const figures = [orders, clickId === null ? 0 : orders, sales, refunds, commission];
      const products = productColumns(parts[place] ?? []);
      return `${[tsvText(brandId), seq, line, tsvTime(new Date(at)), ...texts, ...figures, ...products].join('\t')}\n`;
    })
    .join('');
}

/** Inserts the figures of the entries' orders. Resolves to whether they were sent more than once. */
export async function insertOrderFigures(
  clickhouse: ClickHouse,
  { entries, clicks, lines }: OrderEntries,
  token: string,
): Promise<boolean> {
  const rows = entries
    .map((entry) => toRows(entry, clicks.get(entry.clickId ?? ''), lines.get(toOrderKey(entry))))
    .join('');
  return await insertOnce(clickhouse, 'order_figures_v1', COLUMNS, rows, token);
}
