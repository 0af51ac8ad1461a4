import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeSeller } from '../harness/affiliates/ordering.ts';
import { makeSale } from '../harness/affiliates/sales.ts';
import { jobOf, rowsOf, runJobs, startExport, storeClicks } from '../harness/analytics/exporting.ts';
import { keysInTurn, send, startApp, startWorkerProcess, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';
import { longDeadlineMs } from '../run/deadline.ts';

const SECOND_MS = 1_000;
const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-exports-'));
const clock = { at: Date.now(), now: () => new Date(clock.at) };
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('exports');
  const urls = { postgres: database.url, redis: ownRedis() };
  app = await startApp({ urls, env: { ROLLCALL_DIR: folder }, clock });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

it('An export in 30 increments has each row in exactly one of them, and all together what one full export has', async () => {
  const { brand, assignment } = await makeSeller(app);
  const nextKey = await keysInTurn(brand, 5);
  const edges = [clock.at];
  for (let i = 0; i < 30; i += 1) {
    await makeSale(app.context, brand, { assignment });
    await storeClicks(app.context, brand.id, 3, clock.at);
    clock.at += 500 + i * 37;
    edges.push(clock.at);
  }
  clock.at += 60 * SECOND_MS;
  const at = (ms: number | undefined) => new Date(ms ?? 0).toISOString();
  for (const of of ['orders', 'ledger', 'clicks']) {
    const jobs = [];
    for (const [i, edge] of edges.entries()) {
      const to = i === 30 ? clock.at : (edges[i + 1] ?? 0) - 1;
      jobs.push(await startExport(app, nextKey(), { of, format: 'ndjson', from: at(edge), to: at(to) }));
    }
    const full = await startExport(app, nextKey(), { of, format: 'ndjson', to: at(clock.at) });
    clock.at += 31 * SECOND_MS;
    await runJobs(app);
    const parts = [];
    for (const { id } of jobs) parts.push(...(await rowsOf(app, await jobOf(app, nextKey(), id))));
    const inOrder = (rows: object[]) => rows.map((row) => JSON.stringify(row)).sort();
    const whole = await rowsOf(app, await jobOf(app, nextKey(), full.id));
    expect(whole.length).toBeGreaterThanOrEqual(30);
    expect(inOrder(parts)).toEqual(inOrder(whole));
  }
});

it(
  'An export whose workers are killed again and again has each row once, and no file of a lost turn stays',
  async () => {
    clock.at = Date.now();
    const { brand, assignment } = await makeSeller(app);
    const nextKey = await keysInTurn(brand, 10);
    for (let i = 0; i < 40; i += 1) await makeSale(app.context, brand, { assignment });
    await storeClicks(app.context, brand.id, 8_000, clock.at - 60 * SECOND_MS);
    const env = {
      ...{ DATABASE_URL: database.url, REDIS_URL: ownRedis(), ROLLCALL_DIR: folder },
      EXPORT_FILE_ROWS: '40',
    };
    const expected = { orders: 40, ledger: 160, clicks: 8_000 };
    const jobs = new Map<string, string>();
    for (const of of Object.keys(expected)) {
      const { id } = await startExport(app, nextKey(), { of, by: 'date', format: 'ndjson' });
      jobs.set(of, id);
    }
    const clicks = jobs.get('clicks') ?? '';
    const rowsDone = async () => (await jobOf(app, nextKey(), clicks)).rows;
    for (let kills = 1; kills <= 3; kills += 1) {
      const before = await rowsDone();
      const worker = await startWorkerProcess(unique('none'), { ...env, WORKER_LOST_AFTER_MS: '1000' });
      await until('more clicks', async () => (await rowsDone()) > before);
      await worker.kill();
    }
    expect(await jobOf(app, nextKey(), clicks)).toMatchObject({ status: 'running' });
    const last = await startWorkerProcess(unique('none'), env);
    const done = async () => (await send(`${app.url}/v1/jobs?status=done`, nextKey(), 'GET')).body.pagination?.total;
    await until('all jobs', async () => (await done()) === jobs.size);
    await last.stop();
    for (const [of, count] of Object.entries(expected)) {
      const job = await jobOf(app, nextKey(), jobs.get(of) ?? '');
      expect(job).toMatchObject({ status: 'done', rows: count });
      const rows = await rowsOf(app, job);
      expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(count);
      expect(rows.length).toBe(count);
      const stored = readdirSync(folder, { recursive: true }).filter((name) => String(name).includes(`${job.id}/`));
      expect(stored.length).toBe(job.files.length);
    }
  },
  longDeadlineMs,
);
