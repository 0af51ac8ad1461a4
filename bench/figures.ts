import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { listDays } from '../src/analytics/figures/totals.ts';
import { insertOnce } from '../src/kit/engines/clickhouse/insert.ts';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { type ClickHouse, openClickHouse } from '../src/kit/engines/clickhouse/open.ts';
import { command, integer, query } from '../src/kit/engines/clickhouse/query.ts';
import type { Config } from '../src/kit/values/config.ts';
import { LARGEST, loadClickHouse, loadPostgres } from './figures-data.ts';
import { linksOf, QUARTER, QUESTIONS, YEAR } from './figures-questions.ts';
import { median, percentile } from './load.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { type Add, progress, type Results, round } from './report.ts';

export interface FiguresScale {
  events: number;
  /** Only checks the floor on exactness. */
  isQuick: boolean;
}

const ROUNDS = 15;
const WARM_UPS = 3;
/** The smaller data size for measurements that must not grow with the data. */
const SMALL_EVENTS = 1_000_000;
const SETTLE_MS = 60_000;
const FIFTY_MILLION = 50_000_000;

/** Milliseconds of each side, measured in turn. */
async function timesOf(...sides: readonly (() => Promise<unknown>)[]): Promise<number[][]> {
  const times: number[][] = sides.map(() => []);
  for (let i = -WARM_UPS; i < ROUNDS; i += 1) {
    for (const [side, ask] of sides.entries()) {
      const from = performance.now();
      await ask();
      if (i >= 0) times[side]?.push(performance.now() - from);
    }
  }
  return times;
}

/** Their medians. */
const timed = async (...sides: readonly (() => Promise<unknown>)[]) => (await timesOf(...sides)).map(median);

const Count = z.object({ count: integer });

async function countOf(clickhouse: ClickHouse, sql: string): Promise<number> {
  return (await query(clickhouse, Count, sql))[0]?.count ?? 0;
}

/** Waits for the merges that follow a load. */
async function settle(clickhouse: ClickHouse): Promise<void> {
  const end = performance.now() + SETTLE_MS;
  let quiet = 0;
  while (quiet < 4 && performance.now() < end) {
    quiet = (await countOf(clickhouse, 'SELECT count() AS count FROM system.merges')) === 0 ? quiet + 1 : 0;
    await pause(500);
  }
}

async function load(clickhouse: ClickHouse, events: number): Promise<void> {
  const begun = performance.now();
  await loadClickHouse(clickhouse, 0, events);
  const seconds = (performance.now() - begun) / 1000;
  progress(`ClickHouse has ${events} events (${Math.round(events / seconds)} per second)`);
  await settle(clickhouse);
}

const WARM = "the engine's mark cache, the system's page cache";
const ms = (value: number) => `${round(value)} ms`;

async function compareRaw(clickhouse: ClickHouse, { events, isQuick }: FiguresScale, add: Add): Promise<void> {
  for (const { name, rollup, raw, floors } of QUESTIONS) {
    const [ours = [], bare = []] = await timesOf(
      () => rollup(clickhouse),
      () => raw(clickhouse),
    );
    const [rollupMs, rawMs] = [median(ours), median(bare)];
    const floor = floors && !isQuick ? floors[events >= FIFTY_MILLION ? 1 : 0] : null;
    const measured = `raw ${ms(rawMs)}, ours ${ms(rollupMs)}, p95 ${ms(percentile(ours, 95))}`;
    add({
      name: `raw_to_rollup_${name}`,
      value: rawMs / rollupMs,
      floor,
      bound: 'at least',
      measured,
      warm: WARM,
    });
  }
}

/** Measures both sizes in turn, so that other load on the machine affects both. */
async function measureGrowth(small: ClickHouse, large: ClickHouse, events: number, add: Add): Promise<void> {
  for (const { name, rollup, isFlat } of QUESTIONS) {
    const [before = 1, after = 0] = await timed(
      () => rollup(small),
      () => rollup(large),
    );
    add({
      name: `growth_${name}`,
      value: after / before,
      floor: isFlat ? 1.5 : null,
      bound: 'at most',
      measured: `${ms(before)} at ${SMALL_EVENTS} events, ${ms(after)} at ${events}`,
      warm: WARM,
    });
  }
}

/** Creates the smaller size in a separate database next to the larger one. */
async function growthOf(large: ClickHouse, url: string, { events }: FiguresScale, add: Add): Promise<void> {
  if (events <= SMALL_EVENTS) return;
  await command(large, 'CREATE DATABASE bench_small');
  const small = openClickHouse(`${url}/bench_small`);
  try {
    await migrateClickHouse(small);
    await load(small, SMALL_EVENTS);
    await measureGrowth(small, large, events, add);
  } finally {
    await small.close();
  }
}

const RETRIED = 20_000;

