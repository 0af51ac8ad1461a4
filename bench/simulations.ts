import { sql } from 'kysely';
import {
  NOTHING_YET,
  simulateNextOrders,
  toSimulation,
  toSimulationPlan,
} from '../src/affiliates/orders/simulations.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Db } from '../src/kit/engines/postgres/open.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { DAY_MS } from '../src/kit/values/duration.ts';
import { createBrand } from '../src/platform/brands/brands.ts';
import { Terms } from '../src/workflow/terms/terms.shapes.ts';
import { benchCommand } from './command.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { progress, type Results, round } from './report.ts';

const DAYS = 365;
const CREATORS = 500;
/** Rows of one transaction. */
const AT_ONCE = 10_000;
/** For a year of 1,000,000 orders. */
const AIM_S = 60;
const AIMED_ORDERS = 1_000_000;

const { orders: ORDERS } = benchCommand(
  'bench simulations',
  "Simulates terms over a year of a brand's orders, turn by turn as its job does: rules by product, for new customers and by " +
    'volume, caps and a budget.',
)
  .option('--orders <n>', 'orders of the year', Number, 100_000)
  .parse()
  .opts<{ orders: number }>();

/** Orders of two lines with a code: every third is the first of its customer. */
async function fill(db: Db, brandId: string): Promise<void> {
  const insert = async (first: number, last: number) => {
    const n = sql`generate_series(${sql.lit(first)}, ${sql.lit(last)}) as n`;
    const at = sql`date_trunc('hour', now()) - ((${sql.lit(ORDERS)} - n) * ${sql.lit((DAYS * 86_400) / ORDERS)}::float8) * interval '1 second'`;
    const id = sql`'ord_' || lpad(n::text, 12, '0')`;
    const creator = sql`(n % ${sql.lit(CREATORS)} + 1)`;
    const attribution = sql`jsonb_build_object('rule', 'code', 'reason', null, 'cause', 'first_report', 'earlier', '[]'::jsonb,
      'link_id', 'lnk_' || ${creator}, 'decided_at', to_char(${at}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'candidates', jsonb_build_array(
        jsonb_build_object('type', 'code', 'code', 'GO' || ${creator}, 'link_id', 'lnk_' || ${creator}, 'active_at_order', true,
          'outcome', 'won', 'reason', null)),
      'terms', jsonb_build_object('commission_rate', 10, 'hold_days', 30, 'attribution_days', 30, 'currency', 'USD'))`;
    const items = sql`jsonb_build_array(
      jsonb_build_object('lineId', '1', 'sku', 'SERUM-30', 'title', 'Serum', 'quantity', 1, 'amountMinor', 6000),
      jsonb_build_object('lineId', '2', 'sku', 'BALM', 'title', 'Balm', 'quantity', 1, 'amountMinor', 4000))`;
    await db.transaction().execute(async (trx) => {
      // Without the seals of rows, which nobody verifies here.
      await sql`set local session_replication_role = replica`.execute(trx);
      await sql`set local statement_timeout = 0`.execute(trx);
      await sql`insert into orders (id, brand_id, integration_id, order_id, currency, base_minor, occurred_at, paid_at,
          store_updated_at, customer_hash, attribution, created_at)
        select ${id}, ${brandId}, 'int_bench', n::text, 'USD', 10000, ${at}, ${at}, ${at},
          sha256(convert_to((n % ${sql.lit(Math.ceil(ORDERS / 3))})::text, 'UTF8')), ${attribution}, ${at} from ${n}`.execute(
        trx,
      );
      await sql`insert into order_items (brand_id, integration_id, order_id, refund_id, items, reported_at)
        select ${brandId}, 'int_bench', n::text, '', ${items}, ${at} from ${n}`.execute(trx);
      await sql`insert into commissions (id, brand_id, order_id, creator_id, link_id, source, currency, amount_minor,
          commission_minor, commission_rate_ppm, hold_days, hold_ends_at, status, paid_at, fraud_flags, occurred_at, synced_at,
          created_at)
        select 'com_' || n, ${brandId}, ${id}, 'crt_' || ${creator}, 'lnk_' || ${creator}, 'generic', 'USD', 10000, 1000, 100000, 30,
          ${at} + interval '30 days', 'pending', ${at}, '[]', ${at}, ${at}, ${at} from ${n}`.execute(trx);
    });
  };
  await sql`insert into integrations (id, brand_id, provider, name, currency, status, storefront_url, storefront_host, base_url,
      secrets, connected_at, created_at)
    values ('int_bench', ${brandId}, 'generic', 'bench', 'USD', 'disconnected', 'https://bench.example', 'bench.example',
      'https://bench.example', '', now(), now())`.execute(db);
  await sql`insert into creators (id, brand_id, email, name, created_at)
    select 'crt_' || n, ${brandId}, 'c' || n || '@example.com', 'Creator ' || n, now()
    from generate_series(1, ${sql.lit(CREATORS)}) n`.execute(db);
  await sql`insert into links (id, brand_id, creator_id, type, value, active, currency, commission_rate_ppm, hold_days,
      attribution_days, inherits_terms, created_at)
    select 'lnk_' || n, ${brandId}, 'crt_' || n, 'discount_code', 'GO' || n, true, 'USD', 100000, 30, 30, true, now()
    from generate_series(1, ${sql.lit(CREATORS)}) n`.execute(db);
  for (let first = 1; first <= ORDERS; first += AT_ONCE) await insert(first, Math.min(ORDERS, first + AT_ONCE - 1));
  for (const table of ['orders', 'order_items', 'commissions']) await sql`analyze ${sql.table(table)}`.execute(db);
}

