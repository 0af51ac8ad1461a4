import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beginTurn, updateProgress } from '../../src/platform/jobs/jobs.ts';
import { removeEndedFiles } from '../../src/platform/jobs/turns.ts';
import { makeSeller } from '../harness/affiliates/ordering.ts';
import { asTest, makeSale, makeSales } from '../harness/affiliates/sales.ts';
import {
  bytesOf,
  jobOf,
  parquetRows,
  rowsOf,
  runJobs,
  startExport,
  storeClicks,
} from '../harness/analytics/exporting.ts';
import { makeBrand, send, startApp, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';
import { startProxy } from '../harness/kit/proxy.ts';
import { here } from '../harness/platform/uploading.ts';

const SECOND_MS = 1_000;
const DAY_MS = 86_400 * SECOND_MS;
const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-exports-'));
const clock = { at: Date.now(), now: () => new Date(clock.at) };
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  // Turns are taken of all jobs there are.
  database = await makeDatabase('exports');
  // An export of clicks waits for all pending clicks, including those of other brands.
  const env = { ROLLCALL_DIR: folder, EXPORT_FILE_ROWS: '4', CLICKS_REDIS_URL: ownRedis() };
  app = await startApp({ urls: { postgres: database.url }, env, clock });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const filesOnDisk = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;

/** What is due 30 seconds from now. */
async function runLater(): Promise<void> {
  clock.at += 31 * SECOND_MS;
  await runJobs(app);
}

/** Starts an export of everything that was recorded before. */
async function start(key: string, body: object) {
  clock.at += 1;
  return await startExport(app, key, body);
}

/** An export that is done. */
async function exported(key: string, body: object) {
  const { id } = await start(key, body);
  await runLater();
  const job = await jobOf(app, key, id);
  expect([job.status, job.error]).toEqual(['done', null]);
  return job;
}

describe('an export', () => {
  it('counts each row once, also those that a turn had shown before its worker died', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    await makeSales(app.context, brand, 6, assignment);
    const { id } = await start(key, { of: 'orders', by: 'date', format: 'ndjson' });
    const { db } = app.context.postgres;
    const lost = await beginTurn(db, { id, brandId: brand.id }, { claim: unique('lost'), now: clock.now() });
    if (!lost) throw new Error('The job has ended.');
    await updateProgress(db, lost, 4);
    expect((await jobOf(app, key, id)).rows).toBe(4);
    await runLater();
    const job = await jobOf(app, key, id);
    expect(job).toMatchObject({ status: 'done', rows: 6 });
    const manifest = job.files.find(({ name }: { name: string }) => name === 'manifest.json');
    expect(JSON.parse((await bytesOf(app, manifest)).toString())).toMatchObject({ rows: 6 });
  });

  it('keeps a file whose row was committed, although the answer to the commit was lost', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    await makeSales(app.context, brand, 9, assignment);
    const { id } = await start(key, { of: 'orders', format: 'ndjson' });
    const proxy = await startProxy(database.url);
    const env = { ROLLCALL_DIR: folder, EXPORT_FILE_ROWS: '4' };
    const worker = await startApp({ urls: { postgres: proxy.url }, env, clock });
    proxy.loseCommitWith('insert into "job_files"');
    clock.at += 31 * SECOND_MS;
    expect(await runJobs(worker, 1)).toBe(1);
    expect((await jobOf(app, key, id)).files).toHaveLength(1);
    await runLater();
    const job = await jobOf(app, key, id);
    expect(job).toMatchObject({ status: 'done', rows: 9 });
    expect(await rowsOf(app, job)).toHaveLength(9);
    await worker.close();
    await proxy.close();
  });

  it('of orders answers 202 with a job, and has the rows of the list in files with their SHA-256 and a manifest', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    await makeSales(app.context, brand, 9, assignment);
    const started = await start(key, { of: 'orders', format: 'ndjson' });
    expect(started).toMatchObject({ kind: 'export', status: 'queued', rows: 0, total_rows: null, files: [] });
    // Another order could still be on its way into the window.
    expect(await runJobs(app)).toBe(0);
    await makeSale(app.context, brand, { assignment });
    await runLater();

    const job = await jobOf(app, key, started.id);
    expect(job).toMatchObject({ status: 'done', rows: 9, total_rows: 9, progress: 1 });
    expect(job.files.map(({ name, rows }: { name: string; rows: number }) => [name, rows])).toEqual([
      ['orders-0001.ndjson', 4],
      ['orders-0002.ndjson', 4],
      ['orders-0003.ndjson', 1],
      ['manifest.json', 0],
    ]);
    for (const file of job.files) {
      const bytes = await bytesOf(app, file);
      expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([file.size_bytes, file.sha256]);
    }
    const manifest = JSON.parse((await bytesOf(app, job.files[3])).toString());
    expect(manifest).toMatchObject({ of: 'orders', rows: 9, files: [{ rows: 4 }, { rows: 4 }, { rows: 1 }] });
    const { data } = (await send(`${app.url}/v1/orders?limit=100`, key, 'GET')).body;
    const rows = await rowsOf(app, job);
    const listed = new Map(data.map((order: { id: string }) => [order.id, order]));
    for (const row of rows) {
      const { amount_minor, commission_minor, recorded_at, commission_status, ...shown } = row;
      expect(listed.get(String(row.id))).toMatchObject({
        ...{ id: shown.id, order_id: shown.order_id, creator_email: shown.creator_email, link_id: shown.link_id },
        ...{ occurred_at: shown.occurred_at, customer_email: shown.customer_email, status: commission_status },
        ...{ amount: Number(amount_minor) / 100, commission: Number(commission_minor) / 100 },
      });
      expect(recorded_at).toBeTypeOf('string');
    }
    expect(rows.length).toBe(9);
  });

  it('takes chosen columns, and answers 422 for unknown ones, windows and formats', async () => {
    const { brand, key } = await makeSeller(app);
    await makeSale(app.context, brand);
    const job = await exported(key, { of: 'orders', columns: ['currency', 'id'] });
    const [row] = await parquetRows(await bytesOf(app, job.files[0]));
    expect(Object.keys(row ?? {})).toEqual(['id', 'currency']);
    const bad = [
      [{ of: 'orders', columns: ['secret'] }, 'columns'],
      [{ of: 'orders', from: '2026-03-02', to: '2026-03-01' }, 'from'],
      [{ of: 'orders', format: 'xlsx' }, 'format'],
      [{ of: 'performance', by: 'recorded' }, 'by'],
      [{ of: 'performance', from: '2026-03-02T10:00:00Z' }, 'from'],
      [{ of: 'orders', schedule: 'daily' }, 'destination'],
    ] as const;
    for (const [body, field] of bad) {
      const answer = await send(`${app.url}/v1/exports`, key, 'POST', body);
      expect([answer.status, answer.body.details?.[0]?.field]).toEqual([422, field]);
    }
  });

  it('by date has what happened in the window, whenever it was recorded', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    for (const day of ['2026-01-01', '2026-01-02', '2026-01-03']) {
      await makeSale(app.context, brand, { assignment, occurredAt: new Date(`${day}T23:59:59.999Z`) });
    }
    for (const of of ['orders', 'commissions']) {
      const job = await exported(key, { of, by: 'date', from: '2026-01-02', to: '2026-01-02' });
      expect((await rowsOf(app, job)).map(({ occurred_at }) => occurred_at)).toEqual(['2026-01-02T23:59:59.999Z']);
    }
    const ledger = await exported(key, { of: 'ledger', by: 'date', from: '2026-01-02', to: '2026-01-02' });
    expect((await rowsOf(app, ledger)).map(({ account }) => account)).toEqual([
      ...['customers', 'sales', 'commission_expense', 'commission_pending'],
    ]);
  });

  it('waits for an order that is still being recorded, and has it', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const { promise: committed, resolve: commit } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const slow = asTest(app.context, brand, async ({ db }) => {
      // As a transaction that has written something, which no other waits for.
      await sql`select pg_current_xact_id()`.execute(db);
      begin();
      await committed;
    });
    await begun;
    await makeSale(app.context, brand, { assignment });
    const { id } = await start(key, { of: 'orders' });
    clock.at += 31 * SECOND_MS;
    expect(await runJobs(app, 1)).toBe(1);
    expect(await jobOf(app, key, id)).toMatchObject({ status: 'running', files: [] });
    commit();
    await slow;
    await runLater();
    expect(await jobOf(app, key, id)).toMatchObject({ status: 'done', rows: 1 });
  });

  it('is nobody else’s: another brand gets 404 for its job, and has none of its rows', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    await makeSales(app.context, brand, 3, assignment);
    await storeClicks(app.context, brand.id, 3, clock.at);
    const mine = await exported(key, { of: 'orders' });
    const other = await (await makeBrand(app.context)).key('brand');
    for (const method of ['GET', 'DELETE']) {
      expect((await send(`${app.url}/v1/jobs/${mine.id}`, other, method)).status).toBe(404);
    }
    for (const of of ['orders', 'clicks', 'commissions', 'ledger', 'performance', 'roster', 'content', 'customers']) {
      expect((await exported(other, { of })).rows).toBe(0);
    }
    const { data } = (await send(`${app.url}/v1/jobs?limit=100`, other, 'GET')).body;
    expect(data.map(({ id }: { id: string }) => id)).not.toContain(mine.id);
    const url: string = mine.files[0].url;
    expect((await fetch(here(app, url.replace(/.$/, url.endsWith('A') ? 'Q' : 'A')))).status).toBe(404);
  });
});

