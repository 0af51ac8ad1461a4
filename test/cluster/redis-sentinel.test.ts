import { afterAll, beforeAll, expect, it } from 'vitest';
import { openQueue, openWorker } from '../../src/kit/engines/redis/queue.ts';
import { openDesk, SHOP } from '../harness/affiliates/affiliates.ts';
import { click, makeLink, storedClicks } from '../harness/affiliates/clicks.ts';
import {
  call,
  ledgerOf,
  makeBrand,
  startApp,
  startScript,
  type TestApp,
  type TestBrand,
  unique,
  until,
} from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { describeCluster } from '../harness/kit/cluster.ts';
import { type RedisSentinel, startRedisSentinel } from '../harness/kit/redis-sentinel.ts';

const PRICE = 10;

describeCluster('Redis with a replica and three sentinels', () => {
  const alias = unique('sentinel');
  let redis: RedisSentinel;
  let app: TestApp;
  let brand: TestBrand;
  let key: string;
  let answered = 0;

  beforeAll(async () => {
    redis = await startRedisSentinel();
    await redis.untilReady();
    app = await startApp({ alias, urls: { redis: redis.url } });
    await app.context.redis.ready();
    await putDirectory(app.context.elastic, alias, [creator(1)]);
    brand = await makeBrand(app.context, { plan: 'enterprise', credits: 100_000 });
    key = await brand.key('data');
  });
  afterAll(async () => {
    await app?.close();
    await redis?.stop();
  });

  const redisStatus = async () => (await call(`${app.url}/readyz`)).body.engines.redis.status;

  async function searchUntilAnswered(): Promise<void> {
    const isAnswered = async () => {
      const { status } = await call(`${app.url}/v1/creators/search`, key);
      expect([200, 503]).toContain(status);
      answered += Number(status === 200);
      return status === 200;
    };
    await until('a search', isAnswered);
  }

  /** Everything that Redis is used for works, and each search is in the ledger. */
  async function assertServes(): Promise<void> {
    await until('Redis to be up', async () => (await redisStatus()) === 'up');
    await searchUntilAnswered();
    const { charged, refunded } = await ledgerOf(app.context, brand);
    expect(charged - refunded).toBe(PRICE * answered);
    const link = await makeLink(await openDesk(app), SHOP);
    expect((await click(app, link.slug)).headers.get('x-click-recorded')).toBeNull();
    expect(await storedClicks(app, link.id)).toHaveLength(1);
    const done: string[] = [];
    const name = unique('sentinel');
    const options = { lostAfterMs: 10_000, onError: () => undefined };
    const worker = openWorker(redis.url, name, async (id) => void done.push(id), options);
    const queue = openQueue(redis.url, name);
    await queue.add('row');
    await until('the job', () => done.length === 1);
    await Promise.all([worker.close(), queue.close()]);
  }

  it('Searches, clicks and jobs use the primary that the sentinels name', async () => {
    await assertServes();
  });

  it('A planned failover costs no charge: the open connections move to the new primary', async () => {
    await redis.untilReady();
    await redis.failOver();
    const from = performance.now();
    await searchUntilAnswered();
    process.stderr.write(`Sentinel's planned failover: answered after ${Math.round(performance.now() - from)} ms\n`);
    await assertServes();
  });

  it('A primary that is killed is replaced, with all that its replica had', async () => {
    await redis.untilReady();
    const killed = await redis.primary();
    const from = performance.now();
    killed.kill();
    await until('another primary', async () => (await redis.primary()) !== killed);
    await searchUntilAnswered();
    process.stderr.write(`Sentinel's killed primary: answered after ${Math.round(performance.now() - from)} ms\n`);
    await assertServes();
  });

  it('A start with a sentinel as redis:// is refused with the form that is right', async () => {
    const worker = startScript('src/worker.ts', { REDIS_URL: redis.sentinels[0]?.url });
    await until('the worker to end', () => worker.child.exitCode !== null);
    expect(worker.child.exitCode).not.toBe(0);
    expect(worker.said()).toContain('Set REDIS_URL=redis+sentinel://host:port,host:port/name');
  });
});
