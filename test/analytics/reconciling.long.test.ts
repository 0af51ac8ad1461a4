import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compareFigures } from '../../src/affiliates/ledger/compare-figures.ts';
import { rebuildUnfinished, reconcileFigures } from '../../src/affiliates/ledger/ledger.jobs.ts';
import { syncLedger } from '../../src/analytics/figures/figures.jobs.ts';
import { findReconciliation } from '../../src/analytics/figures/rollups.ts';
import { CLICK_CLAIM } from '../../src/analytics/figures/sums.ts';
import { isBeingRebuilt } from '../../src/analytics/figures/sync.ts';
import { drainClicks, openClickQueue } from '../../src/interfaces/links-host/jobs.ts';
import { COLUMNS } from '../../src/interfaces/links-host/row.ts';
import { insertOnce } from '../../src/kit/engines/clickhouse/insert.ts';
import { migrateClickHouse } from '../../src/kit/engines/clickhouse/migrate.ts';
import { command, integer, query } from '../../src/kit/engines/clickhouse/query.ts';
import type { EmbeddedEngines } from '../../src/local/engines/start.ts';
import { type Desk, deskOf, openDesk, SHOP } from '../harness/affiliates/affiliates.ts';
import { click, makeLink } from '../harness/affiliates/clicks.ts';
import { type Assignment, post, postAndSync, putAssignment, sale, sync } from '../harness/analytics/figures.ts';
import { makeBrand, startApp, type TestApp, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { removeEngineData, startOwnEngines } from '../harness/kit/own-engines.ts';
import { startUncertainClickHouse } from '../harness/kit/uncertain-clickhouse.ts';
import { CHILD_ENV } from '../harness/process/child.ts';
import { runCli } from '../harness/process/cli.ts';

/** Engines of its own: this test kills ClickHouse, and reconciles the figures of every brand there is. */
let engines: EmbeddedEngines;
let database: TestDatabase;
let app: TestApp;
let desk: Desk;
const dataName = `test-${process.pid}-reconciling`;

beforeAll(async () => {
  database = await makeDatabase('reconciling');
  engines = await startOwnEngines(dataName, ['redis', 'clickhouse']);
  const { redis = '', clickhouse = '' } = engines.urls;
  app = await startApp({ urls: { postgres: database.url, redis, clickhouse } });
  await app.context.redis.ready();
  await migrateClickHouse(app.context.clickhouse);
  desk = await openDesk(app);
});
afterAll(async () => {
  await app?.close();
  await engines?.stop();
  await database?.drop();
  await removeEngineData(dataName);
});

const Part = z.object({ path: z.string() });

/** Kills ClickHouse as if between writing down a table's token and naming its part, and starts it again. */
async function loseNewestPart(table: string): Promise<void> {
  // A merge that ended between the question and the kill would keep what is to be lost.
  await command(app.context.clickhouse, `SYSTEM STOP MERGES ${table}`);
  // Also when it was merged into another already: what was merged is still there, and comes back but for the newest.
  const found = `SELECT path FROM system.parts WHERE table = {table:String}
    AND max_block_number = (SELECT max(max_block_number) FROM system.parts WHERE table = {table:String})`;
  const parts = await query(app.context.clickhouse, Part, found, { table });
  process.kill(engines.pids.clickhouse ?? Number.NaN, 'SIGKILL');
  expect(parts.length).toBeGreaterThan(0);
  for (const part of parts) {
    expect(part.path).toContain(dataName);
    await rm(part.path, { recursive: true, force: true });
  }
  await engines.restart('clickhouse');
}

const Count = z.object({ count: integer });

async function countOf(select: string): Promise<number | undefined> {
  return (await query(app.context.clickhouse, Count, `SELECT ${select}`))[0]?.count;
}

const problems = ({ id }: { id: string }) =>
  compareFigures({ db: app.context.postgres.db, clickhouse: app.context.clickhouse }, id);

/** Five clicks whose batch a table loses, and which is sent again. */
async function loseClicks(table: string) {
  const { context } = app;
  const link = await makeLink(desk, SHOP);
  for (let i = 0; i < 5; i += 1) await click(app, link.slug, { 'user-agent': `Mozilla/5.0 (iPhone) Mobile ${i}` });
  const batch = await openClickQueue(context.redis).claim();
  await insertOnce(context.clickhouse, 'clicks_v1', COLUMNS, batch?.rows ?? '', `clicks:${batch?.token}`);
  await loseNewestPart(table);
  await reconcileFigures(context);
  // Not while the batch may be sent again.
  await reconcileFigures(context);
  expect((await findReconciliation(context.clickhouse))?.step).toBe('waiting');
  await drainClicks(context);
  return link;
}

describe('a ClickHouse that was killed during an insert and treats the repeated batch as a duplicate', () => {
  it.each(['clicks_v1', 'link_daily_v1', 'brand_daily_v1'])(
    'ends up with every click once, even if %s lost them',
    async (table) => {
      const { context } = app;
      let link = await loseClicks(table);
      // A merge under way may have kept the rows: then nothing is shown, and they are lost once more.
      for (let tries = 1; tries < 3 && (await problems(desk.brand)).length === 0; tries += 1) {
        await reconcileFigures(context);
        link = await loseClicks(table);
      }
      expect(await problems(desk.brand)).not.toEqual([]);
      await reconcileFigures(context);
      expect((await findReconciliation(context.clickhouse))?.step).toBe('done');
      expect(await countOf(`count() AS count FROM clicks_v1 WHERE link_id = '${link.id}'`)).toBe(5);
      for (const rollup of ['link_daily_v1', 'link_life_v1']) {
        expect(await countOf(`sum(clicks) AS count FROM ${rollup} WHERE link_id = '${link.id}'`), rollup).toBe(5);
      }
      expect(await problems(desk.brand)).toEqual([]);
    },
  );

  it('ends up with every posting once, even if ledger_v1 lost them', async () => {
    const { context } = app;
    const link: Assignment = await putAssignment(app, desk.brand.id);
    await post(
      app,
      link.brandId,
      Array.from({ length: 3 }, () => sale(link, new Date(), 1_000, 100)),
    );
    await sync(app, link.brandId);
    await loseNewestPart('ledger_v1');
    const { db } = context.postgres;
    await sql`update ledger_batches set sent_at = null where id = (select max(id) from ledger_batches)`.execute(db);
    await reconcileFigures(context);
    await sync(app, link.brandId);
    expect(await problems(desk.brand)).not.toEqual([]);
    await reconcileFigures(context);
    expect(await countOf(`sum(sales) AS count FROM link_life_v1 WHERE link_id = '${link.linkId}'`)).toBe(3_000);
    expect(await problems(desk.brand)).toEqual([]);
  });
});

function ledgerEnv(): NodeJS.ProcessEnv {
  const { redis = '', clickhouse = '' } = engines.urls;
  const env = { DATABASE_URL: database.url, REDIS_URL: redis, CLICKHOUSE_URL: clickhouse };
  return { ...env, ELASTICSEARCH_URL: 'http://127.0.0.1:9' };
}

describe('a ClickHouse cluster that does an insert and then does not know whether it did', () => {
  let door: Awaited<ReturnType<typeof startUncertainClickHouse>>;
  let clustered: TestApp;
  beforeAll(async () => {
    const { redis = '', clickhouse = '' } = engines.urls;
    door = await startUncertainClickHouse(clickhouse);
    const urls = { postgres: database.url, redis, clickhouse: door.url };
    clustered = await startApp({ urls, env: { CLICKHOUSE_CLUSTER: 'main' } });
    await clustered.context.redis.ready();
  });
  afterAll(async () => {
    await clustered?.close();
    await door?.close();
  });

  /** Rebuilds what was noted to be rebuilt, as the worker does after a minute. */
  async function rebuildNoted(): Promise<void> {
    const { postgres } = clustered.context;
    await sql`update unfolded_brands set tried_at = now() - interval '2 minutes'`.execute(postgres.db);
    await rebuildUnfinished(clustered.context);
  }

  it.each(['319', '286'] as const)('counts clicks and postings once after the answer %s', async (code) => {
    const { context } = clustered;
    const brand = await makeBrand(context);
    const own = await deskOf(clustered, brand);
    const link = await makeLink(own, SHOP);
    for (let i = 0; i < 5; i += 1) {
      await click(clustered, link.slug, { 'user-agent': `Mozilla/5.0 (iPhone) Mobile ${i}` });
    }
    const before = door.hidden();
    door.failNext('clicks_v1', code);
    await until('the clicks to be drained', () =>
      drainClicks(context).then(
        () => true,
        () => false,
      ),
    );
    door.failNext('ledger_v1', code);
    const assigned = await putAssignment(clustered, brand.id);
    await post(clustered, brand.id, [sale(assigned, new Date(), 10_000, 1_000)]);
    await until('the ledger to be sent', () =>
      syncLedger(context).then(
        () => true,
        () => false,
      ),
    );
    expect(door.hidden() - before).toBe(2);
    expect(await isBeingRebuilt(context.postgres.db, brand.id)).toBe(true);
    await rebuildNoted();
    expect(await countOf(`count() AS count FROM clicks_v1 WHERE link_id = '${link.id}'`)).toBe(5);
    expect(await countOf(`sum(clicks) AS count FROM brand_daily_v1 WHERE brand_id = '${brand.id}'`)).toBe(5);
    expect(await countOf(`sum(sales) AS count FROM brand_daily_v1 WHERE brand_id = '${brand.id}'`)).toBe(10_000);
    expect(await problems(brand)).toEqual([]);
  });
});

describe('a rebuild that is killed half way', () => {
  it('leaves figures without a freshness time until the worker has rebuilt them', async () => {
    const { redis, clickhouse, postgres } = app.context;
    const { id } = desk.brand;
    const link = await putAssignment(app, id);
    await postAndSync(app, id, [sale(link, new Date(), 1_000, 100)]);
    const asOf = async () => (await desk.get('/v1/analytics')).headers.get('x-data-as-of');
    expect(await asOf()).not.toBeNull();

    await redis.client.set(CLICK_CLAIM, 'a batch on its way, so that the rebuild waits');
    const args = ['src/cli.ts', 'ledger', 'rebuild', '--brand', id];
    const rebuild = promisify(execFile)(process.execPath, args, { env: { ...CHILD_ENV, ...ledgerEnv() } });
    await until('the rebuild', () => isBeingRebuilt(postgres.db, id));
    rebuild.child.kill('SIGKILL');
    await expect(rebuild).rejects.toThrow();
    await redis.client.del(CLICK_CLAIM);
    await command(clickhouse, 'DELETE FROM link_life_v1 WHERE brand_id = {b:String}', { b: id });
    expect(await asOf()).toBeNull();
    await rebuildUnfinished(app.context);
    expect(await asOf()).toBeNull();

    await sql`update unfolded_brands set tried_at = now() - interval '2 minutes'`.execute(postgres.db);
    await rebuildUnfinished(app.context);
    expect(await asOf()).not.toBeNull();
    expect(await problems(desk.brand)).toEqual([]);
  });
});

describe('a brand whose ledger cannot be compared', () => {
  /** Two brands whose figures ClickHouse lost; the entry of the one that comes first is edited so that no sum takes it. */
  async function twoBrands() {
    const { context } = app;
    const [broken, sound] = [await makeBrand(context), await makeBrand(context)];
    expect(broken.id < sound.id).toBe(true);
    for (const { id } of [broken, sound]) {
      const link = await putAssignment(app, id);
      await postAndSync(app, id, [sale(link, new Date(), 1_000, 100)]);
      await command(context.clickhouse, 'DELETE FROM ledger_v1 WHERE brand_id = {b:String}', { b: id });
    }
    await context.postgres.db.transaction().execute(async (trx) => {
      await sql`alter table ledger_entries disable trigger ledger_is_append_only`.execute(trx);
      await sql`update ledger_entries set postings = replace(postings::text, '-1000', '"x"')::jsonb
        where brand_id = ${broken.id}`.execute(trx);
      await sql`alter table ledger_entries enable trigger ledger_is_append_only`.execute(trx);
    });
    return { broken, sound };
  }
  const run = async (what: string) => {
    const { status: code, out: stdout } = await runCli(['ledger', what], ledgerEnv());
    return { code, stdout };
  };

  it('is reported, and later brands are still reconciled, verified and rebuilt', async () => {
    const { context } = app;
    const { broken, sound } = await twoBrands();
    expect(await problems(sound)).not.toEqual([]);
    await command(context.clickhouse, 'TRUNCATE TABLE mending_v1');
    const reported: unknown[] = [];
    context.log.warn = (facts: object) => void ('err' in facts && reported.push(facts));
    await reconcileFigures(context);
    await reconcileFigures(context);
    expect(await problems(sound)).toEqual([]);
    expect((await findReconciliation(context.clickhouse))?.step).toBe('done');
    expect(reported).toEqual([{ brandId: broken.id, err: expect.any(Error) }]);
    expect(await isBeingRebuilt(context.postgres.db, broken.id)).toBe(true);

    const verified = await run('verify');
    expect(verified.code).toBe(1);
    expect(verified.stdout).toContain(`${broken.id}\tWRONG\t1\t`);
    expect(verified.stdout).toContain(`${broken.id}\t  entry 1: its postings have another form\n`);
    expect(verified.stdout).toContain(`${broken.id}\t  not compared with ClickHouse: `);
    expect(verified.stdout).toContain(`${sound.id}\tok\t1\t`);

    const rebuilt = await run('rebuild');
    expect([rebuilt.code, rebuilt.stdout]).toEqual([1, expect.stringContaining(`${broken.id}\tFAILED\n`)]);
    expect(rebuilt.stdout).toContain(`${sound.id}\t1\n`);
  });
});
