import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { readConfig } from '../src/config.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import { type Db, openPostgres } from '../src/kit/engines/postgres/open.ts';
import type { Config } from '../src/kit/values/config.ts';
import { startEmbedded } from '../src/local/engines/start.ts';
import type { EngineUrls } from '../src/process/engine-urls.ts';
import { environmentOf, lastWords, NOWHERE, startNode, stopNode } from './children.ts';
import { benchCommand } from './command.ts';
import { countStatements } from './counting-proxy.ts';
import { cpuSecondsOf } from './load.ts';
import { withOwnData } from './own-data.ts';
import { openResults, progress, type Ratio, type Results } from './report.ts';

const FEW = 100;
const MANY = 100_000;
const MOST_CORE_SHARE = 0.03;
const MOST_STATEMENTS = 20;

const options = benchCommand(
  'bench tenants',
  'Measures the cost of an idle worker with 100 idle brands, then with 100,000. Uses the engines in ' +
    'DATABASE_URL, REDIS_URL and CLICKHOUSE_URL with a temporary database, or embedded engines. Exits with 1 if a ' +
    'floor is missed.',
)
  .option('--quick', 'measure for 10 s each instead of 60')
  .parse()
  .opts<{ quick?: true }>();

/** A worker is calm once it has used less than a tenth of a core for this long: its first full pass is over. */
const CALM_MS = 5_000;
const CALM_SHARE = 0.1;
const CALM_WITHIN_MS = 180_000;
const MEASURED_MS = options.quick ? 10_000 : 60_000;

/**
 * Brands that were once active: each has its subscriptions, a data key, and an event that every consumer has received.
 */
async function addIdleBrands(db: Db, from: number, until: number): Promise<void> {
  const longAgo = new Date('2026-01-01T00:00:00Z');
  const id = sql`lpad(n::text, 20, '0')`;
  const numbers = sql`generate_series(${from}::int, ${until - 1}::int) n`;
  await sql`insert into brands (id, name, created_at) select 'brd_' || ${id}, 'Idle ' || n, ${longAgo}::timestamptz from ${numbers}`.execute(
    db,
  );
  await sql`insert into subscriptions (id, brand_id, kind, plan, status, anchor_at, created_at, in_redis)
    select substr(kind, 1, 1) || 'su_' || ${id}, 'brd_' || ${id}, kind, 'growth', 'active', ${longAgo}::timestamptz,
      ${longAgo}::timestamptz, true
    from ${numbers}, unnest(array['brand', 'data']) kind`.execute(db);
  await sql`insert into api_keys (id, brand_id, subscription_id, kind, name, hash, first_characters, last_characters,
      created_at, last_used_at)
    select 'key_' || ${id}, 'brd_' || ${id}, 'dsu_' || ${id}, 'data', 'Idle', sha256(n::text::bytea), '', '',
      ${longAgo}::timestamptz, ${longAgo}::timestamptz
    from ${numbers}`.execute(db);
  await sql`update outbox_numbers set seq = 1, moved_at = ${longAgo}`.execute(db);
  await sql`insert into outbox_positions (consumer, brand_id, seq) select consumer, 'brd_' || ${id}, 1
    from ${numbers}, unnest(array['profiles', 'webhooks', 'briefs', 'content']) consumer`.execute(db);
  await sql`vacuum analyze`.execute(db);
}

interface Idle {
  startSeconds: number;
  coreShare: number;
  statementsPerSecond: number;
}

/** The CPU seconds until a worker is calm. */
async function untilCalm(pid: number): Promise<number> {
  const end = performance.now() + CALM_WITHIN_MS;
  for (let before = 0; performance.now() < end; ) {
    await pause(CALM_MS);
    const used = cpuSecondsOf(pid);
    if (used - before < (CALM_MS / 1_000) * CALM_SHARE) return used;
    before = used;
  }
  throw new Error(`The worker did not become calm within ${CALM_WITHIN_MS / 1_000} s.`);
}

async function measureWorker(config: Config, urls: EngineUrls): Promise<Idle> {
  const proxy = await countStatements(urls.postgres);
  const worker = startNode(['src/worker.ts'], environmentOf(config, { ...urls, postgres: proxy.url }));
  const said = lastWords(worker);
  try {
    const startSeconds = await untilCalm(worker.pid ?? 0);
    const [cpu, statements, from] = [cpuSecondsOf(worker.pid ?? 0), proxy.statements(), performance.now()];
    await pause(MEASURED_MS);
    if (worker.exitCode !== null) throw new Error(`The worker ended:\n${said()}`);
    const seconds = (performance.now() - from) / 1_000;
    return {
      startSeconds,
      coreShare: (cpuSecondsOf(worker.pid ?? 0) - cpu) / seconds,
      statementsPerSecond: (proxy.statements() - statements) / seconds,
    };
  } finally {
    await stopNode(worker);
    proxy.close();
  }
}

function ratiosOf(brands: number, { startSeconds, coreShare, statementsPerSecond }: Idle): Ratio[] {
  const shared = {
    bound: 'at most',
    warm: '-',
    measured: `with ${brands.toLocaleString('en')} idle brands`,
  } as const;
  return [
    { ...shared, name: `worker_start_cpu_seconds_${brands}`, value: startSeconds, floor: null },
    { ...shared, name: `worker_core_share_${brands}`, value: coreShare, floor: MOST_CORE_SHARE },
    { ...shared, name: `worker_statements_per_second_${brands}`, value: statementsPerSecond, floor: MOST_STATEMENTS },
  ];
}

async function measureAll(results: Results, config: Config, urls: EngineUrls): Promise<void> {
  const name = `bench_tenants_${process.pid}`;
  const admin = new pg.Client(urls.postgres);
  await admin.connect();
  await admin.query(`create database ${name}`);
  const own = new URL(urls.postgres);
  own.pathname = name;
  const postgres = openPostgres(own.href);
  try {
    await migratePostgres(postgres.db);
    let made = 0;
    for (const brands of [FEW, MANY]) {
      progress(`${brands.toLocaleString('en')} idle brands`);
      await results.part(`worker_${brands}`, async (add) => {
        await addIdleBrands(postgres.db, made, brands);
        made = brands;
        add(...ratiosOf(brands, await measureWorker(config, { ...urls, postgres: own.href })));
      });
    }
  } finally {
    await postgres.close();
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  }
}

const config = readConfig();
const { postgres, redis, clickhouse } = config.urls;
const results = openResults();
await results.part('tenants', async () => {
  if (postgres && redis && clickhouse) {
    return await measureAll(results, config, { postgres, redis, clickhouse, elasticsearch: NOWHERE });
  }
  await withOwnData(config, async (dataName) => {
    const { directory, java } = config;
    const only = ['postgres', 'redis', 'clickhouse'] as const;
    const started = { directory, dataName, only, elasticsearchHeapMb: 0, java, report: progress };
    const engines = await startEmbedded(started);
    try {
      const { postgres: ownPostgres = '', redis: ownRedis = '', clickhouse: ownClickhouse = '' } = engines.urls;
      const urls = { postgres: ownPostgres, redis: ownRedis, clickhouse: ownClickhouse };
      await measureAll(results, config, { ...urls, elasticsearch: NOWHERE });
    } finally {
      await engines.stop();
    }
  });
});
process.exit(results.report() ? 0 : 1);
