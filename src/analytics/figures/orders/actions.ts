import { insertOnce } from '../../../kit/engines/clickhouse/insert.ts';
import type { ClickHouse } from '../../../kit/engines/clickhouse/open.ts';
import { tsvArray, tsvText, tsvTime } from '../../../kit/engines/clickhouse/tsv.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { Context } from '../../../kit/operation/context.ts';
import type { Account } from '../../../kit/outbox/ledger-entry.ts';
import { clickedAtOf } from '../../../kit/values/click-token.ts';
import { listLines, orderPlaceOf, type SyncedEntry } from '../sync/queries.ts';
import { oldestWaitingClick } from '../waiting-clicks.ts';
import { type OrderLines, type ProductPart, productParts } from './products.ts';
import { type Click, findClicks, type WonClick } from './queries.ts';

const COLUMNS = [
  ...['brand_id', 'seq', 'line', 'at', 'currency', 'link_id', 'creator_id', 'store_id', 'source'],
  ...['click_id', 'kind', 'country', 'device', 'referrer_host'],
  ...['orders', 'click_orders', 'sales', 'refunds', 'commission'],
  ...['products', 'product_titles', 'product_sales', 'product_refunds', 'product_commission', 'product_items'],
];

const STATES: readonly Account[] = ['commission_pending', 'commission_approved', 'commission_paid'];

const clickOf = ({ brandId, linkId, clickId }: SyncedEntry): WonClick[] =>
  linkId === null || clickId === null ? [] : [{ brandId, linkId, clickId }];

/** Entries with the lines of their orders, and the clicks that won these, as far as ClickHouse has them. */
export interface OrderEntries {
  entries: readonly SyncedEntry[];
  lines: ReadonlyMap<string, OrderLines>;
  clicks: ReadonlyMap<string, Click>;
  /** Whether a click is still on its way to ClickHouse. */
  isClickAwaited: boolean;
}

/** Reads how far ClickHouse is first, so that a click that arrives in the meantime is found. */
export async function withFacts(
  { clickhouse, clicksRedis }: Pick<Context, 'clickhouse' | 'clicksRedis'>,
  db: Db,
  entries: readonly SyncedEntry[],
): Promise<OrderEntries> {
  const lines = await listLines(db, entries);
  const won = entries.flatMap(clickOf);
  if (won.length === 0) return { entries, lines, clicks: new Map(), isClickAwaited: false };
  const waitingSince = await oldestWaitingClick(clicksRedis);
  const clicks = await findClicks(clickhouse, won);
  const isAwaited = ({ clickId }: WonClick) => !clicks.has(clickId) && clickedAtOf(clickId).getTime() >= waitingSince;
  return { entries, lines, clicks, isClickAwaited: won.some(isAwaited) };
}

/** What an entry adds to figures at one time; the views of `link_daily_v1` add the same. */
function figuresAt({ kind, linkId }: SyncedEntry, postings: SyncedEntry['postings'], isFirst: boolean) {
  const sum = (...accounts: readonly Account[]) =>
    postings
      .filter(({ account }) => accounts.includes(account))
      .reduce((total, { amount_minor }) => total + amount_minor, 0);
  // Without a link, only the commission counts.
  if (linkId === null) return { orders: 0, sales: 0, refunds: 0, commission: -sum(...STATES) };
  return {
    orders: isFirst && kind === 'sale' ? 1 : 0,
    sales: -sum('sales'),
    refunds: sum('sales_refunds'),
    commission: -sum(...STATES, 'refund_adjustment'),
  };
}

/** What each product has of a row. */
const productColumns = (parts: readonly ProductPart[]): string[] => {
  const list = (value: (part: ProductPart) => string | number) => tsvArray(parts.map(value));
  return [
    ...[list(({ product }) => product), list(({ title }) => title), list(({ sales }) => sales)],
    ...[list(({ refunds }) => refunds), list(({ commission }) => commission), list(({ milliItems }) => milliItems)],
  ];
};

/** One row for each time of the entry at which it changes a figure. */
function rowsOf(entry: SyncedEntry, click: Click | undefined, lines: OrderLines | undefined): string {
  const { brandId, seq, currency, linkId, creatorId, integrationId, source, clickId, postings } = entry;
  const facts = [currency, tsvText(linkId ?? ''), tsvText(creatorId), tsvText(integrationId ?? '')];
  const won = [source, clickId, click?.kind, click?.country, click?.device, click?.referrer_host];
  const texts = [...facts, ...won.map((text) => tsvText(text ?? ''))];
  const [first] = postings;
  const rows = [...Map.groupBy(postings, ({ at }) => at)].map(([at, some], line) => {
    const { orders, ...sums } = figuresAt(entry, some, first !== undefined && some.includes(first));
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

/** Inserts what the entries' orders add to figures. Resolves to whether it was sent more than once. */
export async function insertOrderFigures(
  clickhouse: ClickHouse,
  { entries, clicks, lines }: OrderEntries,
  token: string,
): Promise<boolean> {
  const rows = entries
    .map((entry) => rowsOf(entry, clicks.get(entry.clickId ?? ''), lines.get(orderPlaceOf(entry))))
    .join('');
  return await insertOnce(clickhouse, 'order_figures_v1', COLUMNS, rows, token);
}
