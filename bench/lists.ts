import { sql } from 'kysely';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { createBrand, listSubscriptions } from '../src/platform/brands/brands.ts';
import { createKey } from '../src/platform/keys/keys.ts';
import { buildApps } from '../src/process/apps.ts';
import { Terms } from '../src/workflow/terms/terms.shapes.ts';
import { benchCommand } from './command.ts';
import { alternate, latencyMs, median, openTarget, percentile } from './load.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { progress, type Ratio, type Results, round } from './report.ts';

const ROWS = 100_000;
/** Every second order paid a commission. */
const PAID = 2;
const UNATTRIBUTED = {
  ...{
    rule: null,
    reason: 'no_candidates',
    link_id: null,
    decided_at: '2026-01-01T00:00:00.000Z',
    terms: null,
    candidates: [],
  },
};
const LAST_PAGE = 1_000;
const ROUNDS = 40;
/** The same order of magnitude: no page may take ten times as long as another. */
const ORDER_OF_TIME = 10;
/** The first page of a list by a figure. */
const BY_FIGURE_MS = 300;
/** The customer who ordered most often. */
const MOST_ORDERS = 5_000;
/** The first page of customers, and one of them. */
const CUSTOMERS_MS = 100;
const CUSTOMERS = ['customers?limit=100', 'customers?state=running&limit=100', 'customers/cus_1'];
const SORTED = [
  'orders?sort=commission',
  'orders?sort=commission&attributed=false',
  'orders?sort=amount',
  'roster?sort=paid',
];

const options = benchCommand(
  'bench lists',
  `Measures page ${LAST_PAGE} against page 1 of the brand's lists with ${ROWS.toLocaleString('en')} rows each, and first pages by a figure.`,
)
  .option('--orders <n>', 'orders of the brand', String(ROWS))
  .option('--only-sorted', 'only first pages by a figure')
  .option('--only-customers', 'only customers whom creators brought')
  .parse()
  .opts<{ orders: string; onlySorted?: true; onlyCustomers?: true }>();
const ORDERS = Number(options.orders);

/** A brand with enough creators, roster entries, campaigns and applications to fill every list. */
async function fill({ postgres: { db } }: Context, brandId: string): Promise<void> {
  const at = sql`timestamptz '2026-01-01' + n * interval '1 second'`;
  const rows = sql`generate_series(1, ${sql.lit(ROWS)}) n`;
  await sql`insert into creators (id, brand_id, email, name, created_at)
    select 'crt_' || n, ${brandId}, 'c' || n || '@example.com', 'Creator ' || n, ${at} from ${rows}`.execute(db);
  await sql`insert into roster_entries (id, brand_id, creator_id, status, added_at)
    select 'rst_' || n, ${brandId}, 'crt_' || n, 'active', ${at} from ${rows}`.execute(db);
  await sql`insert into campaigns (id, brand_id, title, status, created_at)
    select 'cmp_' || n, ${brandId}, 'Campaign ' || n, 'active', ${at} from ${rows}`.execute(db);
  await sql`insert into applications (id, brand_id, campaign_id, creator_id, creator_email, status, applied_at)
    select 'app_' || n, ${brandId}, 'cmp_' || (n % 1000 + 1), 'crt_' || n, 'c' || n || '@example.com', 'pending', ${at}
    from ${rows}`.execute(db);
  const order = sql`'ord_' || lpad(n::text, 12, '0')`;
  await db.transaction().execute(async (trx) => {
    // Without the seals of rows, which nobody verifies here.
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`set local statement_timeout = 0`.execute(trx);
    await sql`insert into integrations (id, brand_id, provider, name, storefront_url, storefront_host, base_url, currency, status,
        secrets, connected_at, created_at)
      values ('int_bench', ${brandId}, 'generic', 'Bench', 'https://bench.example', 'bench.example', 'https://bench.example', 'USD',
        'connected', '', now(), now())`.execute(trx);
    // In parts, because the client waits for an answer as long as for any statement.
    for (let first = 1; first <= ORDERS; first += ROWS) {
      const last = Math.min(first + ROWS - 1, ORDERS);
      const orders = sql`generate_series(${sql.lit(first)}, ${sql.lit(last)}) n`;
      await sql`insert into orders (id, brand_id, integration_id, order_id, currency, base_minor, occurred_at, paid_at, store_updated_at,
          attribution, created_at)
        select ${order}, ${brandId}, 'int_bench', n::text, 'USD', 1000 + n % 20000, ${at}, ${at}, ${at},
          ${JSON.stringify(UNATTRIBUTED)}::jsonb, ${at} from ${orders}`.execute(trx);
      await sql`insert into commissions (id, brand_id, order_id, creator_id, source, currency, amount_minor, commission_minor,
          commission_rate_ppm, hold_days, status, paid_at, fraud_flags, occurred_at, synced_at, created_at)
        select 'com_' || n, ${brandId}, ${order}, 'crt_' || (n % ${sql.lit(ROWS)} + 1), 'generic', 'USD', 1000, n % 5000, 100000, 30,
          'paid', ${at}, '[]', ${at}, ${at}, ${at}
        from ${orders} where n % ${sql.lit(PAID)} = 0`.execute(trx);
    }
  });
  for (const table of ['orders', 'commissions']) await sql`vacuum analyze ${sql.table(table)}`.execute(db);
  await sql`analyze`.execute(db);
}

