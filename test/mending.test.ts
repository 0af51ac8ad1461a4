import { rm } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readConfig } from '../src/config.ts';
import { insertOnce } from '../src/engines/clickhouse/insert.ts';
import { migrateClickHouse } from '../src/engines/clickhouse/migrate.ts';
import { integer, query } from '../src/engines/clickhouse/query.ts';
import { engineFolder } from '../src/engines/embedded/folder.ts';
import { type EmbeddedEngines, startEmbedded } from '../src/engines/embedded/start.ts';
import { migratePostgres } from '../src/engines/postgres/migrate.ts';
import { drainClicks, openClickQueue } from '../src/resources/clicks/jobs.ts';
import { COLUMNS } from '../src/resources/clicks/row.ts';
import { findMending } from '../src/resources/figures/rollups/queries.ts';
import { mendFigures } from '../src/resources/ledger/jobs.ts';
import { compareFigures } from '../src/resources/ledger/verify.ts';
import { type Desk, openDesk, SHOP } from './harness/affiliates.ts';
import { startApp, type TestApp } from './harness/app.ts';
import { click, makeLink } from './harness/clicks.ts';
import { makeDatabase, type TestDatabase } from './harness/database.ts';
import { type Assignment, post, putAssignment, sale, ship } from './harness/figures.ts';

/** Engines of its own: this test kills ClickHouse, and mends the figures of every brand there is. */
let engines: EmbeddedEngines;
let database: TestDatabase;
let app: TestApp;
let desk: Desk;
const { directory, java } = readConfig();
const dataName = `test-${process.pid}-mending`;

beforeAll(async () => {
  database = await makeDatabase('mending');
  const only = ['redis', 'clickhouse'] as const;
  engines = await startEmbedded({ directory, dataName, only, elasticsearchHeapMb: 512, java, report: () => undefined });
  const { redis = '', clickhouse = '' } = engines.urls;
  app = await startApp({ urls: { postgres: database.url, redis, clickhouse } });
  await app.context.redis.ready();
  await migratePostgres(app.context.postgres.db);
  await migrateClickHouse(app.context.clickhouse);
  desk = await openDesk(app);
});
afterAll(async () => {
  await app?.close();
  await engines?.stop();
  await database?.drop();
  await rm(path.join(engineFolder(directory), dataName), { recursive: true, force: true });
});

const Part = z.object({ path: z.string() });

/** Kills ClickHouse as if between writing down a table's token and naming its part, and starts it again. */
async function loseNewestPart(table: string): Promise<void> {
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

describe('a ClickHouse that was killed within an insert, and takes what is sent again for a duplicate', () => {
  it.each(['clicks_v1', 'link_daily_v1', 'brand_daily_v1'])(
    'has every click once, also where %s lost them',
    async (table) => {
      const { context } = app;
      const link = await makeLink(desk, SHOP);
      for (let i = 0; i < 5; i += 1) await click(app, link.slug, { 'user-agent': `Mozilla/5.0 (iPhone) Mobile ${i}` });
      const batch = await openClickQueue(context.redis).claim();
      await insertOnce(context.clickhouse, 'clicks_v1', COLUMNS, batch?.rows ?? '', `clicks:${batch?.token}`);
      await loseNewestPart(table);
      await mendFigures(context);
      // Not while the batch may be sent again.
      await mendFigures(context);
      expect((await findMending(context.clickhouse))?.step).toBe('waiting');
      await drainClicks(context);
      expect(await problems(desk.brand)).not.toEqual([]);
      await mendFigures(context);
      expect((await findMending(context.clickhouse))?.step).toBe('done');
      expect(await countOf(`count() AS count FROM clicks_v1 WHERE link_id = '${link.id}'`)).toBe(5);
      for (const rollup of ['link_daily_v1', 'link_life_v1']) {
        expect(await countOf(`sum(clicks) AS count FROM ${rollup} WHERE link_id = '${link.id}'`), rollup).toBe(5);
      }
      expect(await problems(desk.brand)).toEqual([]);
    },
  );

  it('has every posting once, also where ledger_v1 lost them', async () => {
    const { context } = app;
    const link: Assignment = await putAssignment(app, desk.brand.id);
    await post(
      app,
      link.brandId,
      Array.from({ length: 3 }, () => sale(link, new Date(), 1_000, 100)),
    );
    await ship(app, link.brandId);
    await loseNewestPart('ledger_v1');
    const { db } = context.postgres;
    await sql`update ledger_batches set sent_at = null where id = (select max(id) from ledger_batches)`.execute(db);
    await mendFigures(context);
    await ship(app, link.brandId);
    expect(await problems(desk.brand)).not.toEqual([]);
    await mendFigures(context);
    expect(await countOf(`sum(sales) AS count FROM link_life_v1 WHERE link_id = '${link.linkId}'`)).toBe(3_000);
    expect(await problems(desk.brand)).toEqual([]);
  });
});
