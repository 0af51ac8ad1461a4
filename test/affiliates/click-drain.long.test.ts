import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { drainClicks } from '../../src/interfaces/links-host/jobs.ts';
import { openRecorder } from '../../src/interfaces/links-host/recorder.ts';
import { linkFields, toRow } from '../../src/interfaces/links-host/row.ts';
import { NO_UTM } from '../../src/interfaces/links-host/utm.ts';
import { integer, query } from '../../src/kit/engines/clickhouse/query.ts';
import { openRedis, type Redis } from '../../src/kit/engines/redis/open.ts';
import { newId } from '../../src/kit/values/ids.ts';
import type { EmbeddedEngines } from '../../src/local/engines/start.ts';
import { type Desk, openDesk, SHOP } from '../harness/affiliates/affiliates.ts';
import { click, countedClicks, makeLink, metricOf, storedClicks } from '../harness/affiliates/clicks.ts';
import { startApp, startWorkerProcess, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { removeEngineData, startOwnEngines } from '../harness/kit/own-engines.ts';

/** A Redis of its own: these tests kill it. */
let engines: EmbeddedEngines;
/** A worker works for all brands: those of other tests are in another database. */
let database: TestDatabase;
const dataName = `test-${process.pid}-clicks`;
let app: TestApp;
let desk: Desk;
/** With a long time limit, for tens of thousands of clicks at once. */
let patient: Redis;

beforeAll(async () => {
  engines = await startOwnEngines(dataName, ['redis']);
  database = await makeDatabase('drain');
  const urls = { redis: engines.urls.redis ?? '', postgres: database.url };
  app = await startApp({ urls, env: { TRUSTED_PROXIES: '127.0.0.1' } });
  await app.context.redis.ready();
  desk = await openDesk(app);
  patient = openRedis(urls.redis, { timeoutMs: 60_000 });
  await patient.ready();
});
afterAll(async () => {
  await patient?.close();
  await app?.close();
  await database?.drop();
  await engines?.stop();
  await removeEngineData(dataName);
});

let visitors = 0;

/** So many visitors' clicks on a link that is nobody's, recorded as the redirect records them. Returns the link's id. */
async function record(count: number, linkId = newId('lnk', Date.now()), brandId = desk.brand.id): Promise<string> {
  const recorder = openRecorder(patient, app.context.config.maxClicksBytes, () => undefined);
  const fields = linkFields({ brandId, id: linkId, creatorId: newId('crt', 1), currency: 'USD' });
  const rest = { kind: 'counted', country: 'DE', device: 'mobile', rule: '', referrerHost: 'photo.example' } as const;
  const settled = Array.from({ length: count }, () => {
    visitors += 1;
    const visitor = String(visitors);
    const row = toRow(newId('clk', Date.now()), fields, Date.now(), { ...rest, visitor }, NO_UTM);
    return new Promise<boolean>((onSettled) => recorder.record({ row, visitors: [visitor + linkId], onSettled }));
  });
  expect((await Promise.all(settled)).every((isRecorded) => isRecorded)).toBe(true);
  return linkId;
}

interface Counts {
  rows: number;
  distinct: number;
  rolledUp: number;
}

async function countsOf(linkId: string): Promise<Counts> {
  const shape = z.object({ rows: integer, distinct: integer });
  const sql = 'SELECT count() AS rows, uniqExact(click_id) AS distinct FROM clicks_v1 WHERE link_id = {link:String}';
  const [row] = await query(app.context.clickhouse, shape, sql, { link: linkId });
  return { rows: row?.rows ?? 0, distinct: row?.distinct ?? 0, rolledUp: await countedClicks(app, linkId) };
}

const once = (count: number): Counts => ({ rows: count, distinct: count, rolledUp: count });

describe('every click is in ClickHouse exactly once', () => {
  it('when the worker is killed while it works', async () => {
    const env = { REDIS_URL: engines.urls.redis ?? '', DATABASE_URL: database.url };
    const link = newId('lnk', Date.now());
    for (let round = 0; round < 2; round += 1) {
      const worker = await startWorkerProcess(unique('none'), env);
      const before = (await countsOf(link)).rows;
      for (let i = 0; i < 10; i += 1) await record(1_000, link);
      await until('the worker to be at it', async () => (await countsOf(link)).rows > before);
      await worker.kill();
    }
    await drainClicks(app.context);
    expect(await countsOf(link)).toEqual(once(20_000));
  });

  it('when Redis is killed under load, except for clicks whose response said otherwise', async () => {
    const link = await makeLink(desk, SHOP);
    const recorded: string[] = [];
    const uncertain: string[] = [];
    let visitor = 0;
    for (let round = 0; round < 3; round += 1) {
      const visitors = Array.from({ length: 20 }, async (_, i) => {
        for (let n = 0; n < 30; n += 1) {
          visitor += 1;
          const address = `203.0.${visitor >> 8}.${visitor & 255}`;
          const { status, clickId, headers } = await click(app, link.slug, { 'x-forwarded-for': address });
          expect(status).toBe(302);
          (headers.get('x-click-recorded') === null ? recorded : uncertain).push(clickId.slice(0, 24));
          if (i === 0 && n === 10) process.kill(engines.pids.redis ?? 0, 'SIGKILL');
          if (i === 1 && n % 7 === 0) await drainClicks(app.context).catch(() => undefined);
        }
      });
      await Promise.all(visitors);
      await engines.restart('redis');
      await until('Redis', () =>
        app.context.redis.ping().then(
          () => true,
          () => false,
        ),
      );
    }
    const stored = (await storedClicks(app, link.id)).map(({ click_id }) => click_id);
    expect(new Set(stored).size).toBe(stored.length);
    expect(recorded.length).toBeGreaterThan(100);
    expect(recorded.filter((id) => !stored.includes(id))).toEqual([]);
    expect(stored.filter((id) => !recorded.includes(id) && !uncertain.includes(id))).toEqual([]);
    expect(await countedClicks(app, link.id)).toBe(stored.length);
    expect(await metricOf(app, 'rollcall_clicks_lost_total')).toBe(uncertain.length);
  });
});