/** A brand with customers of subscriptions: two orders each, and many of the first. */
async function fillCustomers({ postgres: { db } }: Context, brandId: string): Promise<void> {
  const at = sql`timestamptz '2026-01-01' + n * interval '1 second'`;
  const rows = sql`generate_series(1, ${sql.lit(ROWS)}) n`;
  const terms = JSON.stringify(Terms.parse({ rate: { percent: 10 }, covers: 'subscription', months: 12 }));
  const attribution = JSON.stringify({ ...UNATTRIBUTED, rule: 'subscription', reason: null });
  const insertOrders = async (trx: typeof db, id: string, numbers: ReturnType<typeof sql>, customer: string) => {
    const [order, of] = [sql.raw(id), sql.raw(customer)];
    await sql`insert into orders (id, brand_id, integration_id, order_id, currency, base_minor, occurred_at, paid_at, store_updated_at,
        attribution, customer_id, kind, created_at)
      select ${order}, ${brandId}, 'int_customers', ${order}, 'USD', 1000, ${at}, ${at}, ${at}, ${attribution}::jsonb, ${of},
        'renewal', ${at} from ${numbers}`.execute(trx);
    await sql`insert into commissions (id, brand_id, order_id, creator_id, link_id, source, currency, amount_minor, commission_minor,
        commission_rate_ppm, hold_days, status, paid_at, fraud_flags, occurred_at, synced_at, created_at)
      select 'com_' || ${order}, ${brandId}, ${order}, 'crt_customers', 'lnk_customers', 'generic', 'USD', 1000, 100, 100000, 30,
        'pending', ${at}, '[]', ${at}, ${at}, ${at} from ${numbers}`.execute(trx);
  };
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`set local statement_timeout = 0`.execute(trx);
    await sql`insert into integrations (id, brand_id, provider, name, storefront_url, storefront_host, base_url, currency, status,
        secrets, connected_at, created_at)
      values ('int_customers', ${brandId}, 'generic', 'Bench', 'https://customers.example', 'customers.example',
        'https://customers.example', 'USD', 'connected', '', now(), now())`.execute(trx);
    await sql`insert into creators (id, brand_id, email, name, created_at)
      values ('crt_customers', ${brandId}, 'ana@example.com', 'Ana', now())`.execute(trx);
    await sql`insert into links (id, brand_id, creator_id, type, value, active, currency, commission_rate_ppm, hold_days,
        attribution_days, created_at)
      values ('lnk_customers', ${brandId}, 'crt_customers', 'discount_code', 'ANA', true, 'USD', 100000, 30, 30, now())`.execute(
      trx,
    );
    await sql`insert into customers (id, brand_id, link_id, creator_id, terms, origin, first_order_id, products, customer_email, since,
        created_at)
      select 'cus_' || n, ${brandId}, 'lnk_customers', 'crt_customers', ${terms}::jsonb, 'order', 'ord_a' || n, '{}', 'j***@e***.com',
        ${at}, ${at} from ${rows}`.execute(trx);
    await sql`insert into customer_keys (brand_id, customer_id, kind, key)
      select ${brandId}, 'cus_' || n, 'subscription', 'int_customers s' || n from ${rows}`.execute(trx);
    await insertOrders(trx, "'ord_a' || n", rows, "'cus_' || n");
    await insertOrders(trx, "'ord_b' || n", rows, "'cus_' || n");
    await insertOrders(trx, "'ord_c' || n", sql`generate_series(1, ${sql.lit(MOST_ORDERS)}) n`, "'cus_1'");
  });
  await sql`vacuum analyze`.execute(db);
}

