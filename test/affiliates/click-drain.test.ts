import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { oldestWaitingClick } from '../../src/analytics/figures/freshness.ts';
import { withoutClicks } from '../../src/analytics/figures/pausing.ts';
import { drainClicks, openClickQueue } from '../../src/interfaces/links-host/jobs.ts';
import { openRecorder } from '../../src/interfaces/links-host/recorder.ts';
import { COLUMNS, linkFields, toRow } from '../../src/interfaces/links-host/row.ts';
import { NO_UTM } from '../../src/interfaces/links-host/utm.ts';
import { oldestClickAt } from '../../src/interfaces/links-host/waiting-clicks.ts';
import { insertOnce } from '../../src/kit/engines/clickhouse/insert.ts';
import { integer, query } from '../../src/kit/engines/clickhouse/query.ts';
import { tsvTime } from '../../src/kit/engines/clickhouse/tsv.ts';
import { openRedis, type Redis } from '../../src/kit/engines/redis/open.ts';
import { newId } from '../../src/kit/values/ids.ts';
import { type Desk, openDesk } from '../harness/affiliates/affiliates.ts';
import { countedClicks, metricsOf } from '../harness/affiliates/clicks.ts';
import { engineUrls, meanwhile, startApp, type TestApp, until } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';
import { startProxy } from '../harness/kit/proxy.ts';

/** A worker works for all brands: those of other tests are in another database. */
let database: TestDatabase;
const redis = ownRedis();
let app: TestApp;
let desk: Desk;
/** With a long time limit, for tens of thousands of clicks at once. */
let patient: Redis;

beforeAll(async () => {
  database = await makeDatabase('drain');
  const urls = { redis, postgres: database.url };
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
});

let visitors = 0;

