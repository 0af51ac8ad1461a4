import { afterAll, beforeAll, expect, it } from 'vitest';
import { settle } from '../../src/kit/access/credits/settle.ts';
import { chargesKey } from '../../src/kit/access/credits/stream.ts';
import { openQueue, openWorker } from '../../src/kit/engines/redis/queue.ts';
import { openSchedules } from '../../src/kit/engines/redis/schedules.ts';
import { openJobQueues } from '../../src/process/job-status.ts';
import { openDesk, SHOP } from '../harness/affiliates/affiliates.ts';
import { click, makeLink, storedClicks } from '../harness/affiliates/clicks.ts';
import {
  call,
  keysInTurn,
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
import { type ClusterNode, describeCluster } from '../harness/kit/cluster.ts';
import { type RedisCluster, startRedisCluster } from '../harness/kit/redis-cluster.ts';

const PRICE = 10;

describeCluster('Redis Cluster of three primaries with a replica each', () => {
  const alias = unique('cluster');
  let cluster: RedisCluster;
  let url: string;
  let app: TestApp;

  beforeAll(async () => {
    cluster = await startRedisCluster({ replicas: 1 });
    url = cluster.url;
    app = await startApp({ alias, urls: { redis: url } });
    await app.context.redis.ready();
    await putDirectory(app.context.elastic, alias, [creator(1)]);
    await until('every primary', async () => (await redisStatus()) === 'up');
  });
  afterAll(async () => {
    await app?.close();
    await cluster?.stop();
  });

  const redisStatus = async () => (await call(`${app.url}/readyz`)).body.engines.redis.status;
  const search = async (key: string) => (await call(`${app.url}/v1/creators/search`, key)).status;
  const richBrand = () => makeBrand(app.context, { plan: 'enterprise', credits: 100_000 });
  const chargedOf = async (brand: TestBrand) => {
    const { charged, refunded } = await ledgerOf(app.context, brand);
    return charged - refunded;
  };

  it('Data keys of 40 brands, on every primary, are answered and charged in the ledger', async () => {
    const brands: TestBrand[] = [];
    while (brands.length < 40) {
      const brand = await richBrand();
      expect(await search(await brand.key('data'))).toBe(200);
      brands.push(brand);
    }
    const ids = brands.map(({ subscriptionIds }) => subscriptionIds.data);
    const primaries = await Promise.all(ids.map((id) => cluster.ownersOf(chargesKey(id), nodeAt(0))));
    expect(new Set(primaries.map(({ primary }) => primary.port)).size).toBe(3);
    const { postgres, redis, clock } = app.context;
    expect(await settle({ db: postgres.db, redis, clock }, ids)).toBe(40);
    expect(await Promise.all(brands.map(chargedOf))).toEqual(brands.map(() => PRICE));
  });

  it('Credits for 100 searches pay for exactly 100 of 300 that come at once', async () => {
    const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 100 * PRICE });
    const nextKey = await keysInTurn(brand, 6, 'data');
    const statuses = await Promise.all(Array.from({ length: 300 }, () => search(nextKey())));
    expect(Object.groupBy(statuses, String)['200']).toHaveLength(100);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    expect(await chargedOf(brand)).toBe(100 * PRICE);
  });

  it('Clicks are recorded and drained, a key is limited to 100 calls, and jobs run once each', async () => {
    const link = await makeLink(await openDesk(app), SHOP);
    const answers = await Promise.all(Array.from({ length: 20 }, () => click(app, link.slug)));
    expect(answers.map(({ headers }) => headers.get('x-click-recorded'))).toEqual(answers.map(() => null));
    expect(await storedClicks(app, link.id)).toHaveLength(20);

    const key = await (await richBrand()).key('brand');
    const calls = await Promise.all(Array.from({ length: 120 }, () => call(`${app.url}/v1/roster`, key)));
    expect(calls.filter(({ status }) => status === 200)).toHaveLength(100);

    const done: string[] = [];
    const onError = () => undefined;
    const queue = openQueue(url, 'cluster');
    const worker = openWorker(url, 'cluster', async (id) => void done.push(id), { lostAfterMs: 10_000, onError });
    const names = Array.from({ length: 50 }, (_, i) => `row-${i}`);
    await Promise.all(names.map((name) => queue.add(name)));
    await until('fifty jobs', () => done.length >= 50);
    expect(done.toSorted()).toEqual(names.toSorted());
    await Promise.all([worker.close(), queue.close()]);

    const ran: string[] = [];
    const run = async (name: string) => void ran.push(name);
    const schedules = openSchedules(url, [{ name: 'often', everyMs: 100 }], { run, onError });
    await schedules.keep();
    await until('a schedule', () => ran.length > 2);
    await schedules.close();
    expect((await openJobQueues(app.context.redis).list(new Date())).length).toBeGreaterThan(5);
  });

  const nodeAt = (i: number): ClusterNode => {
    const node = cluster.nodes[i];
    if (!node) throw new Error(`No node ${i}.`);
    return node;
  };

  /** Searches until one is answered; returns how many were. */
  async function searchUntilAnswered(key: string): Promise<number> {
    await until('a charged search', async () => {
      const status = await search(key);
      expect([200, 503]).toContain(status);
      return status === 200;
    });
    return 1;
  }

  it('A planned failover costs no charge and no click', async () => {
    const brand = await richBrand();
    const key = await brand.key('data');
    const link = await makeLink(await openDesk(app), SHOP);
    let answered = await searchUntilAnswered(key);
    const { primary, replica } = await cluster.ownersOf(chargesKey(brand.subscriptionIds.data), nodeAt(0));
    if (!replica) throw new Error('The primary has no replica.');
    await cluster.on(replica, 'CLUSTER', 'FAILOVER');
    await until('the replica to serve', async () => {
      answered += Number((await search(key)) === 200);
      return (await cluster.ownersOf(chargesKey(brand.subscriptionIds.data), replica)).primary === replica;
    });
    const from = performance.now();
    answered += await searchUntilAnswered(key);
    process.stderr.write(`planned failover: answered again after ${Math.round(performance.now() - from)} ms\n`);
    expect((await click(app, link.slug)).headers.get('x-click-recorded')).toBeNull();
    expect(await storedClicks(app, link.id)).toHaveLength(1);
    expect(await chargedOf(brand)).toBe(PRICE * answered);
    await until('the old primary to follow', async () =>
      (await cluster.on(primary, 'INFO', 'replication')).includes('master_link_status:up'),
    );
  });

  it('A primary that is killed is replaced: /readyz says so, and all that its replica had is kept', async () => {
    const brand = await richBrand();
    const key = await brand.key('data');
    const chargesAt = chargesKey(brand.subscriptionIds.data);
    let answered = 0;
    for (let i = 0; i < 5; i += 1) answered += await searchUntilAnswered(key);
    const { primary } = await cluster.ownersOf(chargesAt, nodeAt(0));
    await until('the replica to have everything', async () => {
      const info = await cluster.on(primary, 'INFO', 'replication');
      return /offset=(\d+)/.exec(info)?.[1] === /master_repl_offset:(\d+)/.exec(info)?.[1];
    });
    const from = performance.now();
    primary.kill();
    await until('/readyz to say so', async () => (await redisStatus()) === 'down');
    answered += await searchUntilAnswered(key);
    process.stderr.write(`killed primary: answered again after ${Math.round(performance.now() - from)} ms\n`);
    await until('/readyz to say that every slot is served', async () => (await redisStatus()) === 'up');
    const link = await makeLink(await openDesk(app), SHOP);
    expect((await click(app, link.slug)).headers.get('x-click-recorded')).toBeNull();
    expect(await storedClicks(app, link.id)).toHaveLength(1);
    expect(await chargedOf(brand)).toBe(PRICE * answered);
    await primary.restart();
  });

  it('A start with one node of a cluster as redis:// is refused with the correct form', async () => {
    const worker = startScript('src/worker.ts', { REDIS_URL: nodeAt(0).url });
    await until('the worker to end', () => worker.child.exitCode !== null);
    expect(worker.child.exitCode).not.toBe(0);
    expect(worker.said()).toContain('Set REDIS_URL=redis+cluster://host:port,host:port');
  });
});
