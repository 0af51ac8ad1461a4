import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beginTurn } from '../../src/platform/jobs/jobs.ts';
import { makeRivals, type Rivals, reportAll, reportedOrder } from '../harness/affiliates/rival-codes.ts';
import { bytesOf, jobOf, runJobs } from '../harness/analytics/exporting.ts';
import { call, send, startApp, type TestApp, unique } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-simulating-'));
const clock = { at: Date.now(), now: () => new Date(clock.at) };
let database: TestDatabase;
/** Simulates any number of orders at once. */
let app: TestApp;
/** Simulates up to seven orders at once, and seven a turn. */
let small: TestApp;

beforeAll(async () => {
  // Turns are taken of all jobs there are.
  database = await makeDatabase('simulating');
  const urls = { postgres: database.url };
  app = await startApp({ urls, env: { ROLLCALL_DIR: folder }, clock });
  small = await startApp({ urls, env: { ROLLCALL_DIR: folder, SIMULATION_ORDERS: '7' }, clock });
});
afterAll(async () => {
  await small?.close();
  await app?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const history = fc.sample(reportedOrder, { numRuns: 36, seed: 11 });
const RULES = { model: 'first_click', rate: 7.5, min_order: 20, hold_days: 60 };
const period = () => ({ from: new Date(clock.at - 70 * DAY_MS).toISOString() });

async function makeHistory(): Promise<Rivals> {
  const rivals = await makeRivals(app);
  await reportAll(rivals, history);
  return rivals;
}

async function start({ key }: Rivals, rules: object = RULES) {
  const { status, body } = await send(`${small.url}/v1/affiliates/simulate`, key, 'POST', { ...period(), rules });
  expect([status, body.data.kind, body.data.status]).toEqual([202, 'simulation', 'queued']);
  return body.data;
}

const atOnce = async ({ key }: Rivals, rules: object = RULES) =>
  (await send(`${app.url}/v1/affiliates/simulate`, key, 'POST', { ...period(), rules })).body;

describe('A simulation of more orders than a call takes', () => {
  it('is a job whose file and result are what one call would answer', async () => {
    const rivals = await makeHistory();
    const job = await start(rivals);
    expect(job.request).toMatchObject({ rules: RULES, currency: 'USD', from: period().from });
    const turns = await runJobs(small);
    const done = await jobOf(app, rivals.key, job.id);
    const answer = await atOnce(rivals);
    expect(answer.meta.changed).toBeGreaterThan(2);
    expect(turns).toBe(Math.floor(answer.meta.orders / 7) + 1);
    expect(done).toMatchObject({
      status: 'done',
      rows: answer.meta.orders,
      total_rows: answer.meta.orders,
      progress: 1,
    });
    const [file] = done.files;
    expect(file).toMatchObject({ name: 'simulation.json', rows: answer.data.creators.length });
    expect(JSON.parse((await bytesOf(app, file)).toString())).toEqual(answer);
    expect(done.result).toEqual(answer);
  });

  it('shows its progress, and goes on after its worker is gone', async () => {
    const rivals = await makeHistory();
    const { id } = await start(rivals);
    const answer = await atOnce(rivals);
    await runJobs(small, 2);
    expect(await jobOf(app, rivals.key, id)).toMatchObject({
      ...{
        status: 'running',
        rows: 14,
        total_rows: answer.meta.orders,
        progress: 14 / answer.meta.orders,
        result: null,
      },
    });
    // A worker takes a turn, and is never heard of again.
    const { db } = app.context.postgres;
    expect(
      await beginTurn(db, { id, brandId: rivals.brand.id }, { claim: unique('lost'), now: clock.now() }),
    ).toBeDefined();
    await runJobs(small);
    const done = await jobOf(app, rivals.key, id);
    expect([done.status, done.result]).toEqual(['done', answer]);
  });

  it('starts once for an Idempotency-Key, can be cancelled, and is refused for what a call refuses', async () => {
    const rivals = await makeHistory();
    const body = JSON.stringify({ ...period(), rules: RULES });
    const headers = { 'content-type': 'application/json', 'idempotency-key': unique('key') };
    const url = `${small.url}/v1/affiliates/simulate`;
    const [one, other] = [
      await call(url, rivals.key, { method: 'POST', headers, body }),
      await call(url, rivals.key, { method: 'POST', headers, body }),
    ];
    expect([one.status, other.status]).toEqual([202, 202]);
    expect(other.body).toEqual(one.body);
    const { id } = one.body.data;
    expect((await send(`${app.url}/v1/jobs?kind=simulating`, rivals.key, 'GET')).status).toBe(422);
    expect((await send(`${app.url}/v1/jobs?kind=simulation`, rivals.key, 'GET')).body.pagination.total).toBe(1);
    await runJobs(small, 1);
    expect((await send(`${app.url}/v1/jobs/${id}`, rivals.key, 'DELETE')).body.data.status).toBe('cancelled');
    expect(await runJobs(small)).toBe(0);
    const wrong = await send(url, rivals.key, 'POST', { ...period(), rules: { min_order: 1.234 } });
    expect([wrong.status, wrong.body.details[0].field]).toEqual([422, 'rules.min_order']);
  });
});