/** Sends one batch of clicks three times: its table and every rollup must have each click once. */
async function measureRetry(clickhouse: ClickHouse, add: Add): Promise<void> {
  const columns = ['click_id', 'brand_id', 'link_id', 'creator_id', 'currency', 'at', 'kind', 'visitor'];
  const row = (i: number) => `c${i}\tretried\tl${i % 100}\tk\tUSD\t2025-0${1 + (i % 9)}-01 00:00:00.000\tcounted\t1\n`;
  const rows = Array.from({ length: RETRIED }, (_, i) => row(i)).join('');
  for (let i = 0; i < 3; i++) await insertOnce(clickhouse, 'clicks_v1', columns, rows, 'bench:retried');
  const sums = await Promise.all([
    countOf(clickhouse, "SELECT count() AS count FROM clicks_v1 WHERE brand_id = 'retried'"),
    countOf(clickhouse, "SELECT uniqExact(click_id) AS count FROM clicks_v1 WHERE brand_id = 'retried'"),
    ...['link_daily_v1', 'link_life_v1', 'brand_daily_v1'].map((table) =>
      countOf(clickhouse, `SELECT sum(clicks) AS count FROM ${table} WHERE brand_id = 'retried'`),
    ),
    countOf(
      clickhouse,
      "SELECT sum(clicks) AS count FROM dimension_daily_v1 WHERE brand_id = 'retried' AND dimension = 'link'",
    ),
  ]);
  const isExact = sums.every((sum) => sum === RETRIED);
  add({
    name: 'retried_batch_is_exact',
    value: isExact ? 1 : 0,
    floor: 1,
    bound: 'at least',
    measured: `raw, distinct, rollups: ${sums.join(', ')} of ${RETRIED} sent three times`,
    warm: '-',
  });
}

const SQL_SUMS = `select to_char(at at time zone 'UTC', $1) as key, sum(clicks) as clicks, sum(sales) as sales from (
  select at, 1 as clicks, 0 as sales from clicks where brand_id = $2 and kind = 'counted' and at >= $3 and at < $4
  union all select at, 0, case when account = 'sales' then -amount_minor else 0 end from ledger
    where brand_id = $2 and at >= $3 and at < $4) events group by 1 order by 1`;
const LIFETIME = `select link_id, sum(clicks) as clicks, sum(sales) as sales from (
  select link_id, 1 as clicks, 0 as sales from clicks where brand_id = $1 and kind = 'counted'
  union all select link_id, 0, case when account = 'sales' then -amount_minor else 0 end from ledger where brand_id = $1
  ) events where $2::text[] is null or link_id = any($2) group by 1`;

/** Both engines must have the same rows. */
async function assertSame(clickhouse: ClickHouse, { pool }: PostgresServer): Promise<void> {
  const days = await listDays(clickhouse, LARGEST, YEAR);
  const { rows } = await pool.query(SQL_SUMS, ['YYYY-MM-DD', LARGEST, YEAR.from, YEAR.until]);
  const ours = days.map(({ day, clicks, sales }) => `${day} ${clicks} ${sales}`);
  const theirs = rows.map(({ key, clicks, sales }) => `${key} ${clicks} ${sales}`);
  if (ours.join() !== theirs.join()) throw new Error(`PostgreSQL has different rows: ${theirs[0]} for ${ours[0]}.`);
}

async function comparePostgres(
  clickhouse: ClickHouse,
  config: Config,
  dataName: string,
  scale: FiguresScale,
  add: Add,
): Promise<void> {
  const server = await startPostgres(config, dataName, 1);
  try {
    const from = performance.now();
    await loadPostgres(server, scale.events);
    progress(`PostgreSQL has ${scale.events} events (${Math.round((performance.now() - from) / 1000)} s)`);
    // One query at a time may use the cores that it would use by default.
    await server.pool.query('set max_parallel_workers_per_gather = 2');
    await assertSame(clickhouse, server);
    const sides: Record<string, () => Promise<unknown>> = {
      largest_brand_by_month: () => server.pool.query(SQL_SUMS, ['YYYY-MM', LARGEST, YEAR.from, YEAR.until]),
      largest_brand_by_day_90_days: () =>
        server.pool.query(SQL_SUMS, ['YYYY-MM-DD', LARGEST, QUARTER.from, QUARTER.until]),
      performance_of_1000_assignments: () => server.pool.query(LIFETIME, [LARGEST, null]),
      lifetime_of_100_links: () => server.pool.query(LIFETIME, [LARGEST, linksOf(100).map(({ id }) => id)]),
    };
    for (const { name, rollup } of QUESTIONS) {
      const theirs = sides[name];
      if (!theirs) continue;
      const [ours = 0, postgres = 0] = await timed(() => rollup(clickhouse), theirs);
      const floor = name === 'largest_brand_by_month' && !scale.isQuick ? 10 : null;
      const measured = `PostgreSQL ${ms(postgres)}, rollup ${ms(ours)}`;
      const warm = `${WARM}; PostgreSQL's buffers`;
      add({
        name: `postgresql_to_rollup_${name}`,
        value: postgres / ours,
        floor,
        bound: 'at least',
        measured,
        warm,
      });
    }
  } finally {
    await server.stop();
  }
}

/** Measures rollups against the raw events and against PostgreSQL, on an empty ClickHouse at `url`. */
export async function measureFigures(
  results: Results,
  config: Config,
  url: string,
  dataName: string,
  scale: FiguresScale,
): Promise<void> {
  const clickhouse = openClickHouse(url);
  try {
    await migrateClickHouse(clickhouse);
    await load(clickhouse, scale.events);
    await results.part('raw_to_rollup', (add) => compareRaw(clickhouse, scale, add));
    await results.part('growth', (add) => growthOf(clickhouse, url, scale, add));
    await results.part('retry', (add) => measureRetry(clickhouse, add));
    await results.part('postgresql_to_rollup', (add) => comparePostgres(clickhouse, config, dataName, scale, add));
  } finally {
    await clickhouse.close();
  }
}
