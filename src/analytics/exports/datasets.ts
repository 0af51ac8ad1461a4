import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { integer, query, stream } from '../../kit/engines/clickhouse/query.ts';
import { tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import type { ColumnType } from '../../kit/engines/parquet.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { selectSource } from '../figures/sums.ts';
import { COMMISSIONS, CONTENT, CUSTOMERS, ORDERS, ROSTER, type Source } from './sources.ts';

/** Selects the rows of an export. */
export interface Span {
  by: 'recorded' | 'date';
  from: Date | null;
  /** Excluded, like `asOf`. */
  until: Date;
  /** Rows that are recorded later are left to the next export. */
  asOf: Date;
  /** The zone of the days of `performance`. */
  timeZone: string;
}

/** A row's place in its export: the values that rows are ordered by. */
export type Place = readonly (string | number)[];

export type ExportedRow = Readonly<Record<string, unknown>>;

export interface Batch {
  rows: ExportedRow[];
  place: Place | null;
  isLast: boolean;
}

const SOURCES = { orders: ORDERS, commissions: COMMISSIONS, roster: ROSTER, content: CONTENT, customers: CUSTOMERS };
type ListedDataset = keyof typeof SOURCES;

/** Columns of a posting: those of its entry, and its own. */
const POSTING: Readonly<Record<string, readonly [ColumnType, RawBuilder<unknown>]>> = {
  entry_id: ['text', sql`entry.id`],
  seq: ['integer', sql`entry.seq`],
  line: ['integer', sql`posting.line`],
  kind: ['text', sql`entry.kind`],
  account: ['text', sql`posting.account`],
  amount_minor: ['integer', sql`posting.amount_minor`],
  currency: ['text', sql`entry.currency`],
  creator_id: ['text', sql`entry.creator_id`],
  link_id: ['text', sql`entry.link_id`],
  order_id: ['text', sql`entry.order_id`],
  commission_id: ['text', sql`entry.commission_id`],
  payout_id: ['text', sql`entry.payout_id`],
  at: ['time', sql`posting.at`],
  recorded_at: ['time', sql`entry.recorded_at`],
};

const PERFORMANCE = {
  day: 'text',
  link_id: 'text',
  creator_id: 'text',
  currency: 'text',
  clicks: 'integer',
  conversions: 'integer',
  sales_minor: 'integer',
  refunds_minor: 'integer',
  pending_minor: 'integer',
  approved_minor: 'integer',
  paid_minor: 'integer',
  refund_adjustment_minor: 'integer',
} as const;

/** ClickHouse writes these itself. */
const CLICK_COLUMNS: Readonly<Record<string, readonly [ColumnType, string]>> = {
  click_id: ['text', 'click_id'],
  at: ['time', 'at'],
  kind: ['text', 'toString(kind)'],
  link_id: ['text', 'link_id'],
  creator_id: ['text', 'creator_id'],
  country: ['text', "nullIf(toString(country), '')"],
  device: ['text', "nullIf(toString(device), '')"],
  referrer: ['text', "nullIf(referrer_host, '')"],
  recorded_at: ['time', 'recorded_at'],
  utm_source: ['text', "nullIf(toString(utm_source), '')"],
  utm_medium: ['text', "nullIf(toString(utm_medium), '')"],
  utm_campaign: ['text', "nullIf(toString(utm_campaign), '')"],
  utm_term: ['text', "nullIf(toString(utm_term), '')"],
  utm_content: ['text', "nullIf(toString(utm_content), '')"],
};

const toColumnTypes = (columns: Readonly<Record<string, readonly [ColumnType, unknown]>>): Record<string, ColumnType> =>
  Object.fromEntries(Object.entries(columns).map(([name, [type]]) => [name, type]));

/** The columns of each dataset, in their order. */
export const COLUMNS: Readonly<Record<Dataset, Readonly<Record<string, ColumnType>>>> = {
  orders: toColumnTypes(ORDERS.columns),
  clicks: toColumnTypes(CLICK_COLUMNS),
  commissions: toColumnTypes(COMMISSIONS.columns),
  ledger: toColumnTypes(POSTING),
  performance: PERFORMANCE,
  roster: toColumnTypes(ROSTER.columns),
  content: toColumnTypes(CONTENT.columns),
  customers: toColumnTypes(CUSTOMERS.columns),
};

export const DATASETS = [
  'orders',
  'clicks',
  'commissions',
  'ledger',
  'performance',
  'roster',
  'content',
  'customers',
] as const;
export type Dataset = (typeof DATASETS)[number];
/** Datasets whose files this process writes; ClickHouse writes those of clicks. */
export type WrittenDataset = Exclude<Dataset, 'clicks'>;

const between = (time: RawBuilder<unknown>, { from, until }: Pick<Span, 'from' | 'until'>) =>
  from === null ? sql`${time} < ${until}` : sql`${time} >= ${from} and ${time} < ${until}`;

const selectColumns = (columns: Source['columns']) =>
  sql.join(Object.entries(columns).map(([name, [, value]]) => sql`${value} as ${sql.raw(`"${name}"`)}`));

/** Names of columns are those of the files, so no plugin may rename them. */
const withoutPlugins = (db: Db) => db.withoutPlugins();

const PlacedRow = z.looseObject({ place_at: z.date(), place_id: z.union([z.string(), z.number()]) });

function toBatch(result: readonly unknown[], limit: number, isWanted: (row: ExportedRow) => boolean): Batch {
  const rows = z.array(PlacedRow).parse(result);
  const last = rows.at(-1);
  return {
    rows: rows.filter(isWanted),
    place: last ? [last.place_at.toISOString(), last.place_id] : null,
    isLast: rows.length < limit,
  };
}

async function readListed(db: Db, brandId: string, of: ListedDataset, span: Span, after: Place | null, limit: number) {
  const { from, brand, id, recorded, date, isOrderedByDate, columns } = SOURCES[of];
  const isWithin = between(span.by === 'recorded' ? recorded : date, span);
  const isIndexed = span.by === 'recorded' || isOrderedByDate;
  const time = span.by === 'date' && isOrderedByDate ? date : recorded;
  const { rows } = await sql`
    select ${selectColumns(columns)}, ${time} as place_at, ${id} as place_id, ${isIndexed ? sql`true` : isWithin} as is_wanted
    from ${from}
    where ${brand} = ${brandId} and ${recorded} < ${span.asOf} and ${isIndexed ? isWithin : sql`true`}
      and ${after ? sql`(${time}, ${id}) > (${after[0]}::timestamptz, ${after[1]})` : sql`true`}
    order by ${time}, ${id} limit ${limit}`.execute(withoutPlugins(db));
  return toBatch(rows, limit, (row) => row.is_wanted === true);
}

const POSTINGS = sql`rows from (jsonb_to_recordset(entry.postings) as (account text, amount_minor bigint, at timestamptz))
  with ordinality as posting(account, amount_minor, at, line)`;

const entryTimes = (span: Span) =>
  span.by === 'recorded'
    ? sql`${between(sql`recorded_at`, span)} and recorded_at < ${span.asOf}`
    : sql`recorded_at < ${span.asOf}`;

const postingTimes = (span: Span) => (span.by === 'recorded' ? sql`true` : between(sql`posting.at`, span));

/** Entries in the order in which they were recorded, each with its postings. */
async function readLedger(db: Db, brandId: string, span: Span, after: Place | null, limit: number): Promise<Batch> {
  const { rows } = await sql`
    select ${selectColumns(POSTING)}, entry.recorded_at as place_at, entry.seq as place_id
    from (
      select * from ledger_entries where brand_id = ${brandId} and ${entryTimes(span)}
        and ${after ? sql`(recorded_at, seq) > (${after[0]}::timestamptz, ${after[1]}::bigint)` : sql`true`}
      order by recorded_at, seq limit ${limit}
    ) as entry left join lateral (select * from ${POSTINGS} where ${postingTimes(span)}) as posting on true
    order by entry.recorded_at, entry.seq, posting.line`.execute(withoutPlugins(db));
  // The rows are postings, so their number does not tell the end: only an empty batch does.
  return toBatch(rows, 1, (row) => row.line !== null);
}

const PerformanceRow = z.object({
  day: z.string(),
  link_id: z.string(),
  creator_id: z.string(),
  currency: z.string(),
  clicks: integer,
  conversions: integer,
  sales_minor: integer,
  refunds_minor: integer,
  pending_minor: integer,
  approved_minor: integer,
  paid_minor: integer,
  refund_adjustment_minor: integer,
});

const selectDays = (brandId: string, { from, until, timeZone }: Span) =>
  `FROM (SELECT day AS on_day, link_id, creator_id, currency, sum(clicks) AS clicks,
    sum(conversions) AS conversions, sum(sales) AS sales_minor, sum(refunds) AS refunds_minor,
    sum(pending) AS pending_minor, sum(approved) AS approved_minor, sum(paid) AS paid_minor,
    sum(refund_adjustment) AS refund_adjustment_minor
  FROM ${selectSource(brandId, { from: from ?? new Date(0), until, timeZone }, 'link_daily_v1', { byDay: true }).from}
  GROUP BY on_day, link_id, creator_id, currency)`;

async function readPerformance(
  clickhouse: Context['clickhouse'],
  brandId: string,
  span: Span,
  after: Place | null,
  limit: number,
): Promise<Batch> {
  const [afterDay = '1970-01-01', afterLink = '', afterCreator = '', afterCurrency = ''] = (after ?? []).map(String);
  const rows = await query(
    clickhouse,
    PerformanceRow,
    `SELECT toString(on_day) AS day, * EXCEPT on_day ${selectDays(brandId, span)}
    WHERE (on_day, link_id, creator_id, currency)
      > (toDate({afterDay:String}), {afterLink:String}, {afterCreator:String}, {afterCurrency:String})
    ORDER BY on_day, link_id, creator_id, currency LIMIT {limit:UInt64}`,
    { brand: brandId, afterDay, afterLink, afterCreator, afterCurrency, limit },
  );
  const last = rows.at(-1);
  const place = last ? [last.day, last.link_id, last.creator_id, last.currency] : null;
  return { rows, place, isLast: rows.length < limit };
}

type Engines = Pick<Context, 'postgres' | 'clickhouse'>;

/** The rows after a place, in an order that no later row disturbs. */
export async function readBatch(
  { postgres, clickhouse }: Engines,
  brandId: string,
  of: WrittenDataset,
  span: Span,
  { after, limit }: { after: Place | null; limit: number },
): Promise<Batch> {
  if (of === 'performance') return await readPerformance(clickhouse, brandId, span, after, limit);
  const db = await postgres.exports.current();
  if (of === 'ledger') return await readLedger(db, brandId, span, after, limit);
  return await readListed(db, brandId, of, span, after, limit);
}

const Count = z.object({ count: integer });

const IN_SPAN = `brand_id = {brand:String} AND recorded_at < {asOf:DateTime64(3, 'UTC')}`;

function clickSpan({ by, from, until, asOf }: Span) {
  const time = by === 'recorded' ? 'recorded_at' : 'at';
  return {
    where: `${IN_SPAN} AND ${time} >= {from:DateTime64(3, 'UTC')} AND ${time} < {until:DateTime64(3, 'UTC')}`,
    params: { from: tsvTime(from ?? new Date(0)), until: tsvTime(until), asOf: tsvTime(asOf) },
  };
}

/** Counts the rows of an export. */
export async function countRows(
  { postgres, clickhouse }: Engines,
  brandId: string,
  of: Dataset,
  span: Span,
): Promise<number> {
  const brand = brandId;
  if (of === 'clicks') {
    const { where, params } = clickSpan(span);
    const sql = `SELECT count() AS count FROM clicks_v1 WHERE ${where}`;
    return (await query(clickhouse, Count, sql, { brand, ...params }))[0]?.count ?? 0;
  }
  if (of === 'performance') {
    const sql = `SELECT count() AS count ${selectDays(brandId, span)}`;
    return (await query(clickhouse, Count, sql, { brand }))[0]?.count ?? 0;
  }
  const db = await postgres.exports.current();
  let rows = sql`(select * from ledger_entries where brand_id = ${brandId} and ${entryTimes(span)})
    as entry cross join lateral (select * from ${POSTINGS} where ${postingTimes(span)}) as posting`;
  if (of !== 'ledger') {
    const source = SOURCES[of];
    rows = sql`${source.from} where ${source.brand} = ${brandId} and ${source.recorded} < ${span.asOf}
      and ${between(span.by === 'recorded' ? source.recorded : source.date, span)}`;
  }
  const { rows: counts } = await sql<{ count: number }>`select count(*) as count from ${rows}`.execute(db);
  return counts[0]?.count ?? 0;
}

const ClickPart = z.object({ count: integer, day: z.string(), link: z.string(), click: z.string() });

/** In the order of the table, so that a part reads its own rows only. */
const CLICK_ORDER = 'toDate(at), link_id, click_id';

function afterClick(place: Place | null, name: 'after' | 'last') {
  if (place === null) return { where: 'true', params: {} };
  const [day = '', link = '', click = ''] = place.map(String);
  const sign = name === 'after' ? '>' : '<=';
  return {
    // The day on its own lets ClickHouse skip what is before it.
    where: `toDate(at) ${name === 'after' ? '>=' : '<='} toDate({${name}Day:String}) AND (${CLICK_ORDER}) ${sign}
      (toDate({${name}Day:String}), {${name}Link:String}, {${name}Click:String})`,
    params: { [`${name}Day`]: day, [`${name}Link`]: link, [`${name}Click`]: click },
  };
}

/** Finds the next part of at most `limit` clicks: their number, and the last one. */
export async function findClickPart(
  { clickhouse }: Engines,
  brandId: string,
  span: Span,
  { after, limit }: { after: Place | null; limit: number },
): Promise<{ rows: number; place: Place }> {
  const { where, params } = clickSpan(span);
  const from = afterClick(after, 'after');
  const [part] = await query(
    clickhouse,
    ClickPart,
    `SELECT clicks AS count, toString(tupleElement(last, 1)) AS day, tupleElement(last, 2) AS link,
      tupleElement(last, 3) AS click
    FROM (SELECT max((${CLICK_ORDER})) AS last, count() AS clicks
      FROM (SELECT at, link_id, click_id FROM clicks_v1 WHERE ${where} AND ${from.where}
        ORDER BY brand_id, ${CLICK_ORDER} LIMIT {limit:UInt64}))`,
    { brand: brandId, limit, ...params, ...from.params },
  );
  return { rows: part?.count ?? 0, place: [part?.day ?? '', part?.link ?? '', part?.click ?? ''] };
}

/** A part's clicks as ClickHouse writes them in this format. */
export async function streamClickPart(
  { clickhouse }: Engines,
  brandId: string,
  span: Span,
  { after, last, columns, format }: { after: Place | null; last: Place; columns: readonly string[]; format: string },
): Promise<AsyncIterable<Buffer>> {
  const { where, params } = clickSpan(span);
  const [from, to] = [afterClick(after, 'after'), afterClick(last, 'last')];
  const expressions = columns.map((name) => `${CLICK_COLUMNS[name]?.[1]} AS ${name}_`).join(', ');
  const aliases = columns.map((name) => `${name}_ AS ${name}`).join(', ');
  return await stream(
    clickhouse,
    `SELECT ${aliases} FROM (SELECT ${expressions}, toDate(clicks_v1.at) AS day, clicks_v1.link_id AS link, clicks_v1.click_id AS click
      FROM clicks_v1 WHERE ${where} AND ${from.where} AND ${to.where}) ORDER BY day, link, click`,
    { brand: brandId, ...params, ...from.params, ...to.params },
    format,
  );
}

/** True once every transaction that began before `checkedAt` has ended, except those that only read for a long time. */
export async function haveEnded(db: Db, checkedAt: string): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    select not exists (
      select from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
        and pid <> pg_backend_pid() and xact_start < ${checkedAt}::timestamptz
        and (backend_xid is not null or xact_start > ${checkedAt}::timestamptz - interval '5 minutes')
    ) as is`.execute(db);
  return rows[0]?.is === true;
}

export async function readServerTime(db: Db): Promise<string> {
  const { rows } = await sql<{ at: string }>`select clock_timestamp()::text as at`.execute(db);
  return rows[0]?.at ?? '';
}
