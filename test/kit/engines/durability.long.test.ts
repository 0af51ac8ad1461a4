import { afterAll, beforeAll, expect, it } from 'vitest';
import { settle } from '../../../src/kit/access/credits/settle.ts';
import { readCharges } from '../../../src/kit/access/credits/stream.ts';
import type { EmbeddedEngines } from '../../../src/local/engines/start.ts';
import { call, ledgerOf, makeBrand, startApp, type TestApp, unique, until } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { removeEngineData, startOwnEngines } from '../../harness/kit/own-engines.ts';

const alias = unique('durability');
/** A Redis of its own: this test kills it. */
let engines: EmbeddedEngines;
const dataName = `test-${process.pid}-redis`;
let app: TestApp;

beforeAll(async () => {
  engines = await startOwnEngines(dataName, ['redis']);
  app = await startApp({ alias, urls: { redis: engines.urls.redis ?? '' } });
  await app.context.redis.ready();
  await putDirectory(app.context.elastic, alias, [creator(1)]);
});
afterAll(async () => {
  await app?.close();
  await engines?.stop();
  await removeEngineData(dataName);
});

it('a Redis killed under load loses no charge of an answered search and keeps no charge of a failed one', async () => {
  const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 100_000 });
  const keys = await Promise.all(Array.from({ length: 20 }, () => brand.key('data')));
  const subscriptionId = brand.subscriptionIds.data;
  const settling = { db: app.context.postgres.db, redis: app.context.redis, clock: app.context.clock };
  const answered: string[] = [];
  const failed: string[] = [];

  for (let round = 0; round < 3; round += 1) {
    let isDown = false;
    const callers = keys.map(async (key, i) => {
      for (let n = 0; n < 30 && !(isDown && n > 20); n += 1) {
        const { status, headers } = await call(`${app.url}/v1/creators/search`, key);
        expect([200, 503]).toContain(status);
        (status === 200 ? answered : failed).push(headers.get('x-request-id') ?? '');
        if (i === 0 && n === 10) {
          process.kill(engines.pids.redis ?? 0, 'SIGKILL');
          isDown = true;
        }
      }
    });
    await Promise.all(callers);
    await engines.restart('redis');
    await until('Redis', () =>
      app.context.redis.ping().then(
        () => true,
        () => false,
      ),
    );
    await settle(settling, [subscriptionId]);
  }

  expect(answered.length).toBeGreaterThan(100);
  expect(failed.length).toBeGreaterThan(0);
  const rows = await app.context.postgres.db
    .selectFrom('creditEntries')
    .select(['kind', 'chargeId', 'requestId', 'credits'])
    .where('subscriptionId', '=', subscriptionId)
    .execute();
  const charges = rows.filter(({ kind }) => kind === 'charge');
  const refunded = new Set(rows.filter(({ kind }) => kind === 'refund').map(({ chargeId }) => chargeId));
  const kept = charges.filter(({ chargeId }) => !refunded.has(chargeId)).map(({ requestId }) => requestId);
  expect(new Set(kept)).toEqual(new Set(answered));
  expect(kept).toHaveLength(answered.length);

  const key = await brand.key('data');
  const remaining = async () =>
    Number((await call(`${app.url}/v1/creators/1`, key)).headers.get('x-credits-remaining'));
  await until('the balance to be the ledger’s', async () => (await remaining()) === 100_000 - answered.length * 10);
});

it('when Redis cannot delete settled charges, settling fails and the charges are counted once', async () => {
  const { postgres, redis, clock } = app.context;
  const settling = { db: postgres.db, redis, clock };
  const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 1_000 });
  const key = await brand.key('data');
  for (let i = 0; i < 3; i += 1) await call(`${app.url}/v1/creators/search`, key);
  await redis.client.config('SET', 'min-replicas-to-write', 1);
  try {
    await expect(settle(settling, [brand.subscriptionIds.data])).rejects.toThrow();
    expect(await readCharges(redis, brand.subscriptionIds.data)).toHaveLength(3);
  } finally {
    await redis.client.config('SET', 'min-replicas-to-write', 0);
  }
  const { charged } = await ledgerOf(app.context, brand);
  expect(charged).toBe(30);
  expect(await readCharges(redis, brand.subscriptionIds.data)).toEqual([]);
});