const base = { rate: { percent: 10 } };
const serums = { name: 'Serums', when: { product: ['SERUM-30'] }, rate: { percent: 15 } };
const TRIED = {
  lines: { ...base, rules: [serums] },
  customers: {
    ...base,
    rules: [{ name: 'New', when: { customer: 'new' }, rate: { flat: { USD: 5 }, per: 'order' } }, serums],
  },
  volume: {
    ...base,
    rules: [{ name: 'Many', when: { volume: { per: 'month', orders_from: 100 } }, rate: { percent: 12 } }],
  },
  limits: {
    ...base,
    rules: [serums],
    caps: { customer: { USD: 20 }, month: { USD: 1_000 } },
    budget: { per: 'month', amount: { USD: 50_000 } },
  },
};

async function measure(results: Results, context: Context): Promise<void> {
  const { postgres, clock, config } = context;
  await migratePostgres(postgres.db);
  const brandId = await createBrand(postgres.db, clock, { name: 'simulations', plan: 'enterprise', status: 'active' });
  progress(`Recording ${ORDERS.toLocaleString('en')} orders of one brand`);
  await fill(postgres.db, brandId);
  const to = clock.now();
  const from = new Date(to.getTime() - (DAYS + 1) * DAY_MS);
  for (const [name, terms] of Object.entries(TRIED)) {
    await results.part(name, async (add) => {
      const rules = { terms: Terms.parse(terms) };
      const span = { from: from.toISOString(), to: to.toISOString(), as_of: to.toISOString() };
      const plan = toSimulationPlan({ ...span, rules, currency: 'USD' });
      const begun = performance.now();
      const cpu = process.cpuUsage();
      let progressed = NOTHING_YET;
      for (let isLast = false; !isLast; ) {
        const turn = await simulateNextOrders(context, brandId, plan, progressed, { most: config.simulationOrders });
        ({ isLast } = turn);
        progressed = turn.progress;
      }
      const { meta } = await toSimulation(postgres.db, brandId, plan, progressed);
      const seconds = (performance.now() - begun) / 1000;
      const { user, system } = process.cpuUsage(cpu);
      add({
        name: `${name}_seconds`,
        value: seconds,
        floor: ORDERS >= AIMED_ORDERS ? AIM_S : null,
        bound: 'at most',
        measured: `${meta.orders} orders, ${meta.changed} changed, ${Math.round(meta.orders / seconds)} a second, ${round((user + system) / 1e6)} s of CPU`,
        warm: "PostgreSQL's cache",
      });
    });
  }
}

measureOnOwnEngines(measure, { only: ['postgres', 'redis', 'clickhouse'], mayBeGiven: true });
