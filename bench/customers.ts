import { type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import { z } from 'zod';
import { rebuildFigures } from '../src/affiliates/ledger/rebuild-figures.ts';
import { orders } from '../src/affiliates/orders/orders.ts';
import { findCohorts } from '../src/analytics/cohorts/cohorts.ts';
import { findCustomers, findShare } from '../src/analytics/customers/customers.ts';
import { findReturns } from '../src/analytics/returns/returns.ts';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { query } from '../src/kit/engines/clickhouse/query.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Db } from '../src/kit/engines/postgres/open.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { DAY_MS } from '../src/kit/values/duration.ts';
import { toPage } from '../src/kit/values/page.ts';
import { createBrand } from '../src/platform/brands/brands.ts';
import { median, percentile } from './load.ts';
import { progress, type Results, round } from './report.ts';

const ROUNDS = 12;
/** For all orders of a brand that has ten million. */
const AIM_MS = 300;
const AIMED_ORDERS = 10_000_000;
const DAYS = 730;
const LISTED = 100_000;
const PAGE = { limit: 100, sort: 'amount' } as const;

/** Rows of one transaction. */
const AT_ONCE = 100_000;
const TABLES = ['orders', 'order_heads', 'order_refunds', 'commissions'] as const;

/**
 * Who placed the order `n`, counted back from now: one order in three is the first of its customer, the others are of one
 * who came before.
 */
const customerOf = (n: string, count: number) => {
  const place = `(${count} - ${n})`;
  return `(case when ${place} % 3 = 0 then ${place} / 3 else (${place}::bigint * 2654435761 % 4294967296) % (${place} / 3 + 1) end)`;
};

/** Two years of a brand's orders: customers order three times, creators win one in seven, and one in twenty is refunded. */
async function fill(db: Db, url: string, brandId: string, count: number): Promise<void> {
  await insertRows(db, [
    sql`insert into integrations (id, brand_id, provider, name, currency, status, storefront_url, storefront_host, base_url, secrets,
        connected_at, created_at)
      values ('int_bench', ${brandId}, 'generic', 'bench', 'USD', 'disconnected', 'https://bench.example', 'bench.example',
        'https://bench.example', '', now(), now())`,
    sql`insert into creators (id, brand_id, email, name, created_at)
      select 'crt_' || n, ${brandId}, 'c' || n || '@example.com', 'Creator ' || n, now() from generate_series(1, 200) n`,
  ]);
  await withoutIndexes(db, url, async () => {
    for (let first = 1; first <= count; first += AT_ONCE) {
      await insertRows(db, ordersOf(brandId, count, [first, Math.min(count, first + AT_ONCE - 1)]));
    }
  });
  await withoutLimit(
    url,
    TABLES.map((table) => `vacuum analyze ${table}`),
  );
}

/** Statements that may take as long as they do, unlike those of the API's pool. */
async function withoutLimit(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("set maintenance_work_mem = '512MB'");
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Makes the indexes that are no constraints afterwards, in a fraction of the time. */
async function withoutIndexes(db: Db, url: string, work: () => Promise<void>): Promise<void> {
  const { rows } = await sql<{ name: string; definition: string }>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index where indrelid::regclass::text = any(${TABLES}) and not indisunique`.execute(db);
  for (const { name } of rows) await sql`drop index ${sql.table(name)}`.execute(db);
  await work();
  await withoutLimit(
    url,
    rows.map(({ definition }) => definition),
  );
}

/** Without the seals of rows, which nobody verifies here. */
async function insertRows(db: Db, statements: readonly RawBuilder<unknown>[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`set local synchronous_commit = off`.execute(trx);
    await sql`set local statement_timeout = 0`.execute(trx);
    for (const statement of statements) await statement.execute(trx);
  });
}

function ordersOf(brandId: string, count: number, [first, last]: readonly [number, number]): RawBuilder<unknown>[] {
  const n = sql`generate_series(${sql.lit(first)}, ${sql.lit(last)}) as n`;
  const id = sql`'ord_' || lpad((${sql.lit(count)} - n)::text, 12, '0')`;
  const at = sql`date_trunc('hour', now()) - (n * ${sql.lit((DAYS * 86_400) / count)}::float8) * interval '1 second'`;
  const hash = sql`sha256(convert_to(${sql.raw(customerOf('n', count))}::text, 'UTF8'))`;
  return [
    sql`insert into orders (id, brand_id, integration_id, order_id, currency, base_minor, occurred_at, paid_at, store_updated_at,
        customer_email, customer_hash, attribution, created_at)
      select ${id}, ${brandId}, 'int_bench', n::text, 'USD', 1000 + n % 20000, ${at}, ${at}, ${at}, 'j***@e***.com', ${hash},
        '{"rule":null,"reason":"no_candidates","link_id":null,"candidates":[]}', ${at}
      from ${n}`,
    sql`insert into order_heads (integration_id, order_id, brand_id) select 'int_bench', n::text, ${brandId} from ${n}`,
    sql`insert into order_refunds (brand_id, integration_id, order_id, refund_id, amount_minor, at, prorated_minor, told_at, currency,
        created_at)
      select ${brandId}, 'int_bench', n::text, 'r', 500, ${at}, 0, ${at}, 'USD', now() from ${n} where n % 20 = 0`,
    sql`insert into commissions (id, brand_id, order_id, creator_id, source, currency, amount_minor, commission_minor,
        commission_rate_ppm, hold_days, status, paid_at, fraud_flags, occurred_at, synced_at, created_at)
      select 'com_' || n, ${brandId}, ${id}, 'crt_' || (n % 200 + 1), 'generic', 'USD', 1000, 100, 100000, 30, 'pending', ${at},
        '[]', ${at}, ${at}, ${at}
      from ${n} where n % 7 = 0`,
  ];
}

/** The same rows without an answer in them: what it costs to read and to group them once. */
const bareOf = (brandId: string, days: number) =>
  `SELECT creator_id, currency, count() AS orders, sum(is_first) AS firsts, sum(worth) AS worth FROM customer_orders_v1
  WHERE brand_id = '${brandId}' AND day > today() - ${days} GROUP BY creator_id, currency`;

interface Times {
  median: number;
  p95: number;
}

/** Each side in turn, so that other load on the machine affects both. */
async function timesOf(...sides: readonly (() => Promise<unknown>)[]): Promise<Times[]> {
  const times: number[][] = sides.map(() => []);
  for (let i = -2; i < ROUNDS; i += 1) {
    for (const [side, ask] of sides.entries()) {
      const from = performance.now();
      await ask();
      if (i >= 0) times[side]?.push(performance.now() - from);
    }
  }
  return times.map((some) => ({ median: median(some), p95: percentile(some, 95) }));
}

const NONE: Times = { median: Number.NaN, p95: Number.NaN };
const Anything = z.record(z.string(), z.unknown());

/** Figures of customers, and pages of a list by amount, of one brand with many orders. */
export async function measureCustomers(context: Context, url: string, count: number, results: Results): Promise<void> {
  const { db } = context.postgres;
  await migratePostgres(db);
  await migrateClickHouse(context.clickhouse);
  const brandId = await createBrand(db, context.clock, { name: 'customers', plan: 'enterprise', status: 'active' });
  progress(`Recording ${count.toLocaleString('en')} orders of one brand`);
  await fill(db, url, brandId, count);
  const begun = performance.now();
  await rebuildFigures(context, brandId);
  const seconds = (performance.now() - begun) / 1000;
  progress(`ClickHouse has them after ${round(seconds)} s, ${Math.round(count / seconds)} a second`);
  const page = { page: 1, limit: 20 };
  const byCreator = { by: 'creator', sort: 'new_customers', ...page } as const;
  const from = new Date(Date.now() - 364 * DAY_MS).toISOString().slice(0, 10);
  const questions = [
    { name: 'customers', days: 30, ask: () => findCustomers(context, brandId, byCreator) },
    { name: 'customers_year', days: 365, ask: () => findCustomers(context, brandId, { ...byCreator, from }) },
    { name: 'share', days: 30, ask: () => findShare(context, brandId, {}) },
    { name: 'share_year', days: 365, ask: () => findShare(context, brandId, { from }) },
    {
      name: 'cohorts',
      days: 365,
      ask: () => findCohorts(context, brandId, { by: 'month', metric: 'customers', of: 'all' }),
    },
    { name: 'returns', days: 30, ask: () => findReturns(context, brandId, { by: 'creator', ...page }) },
  ];
  const warm = "the engines' caches";
  for (const { name, days, ask } of questions) {
    // One that takes too long is reported as failed, and the others are still measured.
    await results.part(name, async (add) => {
      const bare = bareOf(brandId, days);
      const [ours = NONE, theirs = NONE] = await timesOf(ask, () => query(context.clickhouse, Anything, bare));
      add({
        name: `${name}_p95_ms`,
        value: ours.p95,
        floor: count >= AIMED_ORDERS ? AIM_MS : null,
        bound: 'at most',
        measured: `median ${round(ours.median)} ms of ${count} orders, ${round(ours.median / theirs.median)} times a bare scan of its days (${round(theirs.median)} ms)`,
        warm,
      });
    });
  }
  await results.part('orders list', async (add) => {
    const newest = sql`select * from orders where brand_id = ${brandId} order by occurred_at desc, id desc limit 100`;
    const [listed = NONE, bare = NONE] = await timesOf(
      () => orders.list(db, brandId, { ...PAGE, sort: 'newest', page: 1 }, toPage({ ...PAGE, page: 1 })),
      () => newest.execute(db),
    );
    add({
      ...{ name: 'orders_list_p95_ms', value: listed.p95, floor: null, bound: 'at most', warm },
      measured: `median ${round(listed.median)} ms, ${round(listed.median / bare.median)} times a bare SELECT`,
    });
    const last = Math.min(LISTED, count) / PAGE.limit;
    const pageAt = (number: number) => () =>
      orders.list(db, brandId, { ...PAGE, page: 1 }, toPage({ ...PAGE, page: number }));
    const [first = NONE, deep = NONE] = await timesOf(pageAt(1), pageAt(last));
    add({
      ...{ name: `orders_by_amount_page_${last}_to_page_1`, value: deep.median / first.median, floor: 3 },
      ...{ bound: 'at most', warm },
      measured: `page 1: ${round(first.median)} ms, page ${last}: ${round(deep.median)} ms`,
    });
  });
}
