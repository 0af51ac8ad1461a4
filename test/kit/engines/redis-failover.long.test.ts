import { afterAll, beforeAll, expect, it } from 'vitest';
import { settle } from '../../../src/kit/access/credits/settle.ts';
import { openRedis } from '../../../src/kit/engines/redis/open.ts';
import { openQueue, openWorker } from '../../../src/kit/engines/redis/queue.ts';
import type { EmbeddedEngines } from '../../../src/local/engines/start.ts';
import { call, ledgerOf, makeBrand, startApp, type TestApp, unique, until } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { removeEngineData, startOwnEngines } from '../../harness/kit/own-engines.ts';
import { type EngineProxy, startProxy } from '../../harness/kit/proxy.ts';

const alias = unique('failover');
const names = ['first', 'second'].map((which) => `test-${process.pid}-${which}`);
let nodes: EmbeddedEngines[];
/** The address that leads to the primary, as a load balancer or a name has it. */
let primary: EngineProxy;
let app: TestApp;

const urlOf = (node: EmbeddedEngines | undefined): URL => new URL(node?.urls.redis ?? '');

beforeAll(async () => {
  nodes = [];
  for (const name of names) nodes.push(await startOwnEngines(name, ['redis']));
  primary = await startProxy(urlOf(nodes[0]).href);
  app = await startApp({ alias, urls: { redis: primary.url } });
  await app.context.redis.ready();
  await putDirectory(app.context.elastic, alias, [creator(1)]);
});
afterAll(async () => {
  await app?.close();
  await primary?.close();
  for (const node of nodes ?? []) await node.stop();
  for (const name of names) await removeEngineData(name);
});

async function onNode(node: EmbeddedEngines | undefined, ...command: [string, ...string[]]): Promise<string> {
  const redis = openRedis(urlOf(node).href);
  try {
    await redis.ready();
    const [name, ...args] = command;
    return String(await redis.client.call(name, ...args));
  } finally {
    await redis.close();
  }
}

it('A planned failover of Redis, with connections left open, costs two seconds at most and no charge', async () => {
  const [old, next] = nodes;
  const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 10_000 });
  const key = await brand.key('data');
  const search = async () => (await call(`${app.url}/v1/creators/search`, key)).status;
  let answered = 0;
  for (let i = 0; i < 5; i += 1) answered += Number((await search()) === 200);

  const jobs: string[] = [];
  const queue = openQueue(primary.url, 'failover');
  const onError = () => undefined;
  const worker = openWorker(primary.url, 'failover', async (id) => void jobs.push(id), {
    lostAfterMs: 10_000,
    onError,
  });
  await queue.add('before');
  await until('a job before', () => jobs.includes('before'));

  await onNode(next, 'REPLICAOF', urlOf(old).hostname, urlOf(old).port);
  await until('the copy', async () => (await onNode(next, 'INFO', 'replication')).includes('master_link_status:up'));
  primary.leadTo(urlOf(next).href);
  await onNode(next, 'REPLICAOF', 'NO', 'ONE');
  await onNode(old, 'REPLICAOF', urlOf(next).hostname, urlOf(next).port);

  const from = performance.now();
  await until('a charged search', async () => {
    const status = await search();
    expect([200, 503]).toContain(status);
    answered += Number(status === 200);
    return status === 200;
  });
  expect(performance.now() - from).toBeLessThan(30_000);
  await queue.add('after');
  await until('a job after', () => jobs.includes('after'));
  await Promise.all([worker.close(), queue.close()]);

  const { postgres, redis, clock } = app.context;
  await settle({ db: postgres.db, redis, clock }, [brand.subscriptionIds.data]);
  const { charged, refunded } = await ledgerOf(app.context, brand);
  expect(charged - refunded).toBe(10 * answered);
});