describe('a job', () => {
  it('of one brand does not wait for the many of another', async () => {
    const many = await makeSeller(app);
    const one = await makeSeller(app);
    await makeSales(app.context, many.brand, 6, many.assignment);
    const body = { of: 'orders', by: 'date' };
    for (let i = 0; i < 20; i += 1) await startExport(app, many.key, body);
    expect(await runJobs(app, 3)).toBe(3);
    const { id } = await startExport(app, one.key, body);
    // Each brand has a turn: of the next two, one is the other brand's. One that a busy engine refuses is due again later.
    await runJobs(app, 2);
    expect((await jobOf(app, one.key, id)).started_at).not.toBeNull();
    const countJobs = async (status: string): Promise<number> =>
      (await send(`${app.url}/v1/jobs?status=${status}`, many.key, 'GET')).body.pagination.total;
    expect(await countJobs('queued')).toBeGreaterThan(15);
    await until('the job of the other brand', async () => {
      await runJobs(app, 2);
      clock.at += 31 * SECOND_MS;
      return (await jobOf(app, one.key, id)).status === 'done';
    });
    await until('the end of the others', async () => {
      await runJobs(app);
      clock.at += 31 * SECOND_MS;
      return (await countJobs('queued')) + (await countJobs('running')) === 0;
    });
  });

  it('is refused with 409 when 200 of the brand have not ended, however many calls come at once', async () => {
    const { brand, key } = await makeSeller(app);
    const { db } = app.context.postgres;
    const body = { of: 'roster', by: 'date' };
    const { id } = await start(key, body);
    await sql`insert into jobs select (jsonb_populate_record(one, jsonb_build_object('id', 'job_many' || n))).*
      from jobs as one, generate_series(1, 198) as n where one.id = ${id}`.execute(db);
    const sent = Array.from({ length: 5 }, () => send(`${app.url}/v1/exports`, key, 'POST', body));
    const answers = (await Promise.all(sent)).map((answer) => [answer.status, answer.body.code]);
    expect(answers.toSorted()).toEqual([[202, undefined], ...Array(4).fill([409, 'CONFLICT'])]);
    await db.deleteFrom('jobs').where('brandId', '=', brand.id).execute();
  });

  it('that is cancelled stops, loses its files, and cannot be cancelled again', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    await makeSales(app.context, brand, 9, assignment);
    const before = filesOnDisk();
    const { id } = await start(key, { of: 'orders', by: 'date' });
    await runJobs(app, 1);
    expect(filesOnDisk()).toBe(before + 1);
    const { status, body } = await send(`${app.url}/v1/jobs/${id}`, key, 'DELETE');
    expect([status, body.data.status, body.data.files]).toEqual([200, 'cancelled', []]);
    expect(await runJobs(app)).toBe(0);
    await removeEndedFiles(app.context);
    expect(filesOnDisk()).toBe(before);
    const again = await send(`${app.url}/v1/jobs/${id}`, key, 'DELETE');
    expect([again.status, again.body.code]).toEqual([409, 'INVALID_STATE_TRANSITION']);
  });

  it('has files for seven days', async () => {
    const { brand, key } = await makeSeller(app);
    await makeSale(app.context, brand);
    const job = await exported(key, { of: 'orders' });
    const [file] = job.files;
    const before = filesOnDisk();
    clock.at += 7 * DAY_MS - 60 * SECOND_MS;
    expect((await fetch(here(app, file.url))).status).toBe(200);
    clock.at += 61 * SECOND_MS;
    expect((await fetch(here(app, file.url))).status).toBe(404);
    await removeEndedFiles(app.context);
    expect(filesOnDisk()).toBeLessThan(before);
    expect(await jobOf(app, key, job.id)).toMatchObject({ status: 'done', files: [], files_end_at: null });
  });
});