/** So many visitors' clicks on a link that is nobody's, recorded as the redirect records them. Returns the link's id. */
async function record(
  count: number,
  linkId = newId('lnk', Date.now()),
  brandId = desk.brand.id,
  toUtm: (place: number) => string = () => NO_UTM,
): Promise<string> {
  const recorder = openRecorder(patient, app.context.config.maxClicksBytes, () => undefined);
  const fields = linkFields({ brandId, id: linkId, creatorId: newId('crt', 1), currency: 'USD' });
  const rest = {
    kind: 'counted',
    country: 'DE',
    device: 'mobile',
    rule: 'isbot',
    referrerHost: 'photo.example',
  } as const;
  const settled = Array.from({ length: count }, (_, place) => {
    visitors += 1;
    const visitor = String(visitors);
    const row = toRow(newId('clk', Date.now()), fields, Date.now(), { ...rest, visitor }, toUtm(place));
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

const storedOf = async (linkId: string) => (await countsOf(linkId)).rows;
const once = (count: number): Counts => ({ rows: count, distinct: count, rolledUp: count });
const insert = (batch: { token: string; rows: string }) =>
  insertOnce(app.context.clickhouse, 'clicks_v1', COLUMNS, batch.rows, `clicks:${batch.token}`);

async function claimed() {
  const batch = await openClickQueue(app.context.redis).claim();
  if (!batch) throw new Error('There is nothing to claim.');
  return batch;
}

describe('every click is in ClickHouse exactly once', () => {
  it('when a drain dies before its batch is stored, and more clicks arrive meanwhile', async () => {
    const link = await record(40);
    const batch = await claimed();
    await record(40, link);
    expect(await claimed()).toEqual({ ...batch, isAgain: true });
    await drainClicks(app.context);
    expect(await countsOf(link)).toEqual(once(80));
  });

  it('when a drain dies after its batch is stored', async () => {
    const link = await record(40);
    await insert(await claimed());
    await record(40, link);
    await drainClicks(app.context);
    expect(await countsOf(link)).toEqual(once(80));
  });

  it('when a batch is sent five times, and acknowledged long after another drain did so', async () => {
    const link = await record(40);
    const batch = await claimed();
    await Promise.all(Array.from({ length: 5 }, () => insert(batch)));
    await drainClicks(app.context);
    await record(40, link);
    const next = await claimed();
    await openClickQueue(app.context.redis).acknowledge(batch);
    expect(await claimed()).toEqual({ ...next, isAgain: true });
    await drainClicks(app.context);
    expect(await countsOf(link)).toEqual(once(80));
  });

  it('when its brand’s figures are rebuilt, while clicks of other brands are inserted at once', async () => {
    const [paused, other] = [await record(40), await record(40, undefined, 'brd_other')];
    await withoutClicks(app.context.redis, [desk.brand.id], async () => {
      const batch = await claimed();
      await insert(batch);
      expect(await claimed()).toEqual({ ...batch, isAgain: true });
      await drainClicks(app.context);
      expect(await storedOf(paused)).toBe(0);
      expect(await storedOf(other)).toBe(40);
      await record(40, paused);
      await drainClicks(app.context);
      expect(await storedOf(paused)).toBe(0);
      expect(await oldestWaitingClick(app.context.redis)).toBeLessThan(Date.now());
    });
    await drainClicks(app.context);
    expect(await countsOf(paused)).toEqual(once(80));
    expect(await storedOf(other)).toBe(40);
  });

  it('when four drains run at once while clicks arrive', async () => {
    const link = newId('lnk', Date.now());
    const drain = () => drainClicks(app.context);
    await meanwhile(4, drain, async () => {
      for (let i = 0; i < 20; i += 1) await record(50, newId('lnk', Date.now()));
      await record(500, link);
      await until('the stream to be empty', async () => (await oldestClickAt(app.context.redis)) === undefined);
    });
    expect(await countsOf(link)).toEqual(once(500));
  });

  it('when there is more than one batch of clicks', async () => {
    const link = await record(60_000);
    expect(await drainClicks(app.context)).toBeGreaterThan(1);
    expect(await countsOf(link)).toEqual(once(60_000));
  });

  it('when ClickHouse stores a batch but its answer is lost, and when it is down', async () => {
    const proxy = await startProxy(engineUrls().clickhouse);
    const other = await startApp({
      urls: { redis, postgres: database.url, clickhouse: proxy.url },
    });
    await other.context.redis.ready();
    const link = await record(40);
    proxy.freezeAnswers();
    const drained = drainClicks(other.context).then(
      () => 'drained',
      () => 'failed',
    );
    await until('the batch to be stored', async () => (await countsOf(link)).rows === 40);
    await proxy.cut();
    expect(await drained).toBe('failed');
    await record(40, link);
    await expect(drainClicks(other.context)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await proxy.restore();
    await drainClicks(other.context);
    expect(await countsOf(link)).toEqual(once(80));
    await other.close();
    await proxy.close();
  });
});

describe('of the utm_ values of a link and day,', () => {
  const Value = z.object({ value: z.string(), clicks: integer });
  const listValues = (linkId: string, column: string) =>
    query(
      app.context.clickhouse,
      Value,
      `SELECT toString(${column}) AS value, count() AS clicks FROM clicks_v1 WHERE link_id = {link:String}
      GROUP BY value ORDER BY value`,
      { link: linkId },
    );

  it('200 of each parameter are kept, whichever of several processes stores them, and the others are (other)', async () => {
    const [link, other] = [newId('lnk', Date.now()), newId('lnk', Date.now())];
    await record(250, link, undefined, (place) => `s${place % 50}\tm${place}\t\t\t`);
    // Claimed by two processes, of which one dies.
    const claims = await Promise.all([claimed(), claimed()]);
    expect(claims[1]?.rows).toBe(claims[0]?.rows);
    await Promise.all(Array.from({ length: 3 }, () => drainClicks(app.context)));
    await record(250, link, undefined, (place) => `s${50 + place}\tm${place}\t(other)\t\t`);
    await record(210, other, undefined, (place) => `\t\t\t\tc${place}`);
    await Promise.all(Array.from({ length: 3 }, () => drainClicks(app.context)));
    const [sources, mediums, campaigns] = [
      await listValues(link, 'utm_source'),
      await listValues(link, 'utm_medium'),
      await listValues(link, 'utm_campaign'),
    ];
    expect([sources.length, mediums.length]).toEqual([201, 201]);
    expect(sources.find(({ value }) => value === '(other)')?.clicks).toBe(100);
    // A medium that was kept before still is.
    expect(mediums.find(({ value }) => value === '(other)')?.clicks).toBe(100);
    expect(mediums.find(({ value }) => value === 'm7')?.clicks).toBe(2);
    expect(campaigns).toEqual([
      { value: '', clicks: 250 },
      { value: '(other)', clicks: 250 },
    ]);
    const contents = await listValues(other, 'utm_content');
    expect([contents.length, contents[0]]).toEqual([201, { value: '(other)', clicks: 10 }]);
  });

  it('rows of earlier releases, which wait for a worker, have none', async () => {
    const link = newId('lnk', Date.now());
    const [before, withRule] = [['counted'], ['isbot', 'bot']].map((end, i) => {
      const row = [newId('clk', Date.now()), desk.brand.id, link, newId('crt', 1), 'USD', tsvTime(new Date()), 7 + i];
      return `${[...row, 'DE', 'mobile', 'photo.example', ...end].join('\t')}\n`;
    });
    for (const rows of [before, withRule]) {
      await app.context.redis.client.xadd('clicks:{clicks}', '*', 'rows', rows ?? '', 'repeats', '');
    }
    await drainClicks(app.context);
    expect(await listValues(link, "concat(rule, '|', toString(kind), '|', utm_source, utm_content)")).toEqual([
      { value: 'isbot|bot|', clicks: 1 },
      { value: '|counted|', clicks: 1 },
    ]);
  });
});

const WAITING = ['rollcall_clicks_waiting_groups', 'rollcall_clicks_waiting_oldest_seconds'];

it('the lag of ClickHouse is the age of the oldest click that is not drained, at each scrape', async () => {
  await drainClicks(app.context);
  expect(await oldestClickAt(app.context.redis)).toBeUndefined();
  expect(await metricsOf(app, WAITING)).toEqual([0, 0]);
  const from = Date.now();
  await record(1);
  const oldest = (await oldestClickAt(app.context.redis))?.getTime() ?? 0;
  expect(oldest).toBeGreaterThanOrEqual(from - 1);
  expect(oldest).toBeLessThanOrEqual(Date.now() + 1);
  await until('the click’s moment to pass', () => Date.now() > oldest);
  const [groups, seconds] = await metricsOf(app, WAITING);
  expect(groups).toBe(1);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan(60);
  await drainClicks(app.context);
  expect(await oldestClickAt(app.context.redis)).toBeUndefined();
  expect(await metricsOf(app, WAITING)).toEqual([0, 0]);
});

it('the lag of ClickHouse is unknown without Redis', async () => {
  const closed = await startApp({ urls: { redis: 'redis://127.0.0.1:1' } });
  expect(await metricsOf(closed, WAITING)).toEqual([Number.NaN, Number.NaN]);
  await closed.close();
});