async function measureFirst(
  url: string,
  keys: readonly string[],
  list: string,
  floor: number,
  of: string,
): Promise<Ratio> {
  let turn = 0;
  const target = openTarget(url, () => {
    turn += 1;
    return { authorization: `Bearer ${keys[turn % keys.length]}` };
  });
  const first = () => latencyMs(target, { method: 'GET', path: `/v1/${list}` });
  for (let n = 0; n < 5; n += 1) await first();
  const latencies: number[] = [];
  for (let n = 0; n < ROUNDS; n += 1) latencies.push(await first());
  await target.pool.close();
  const p95 = percentile(latencies, 95);
  const measured = `p50 ${round(median(latencies))} ms, of ${of}`;
  return {
    name: `${list}_p95_ms`,
    value: p95,
    floor,
    bound: 'at most',
    measured,
    warm: "PostgreSQL's buffers",
  };
}

async function measureList(url: string, keys: readonly string[], list: string): Promise<Ratio> {
  let turn = 0;
  const target = openTarget(url, () => {
    turn += 1;
    return { authorization: `Bearer ${keys[turn % keys.length]}` };
  });
  const page = (number: number) => () =>
    latencyMs(target, { method: 'GET', path: `/v1/${list}?limit=100&page=${number}` });
  await alternate(5, [page(1), page(LAST_PAGE)]);
  const [first = [], last = []] = await alternate(ROUNDS, [page(1), page(LAST_PAGE)]);
  await target.pool.close();
  return {
    name: `${list}_page_${LAST_PAGE}_to_page_1`,
    value: median(last) / median(first),
    floor: ORDER_OF_TIME,
    bound: 'at most',
    measured: `page 1: ${round(median(first))} ms, page ${LAST_PAGE}: ${round(median(last))} ms, exact totals`,
    warm: "PostgreSQL's buffers",
  };
}

async function openBrand({ postgres: { db }, clock }: Context, name: string) {
  const brandId = await createBrand(db, clock, { name, plan: 'enterprise', status: 'active' });
  const subscriptionId = (await listSubscriptions(db, brandId)).find(({ kind }) => kind === 'brand')?.id ?? '';
  const request = { brandId, subscriptionId, kind: 'brand', name: 'bench' } as const;
  const keys = await Promise.all(Array.from({ length: 20 }, async () => (await createKey(db, clock, request)).key));
  return { brandId, keys };
}

async function measure(results: Results, context: Context): Promise<void> {
  const { db } = context.postgres;
  await migratePostgres(db);
  await migrateClickHouse(context.clickhouse);
  const apps = await buildApps(context);
  const url = await apps.api.listen({ host: '127.0.0.1', port: 0 });
  const measureFirsts = async (keys: readonly string[], lists: readonly string[], floor: number, of: string) => {
    for (const list of lists) {
      progress(`GET /v1/${list}`);
      await results.part(list, async (add) => add(await measureFirst(url, keys, list, floor, of)));
    }
  };
  const measureLists = async (keys: readonly string[], lists: readonly string[]) => {
    for (const list of lists) {
      progress(`GET /v1/${list}`);
      await results.part(list, async (add) => add(await measureList(url, keys, list)));
    }
  };
  progress(`Filling the lists with ${ROWS.toLocaleString('en')} rows each`);
  if (!options.onlySorted) {
    const { brandId, keys } = await openBrand(context, 'customers');
    await fillCustomers(context, brandId);
    await measureFirsts(keys, CUSTOMERS, CUSTOMERS_MS, `${ROWS.toLocaleString('en')} customers`);
    await measureLists(keys, ['customers']);
  }
  if (!options.onlyCustomers) {
    const { brandId, keys } = await openBrand(context, 'lists');
    await fill(context, brandId);
    const sortedLists = SORTED.map((list) => `${list}&limit=100`);
    await measureFirsts(keys, sortedLists, BY_FIGURE_MS, `${ORDERS.toLocaleString('en')} orders`);
    await measureLists(keys, options.onlySorted ? [] : ['campaigns', 'applications', 'roster', 'creators']);
  }
  await apps.close();
}

measureOnOwnEngines(measure, { only: ['postgres', 'redis', 'clickhouse'] });
