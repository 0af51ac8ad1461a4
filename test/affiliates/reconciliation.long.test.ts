import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeSeller } from '../harness/affiliates/ordering.ts';
import { differencesOf, reconcileFile, seedOrders } from '../harness/affiliates/reconciling.ts';
import { daysAgo } from '../harness/affiliates/sales.ts';
import { jobOf, runJobs } from '../harness/analytics/exporting.ts';
import { keysInTurn, startApp, startWorkerProcess, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';
import { longDeadlineMs } from '../run/deadline.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-reconciling-'));
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('reconciling');
  app = await startApp({ urls: { postgres: database.url }, env: { ROLLCALL_DIR: folder } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

it(
  'A comparison of 10,000 orders whose workers are killed finds 5,000 seeded differences and no other',
  async () => {
    const { brand, assignment } = await makeSeller(app);
    const other = await makeSeller(app);
    const nextKey = await keysInTurn(brand, 10);
    const first = daysAgo(60);
    const seeded = await seedOrders(app, assignment, { orders: 10_001, first });
    await seedOrders(app, other.assignment, { orders: 500, first, seed: 2 });
    expect(seeded.expected.length).toBe(5_000);
    const { status, body } = await reconcileFile(app, nextKey(), seeded.csv);
    expect(status).toBe(202);
    const env = {
      ...{ DATABASE_URL: database.url, REDIS_URL: ownRedis(), ROLLCALL_DIR: folder },
      ...{ EXPORT_FILE_ROWS: '1500', WORKER_LOST_AFTER_MS: '1000' },
    };
    const job = async () => await jobOf(app, nextKey(), body.data.id);
    for (let kills = 1; kills <= 3; kills += 1) {
      const { rows } = await job();
      const worker = await startWorkerProcess(unique('none'), env);
      await until('more orders', async () => (await job()).rows > rows);
      await worker.kill();
    }
    const last = await startWorkerProcess(unique('none'), env);
    await until('the end', async () => (await job()).status === 'done');
    await last.stop();
    const { job: done, found } = await differencesOf(app, nextKey(), body.data.id);
    expect(found).toEqual(seeded.expected);
    expect(done.result).toMatchObject(seeded.counts);
    // 50 of each of the six kinds.
    expect(done.result.differences).toHaveLength(300);
  },
  longDeadlineMs,
);

it('A large file that leaves something open is refused by its job, which says what would answer that', async () => {
  const { key, assignment } = await makeSeller(app);
  const note = 'x'.repeat(200);
  const rows = Array.from({ length: 12_000 }, (_, i) => `${i},1.250,${note}`);
  const csv = `Id,Subtotal,Note\n${rows.join('\n')}\n`;
  const { status, body } = await reconcileFile(app, key, csv, { integration_id: assignment.source.id });
  expect([status, body.data.request.columns]).toEqual([202, { order_id: 'Id', amount: 'Subtotal' }]);
  await runJobs(app);
  expect(await jobOf(app, key, body.data.id)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('Send it again with `mapping`, such as {"decimal":"."}'),
  });
});
