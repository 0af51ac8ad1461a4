import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import type { CustomerPositionsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { movedSince } from '../../kit/outbox/outbox.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { foldBrandDays, foldMonths, insertCustomerOrders } from './customers.ts';
import type { BrandBacklog, Range } from './sync.ts';

/** Brands with seals after their position. */
const behind = (after?: Date) => sql`
  from outbox_numbers as head left join customer_positions as position on position.brand_id = head.brand_id
  where ${movedSince(after)} and head.seal_seq > coalesce(position.seq, 0)`;

/** True if any order may have changed since it was sent. */
export const IS_CUSTOMER_DUE = (after?: Date) => sql<boolean>`exists (select ${behind(after)})`;

/** Brands whose orders may have changed, locked until the transaction ends. Skips those that another worker has locked. */
export async function lockCustomersBehind(db: Db, limit: number, after?: Date): Promise<BrandBacklog[]> {
  await sql`insert into customer_positions (brand_id, seq) select head.brand_id, 0 ${behind(after)} and position.seq is null
    order by head.brand_id on conflict (brand_id) do nothing`.execute(db);
  const { rows } = await sql<BrandBacklog>`
    select position.brand_id, position.seq as position, head.seal_seq as head
    from customer_positions as position join outbox_numbers as head on head.brand_id = position.brand_id
    where ${movedSince(after)} and head.seal_seq > position.seq
    order by position.brand_id limit ${limit} for update of position skip locked`.execute(db);
  return rows;
}

/** Locks the brands' positions until the transaction ends, at their last seals, which are returned. */
export async function moveCustomerPositions(db: Db, brandIds: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await sql<CustomerPositionsTable>`
    insert into customer_positions (brand_id, seq)
    select brand_id, seal_seq from outbox_numbers where brand_id = any(${brandIds}::text[]) order by brand_id
    on conflict (brand_id) do update set seq = excluded.seq returning brand_id, seq`.execute(db);
  return new Map(rows.map(({ brandId, seq }) => [brandId, seq]));
}

const of = <V>(ranges: readonly Range[], value: (range: Range) => V) => ranges.map(value);

export async function updateCustomerPositions(db: Db, ranges: readonly Range[]): Promise<void> {
  await sql`update customer_positions as position set seq = range.seq
    from unnest(${of(ranges, ({ brand_id }) => brand_id)}::text[], ${of(ranges, ({ to }) => to)}::bigint[])
      as range (brand_id, seq)
    where position.brand_id = range.brand_id`.execute(db);
}

/** The brand's seals whose orders are not in ClickHouse yet. */
export async function findUnsentSeals(db: Db, brandId: string): Promise<Range> {
  const { rows } = await sql<Pick<Range, 'from' | 'to'>>`
    select coalesce(position.seq, 0) + 1 as from, head.seal_seq as to
    from outbox_numbers as head left join customer_positions as position on position.brand_id = head.brand_id
    where head.brand_id = ${brandId}`.execute(db);
  const [{ from, to } = { from: 1, to: 0 }] = rows;
  return { brand_id: brandId, from, to };
}

/** Each brand's position. */
export async function listCustomerPositions(db: Db): Promise<Map<string, number>> {
  const rows = await db.selectFrom('customerPositions').selectAll().execute();
  return new Map(rows.map(({ brandId, seq }) => [brandId, seq]));
}

/** The time since which a brand's orders may have changed without being sent; null if they have not. */
export const UNSENT_CUSTOMER_SINCE = (brandId: string) => sql<Date | null>`
  (select min(sealed_at) from seals where brand_id = ${brandId}
    and seq > coalesce((select seq from customer_positions where brand_id = ${brandId}), 0))`;

/** Paid orders, without tests. */
const COUNTS = sql<boolean>`orders.paid_at is not null and orders.is_test is not true`;

/**
 * Selects the orders that the seals affect. A commission matters only when it is new, because it never moves to another
 * order or link; a code or link matters only when its campaign changed.
 */
const changedIn = (ranges: readonly Range[]) => sql`
  noted as materialized (
    select note.brand_id, note.table_name, note.key, note.id, note.found_hash, note.facts
    from unnest(${of(ranges, ({ brand_id }) => brand_id)}::text[], ${of(ranges, ({ from }) => from)}::bigint[],
      ${of(ranges, ({ to }) => to)}::bigint[]) as range (brand_id, first, last)
    join seals on seals.brand_id = range.brand_id and seals.seq between range.first and range.last
    join sealed_rows as note on note.seal_id = seals.seal_id
    where note.table_name in ('orders', 'order_heads', 'order_refunds', 'commissions', 'links')
  ), changed as materialized (
    select key[1] as id from noted where table_name = 'orders'
    union select orders.id from noted join orders on orders.integration_id = key[1] and orders.order_id = key[2]
      where table_name in ('order_heads', 'order_refunds')
    union select commissions.order_id from noted join commissions on commissions.id = key[1]
      where table_name = 'commissions' and found_hash is null
    union select commissions.order_id from noted
      join commissions on commissions.brand_id = noted.brand_id and commissions.link_id = key[1]
      where table_name = 'links' and found_hash is not null and facts ->> 'campaign_id' is distinct from (
        select earlier.facts ->> 'campaign_id' from sealed_rows as earlier
        where earlier.brand_id = noted.brand_id and earlier.table_name = 'links' and earlier.key = noted.key
          and earlier.id < noted.id order by earlier.id desc limit 1)
  ), touched as materialized (
    select orders.brand_id, customer_hash, min(occurred_at) as since from changed join orders on orders.id = changed.id
    where customer_hash is not null group by orders.brand_id, customer_hash
  )`;

/** The value of an order before refunds: nothing once it was cancelled or charged back. */
const SALE = sql`case when orders.cancelled_at is not null or orders.dispute_lost_at is not null then 0
  else orders.base_minor end`;

const FACTS = sql`orders.id, orders.brand_id, orders.integration_id, orders.order_id, orders.customer_hash, orders.occurred_at,
  orders.currency, ${SALE} as sale`;

/** The last millisecond of the last day that a `Date` column can hold. */
const LAST_MS = Date.UTC(2149, 5, 7) - 1;

const toMilliseconds = (at: RawBuilder<unknown>) =>
  sql`case when ${at} is null then -1
    else least(greatest(floor(extract(epoch from ${at}) * 1000), 0), ${sql.lit(LAST_MS)})::bigint end`;
const column = (name: string) => toMilliseconds(sql.ref(name));

const CUSTOMER = (hash: RawBuilder<unknown>, id: RawBuilder<unknown>) =>
  sql`('x' || encode(substr(coalesce(${hash}, sha256(convert_to(${id}, 'UTF8'))), 1, 8), 'hex'))::bit(64)::bigint`;

const days = (count: number) => sql`make_interval(hours => ${sql.lit(count * 24)})`;
const truncateTo = (part: 'month' | 'week', at: string) =>
  sql`date_trunc(${sql.lit(part)}, ${sql.ref(at)} at time zone 'UTC')`;
const isFirstIn = (part: 'month' | 'week') =>
  sql`(is_known and ${truncateTo(part, 'before_at')} is distinct from ${truncateTo(part, 'occurred_at')})::int`;
const isAgain = (count: number) => sql`coalesce(is_first and next_at <= first_at + ${days(count)}, false)::int`;
const lagBefore = (place: string) => sql`lag(occurred_at) over (
  partition by brand_id, customer, currency, ${sql.ref(place)} order by occurred_at, id) as ${sql.ref(`before_of_${place}`)}`;

/**
 * Rows of orders as ClickHouse has them, from a CTE `mine` with all orders of the customers who are in it. Of each customer
 * it has the orders `since` a change, on which nothing before it depends but the first one, for ninety days.
 */
const LINES = sql`
  refunded as (
    select own.id, sum(refund.amount_minor) as minor
    from mine as own
    join order_refunds as refund on refund.integration_id = own.integration_id and refund.order_id = own.order_id
      and refund.currency = own.currency
    where refund.told_at >= coalesce((
      select refunds_listed_at from order_heads as head
      where head.integration_id = own.integration_id and head.order_id = own.order_id), refund.told_at)
    group by own.id
  ), placed as (
    select own.id, own.brand_id, own.occurred_at, own.currency, own.since, own.customer_hash is not null as is_known,
      coalesce(own.customer_hash, convert_to(own.id, 'UTF8')) as customer,
      ${CUSTOMER(sql`own.customer_hash`, sql`own.id`)} as customer_id, own.integration_id as store,
      coalesce(commissions.link_id, '') as link, coalesce(commissions.creator_id, '') as creator,
      coalesce(links.campaign_id, '') as campaign, greatest(0, own.sale - coalesce(refunded.minor, 0))::bigint as worth
    from mine as own
    left join refunded using (id)
    left join commissions on commissions.order_id = own.id
    left join links on links.id = commissions.link_id
  ), beside as (
    select *, first_value(id) over its as first_id, first_value(occurred_at) over its as first_at,
      first_value(currency) over its as first_currency, first_value(creator) over its as first_creator,
      lag(occurred_at) over its as before_at, lead(occurred_at) over its as next_at,
      ${lagBefore('store')}, ${lagBefore('link')}, ${lagBefore('creator')}, ${lagBefore('campaign')}
    from placed window its as (partition by brand_id, customer order by occurred_at, id)
  ), valued as (
    select *, is_known and id = first_id as is_first, sum(worth)
      filter (where currency = first_currency and occurred_at <= first_at + ${days(90)})
      over (partition by brand_id, customer) as worth_90
    from beside
  ), lines as (
    select brand_id, customer_id, (${column('occurred_at')}) / ${sql.lit(DAY_MS)} as day, concat_ws(E'\t', id, customer_id, 1,
      is_known::int, is_first::int, ${isFirstIn('month')}, ${isFirstIn('week')}, ${column('occurred_at')},
      case when is_known then ${column('first_at')} else -1 end, currency, store, link, creator, campaign,
      case when is_known then first_creator else '' end, ${column('before_of_store')}, ${column('before_of_link')},
      ${column('before_of_creator')}, ${column('before_of_campaign')}, worth, ${isAgain(30)}, ${isAgain(60)},
      ${isAgain(90)}, case when is_first then worth_90 else 0 end) as line
    from valued where occurred_at >= since or is_first and since <= first_at + ${days(90)}
  )`;

export interface Line {
  brandId: string;
  /** The order's UTC day, as the number of days since 1970. */
  day: number;
  /** Its values, separated by tabs; `ORDER_COLUMNS` has the same order. */
  line: string;
}

/** Rows of the orders that the seals changed, and of those that no longer count because they turned out to be tests. */
export async function listChangedLines(db: Db, ranges: readonly Range[]): Promise<Line[]> {
  const { rows } = await sql<Line>`
    with ${changedIn(ranges)}, mine as materialized (
      select ${FACTS}, touched.since from touched join orders
        on orders.brand_id = touched.brand_id and orders.customer_hash = touched.customer_hash and ${COUNTS}
      union all select ${FACTS}, orders.occurred_at as since from changed join orders on orders.id = changed.id
      where orders.customer_hash is null and ${COUNTS}
    ), ${LINES}
    select brand_id, day, line from lines
    union all select orders.brand_id, (${column('orders.occurred_at')}) / ${sql.lit(DAY_MS)}, concat_ws(E'\t', orders.id,
      ${CUSTOMER(sql`orders.customer_hash`, sql`orders.id`)}, 0, 0, 0, 0, 0, ${column('orders.occurred_at')}, -1, '', '', '', '',
      '', '', -1, -1, -1, -1, 0, 0, 0, 0, 0)
    from changed join orders on orders.id = changed.id where orders.paid_at is not null and orders.is_test`.execute(db);
  return rows;
}

/** The customers whose orders the seals changed. */
export async function listChangedCustomers(db: Db, range: Range): Promise<string[]> {
  const { rows } = await sql<{ customer: string }>`
    with ${changedIn([range])}
    select distinct ${CUSTOMER(sql`orders.customer_hash`, sql`orders.id`)}::text as customer
    from changed join orders on orders.id = changed.id`.execute(db);
  return rows.map(({ customer }) => customer);
}

/** A page of a brand's orders: those of customers, by their hash, and those without one, by their id. */
export type LinesPage = { isKnown: true; after: string; to: string } | { isKnown: false; after: string; to: string };

const PAGE = 20_000;

/** The brand's orders in pages. A page has all orders of its customers. */
export async function* listLinePages(db: Db, brandId: string): AsyncGenerator<LinesPage> {
  for (const isKnown of [true, false]) {
    const key = isKnown ? sql`encode(customer_hash, 'hex')` : sql`id`;
    const place = isKnown ? sql`customer_hash` : sql`id`;
    for (let after = ''; ; ) {
      const isAfter = isKnown ? sql`customer_hash > decode(${after}, 'hex')` : sql`id > ${after}`;
      const { rows } = await sql<{ to: string }>`
        select ${key} as to from (
          select customer_hash, id from orders
          where brand_id = ${brandId} and customer_hash is ${isKnown ? sql`not null` : sql`null`} and ${COUNTS} and ${isAfter}
          order by ${place} limit ${sql.lit(PAGE)}) as page
        order by ${place} desc limit 1`.execute(db);
      const to = rows[0]?.to;
      if (to === undefined) break;
      yield { isKnown, after, to };
      after = to;
    }
  }
}

const selectPage = (brandId: string, { isKnown, after, to }: LinesPage) => {
  const inside = isKnown
    ? sql`orders.customer_hash > decode(${after}, 'hex') and orders.customer_hash <= decode(${to}, 'hex')`
    : sql`orders.customer_hash is null and orders.id > ${after} and orders.id <= ${to}`;
  return sql`mine as materialized (
    select ${FACTS}, '-infinity'::timestamptz as since from orders where brand_id = ${brandId} and ${COUNTS} and ${inside})`;
};

async function listPageLines(db: Db, brandId: string, page: LinesPage): Promise<Line[]> {
  const { rows } = await sql<Line>`
    with ${selectPage(brandId, page)}, ${LINES} select brand_id, day, line from lines`.execute(db);
  return rows;
}

/** The sum of hashes is text, because it may be larger than JavaScript's safe integers. */
interface RowsSum {
  count: number;
  fingerprint: string;
}

/** Counts the rows of a page and sums their hashes, without those of some customers. */
export async function sumPageLines(
  db: Db,
  brandId: string,
  page: LinesPage,
  without: readonly string[],
): Promise<RowsSum> {
  const { rows } = await sql<RowsSum>`
    with ${selectPage(brandId, page)}, ${LINES}
    select count(*) as count, coalesce(sum(('x' || substr(md5(line), 1, 8))::bit(32)::bigint), 0)::text as fingerprint
    from lines where not customer_id = any(${without}::bigint[])`.execute(db);
  return rows[0] ?? { count: 0, fingerprint: '0' };
}

const ROWS_AT_ONCE = 50_000;
const DAYS_AT_ONCE = 1_000;
/** Smaller inserts wait for more rows. */
const ENOUGH_ROWS = 20_000;

/** Rows replace each other by their version, so each insert has its own token and none is dropped as a duplicate. */
async function insertRows(clickhouse: ClickHouse, lines: readonly Line[], versions: ReadonlyMap<string, number>) {
  for (const some of toChunks(lines, ROWS_AT_ONCE)) {
    const rows = some.map(({ brandId, line }) => `${brandId}\t${versions.get(brandId) ?? 0}\t${line}\n`);
    await insertCustomerOrders(clickhouse, rows.join(''), `customers:${randomUUID()}`);
  }
}

/** Inserts rows of orders under the versions of their brands, and recomputes the sums of their days. */
export async function insertCustomers(
  clickhouse: ClickHouse,
  lines: readonly Line[],
  versions: ReadonlyMap<string, number>,
): Promise<void> {
  await insertRows(clickhouse, lines, versions);
  const days = new Map(lines.map(({ brandId, day }) => [`${brandId} ${day}`, { brandId, day }]));
  for (const some of toChunks([...days.values()], DAYS_AT_ONCE)) await foldBrandDays(clickhouse, some);
}

/** Inserts all orders of brands, of which ClickHouse has none, in these versions: some of them while the next are read. */
export async function rebuildCustomers(
  clickhouse: ClickHouse,
  db: Db,
  versions: ReadonlyMap<string, number>,
): Promise<void> {
  let lines: Line[] = [];
  for (const brandId of versions.keys()) {
    for await (const page of listLinePages(db, brandId)) {
      const enough = lines.length < ENOUGH_ROWS ? [] : lines;
      const [next] = await Promise.all([listPageLines(db, brandId, page), insertRows(clickhouse, enough, versions)]);
      lines = [...(enough === lines ? [] : lines), ...next];
    }
  }
  await insertRows(clickhouse, lines, versions);
  await foldMonths(clickhouse, [...versions.keys()]);
}
