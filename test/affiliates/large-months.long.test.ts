import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inSnapshot } from '../../src/affiliates/ledger/ledger.ts';
import { verifyRecords } from '../../src/affiliates/ledger/verify-ledger.ts';
import { get, makePayer } from '../harness/affiliates/paying.ts';
import { makeAssignment, makeSale } from '../harness/affiliates/sales.ts';
import { jobOf } from '../harness/analytics/exporting.ts';
import {
  type RollcallProcess,
  send,
  startApp,
  startWorkerProcess,
  type TestApp,
  unique,
  until,
} from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';

const CREATORS = 24;
/** Each is paid in a step of its own, so that a worker is also killed between the steps of a creator. */
const COMMISSIONS = 3;
const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-months-'));
const alias = unique('months');
const running: RollcallProcess[] = [];
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('killedmonths');
  const env = { ROLLCALL_DIR: folder, COMMISSIONS_AT_ONCE: '1' };
  app = await startApp({ alias, urls: { postgres: database.url }, env });
});
afterAll(async () => {
  for (const process of running) await process.kill();
  await app?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

it('A month is approved and paid once although its worker is killed with kill -9 between creators and within one', async () => {
  const owner = await makePayer(app);
  for (let i = 0; i < CREATORS; i += 1) {
    const assignment = await makeAssignment(app.context, owner.brand, { email: `${unique('c')}@mail.example` });
    for (let sale = 0; sale < COMMISSIONS; sale += 1) await makeSale(app.context, owner.brand, { assignment });
  }
  const env = {
    ...{ DATABASE_URL: database.url, REDIS_URL: ownRedis(), ROLLCALL_DIR: folder, WORKER_LOST_AFTER_MS: '2000' },
  };
  const session = await database.open();
  /** Kills the worker while it waits for a row that it must write, after it has done several creators. */
  const runKilled = async (jobId: string, table: string) => {
    for (const done of [3, 9]) {
      const worker = await startWorkerProcess(alias, env);
      running.push(worker);
      await until('some creators to be done', async () => {
        const { rows } = await session.query(
          `select count(*)::int as n from job_lines where job_id = '${jobId}' and is_done`,
        );
        return rows[0].n >= done;
      });
      await session.query(`begin; lock table ${table} in exclusive mode`);
      await worker.kill();
      await session.query('commit');
    }
    const last = await startWorkerProcess(alias, env);
    running.push(last);
    await until('the job to end', async () => (await jobOf(app, owner.key, jobId)).status === 'done');
    await last.kill();
  };
  try {
    const approval = await send(`${app.url}/v1/commissions/approve-due`, owner.key, 'POST', {
      cutoff: new Date().toISOString(),
    });
    await runKilled(approval.body.data.id, 'audit_log');
    expect((await jobOf(app, owner.key, approval.body.data.id)).result).toMatchObject({
      updated: CREATORS * COMMISSIONS,
    });
    const batch = await send(`${app.url}/v1/payouts/batch`, owner.key, 'POST', { method: 'bank_transfer' });
    await runKilled(batch.body.data.id, 'payout_allocations');
    const { result } = await jobOf(app, owner.key, batch.body.data.id);
    expect(result).toMatchObject({
      payouts: CREATORS,
      by_currency: [{ currency: 'USD', total: 10 * COMMISSIONS * CREATORS }],
    });
    const { body } = await get(owner, '/v1/payouts?limit=100');
    expect(body.data).toHaveLength(CREATORS);
    expect(new Set(body.data.map((one: { creator_email: string }) => one.creator_email)).size).toBe(CREATORS);
    expect(new Set(body.data.map((one: { allocated_amount: number }) => one.allocated_amount))).toEqual(
      new Set([10 * COMMISSIONS]),
    );
    expect((await get(owner, '/v1/payouts/preview')).body.summary.by_currency).toEqual([]);
    const { db } = app.context.postgres;
    expect((await inSnapshot(db, (trx) => verifyRecords(trx, owner.brand.id))).problems).toEqual([]);
  } finally {
    await session.end();
  }
});
