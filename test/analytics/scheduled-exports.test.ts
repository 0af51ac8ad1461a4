import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runExportSchedules } from '../../src/analytics/exports/schedules.jobs.ts';
import { makeSeller } from '../harness/affiliates/ordering.ts';
import { makeSale } from '../harness/affiliates/sales.ts';
import { jobOf, ndjsonRows, runJobs, startExport } from '../harness/analytics/exporting.ts';
import { makeBrand, send, startApp, type TestApp, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { mailsOf } from '../harness/kit/mail.ts';
import { S3_BUCKET, S3_KEY, S3_SECRET, startS3, type TestS3 } from '../harness/kit/s3.ts';

const DAY_MS = 86_400_000;
const clock = { at: Date.parse('2026-03-10T12:00:00Z'), now: () => new Date(clock.at) };
let database: TestDatabase;
let app: TestApp;
let s3: TestS3;

beforeAll(async () => {
  database = await makeDatabase('schedules');
  [app, s3] = await Promise.all([startApp({ urls: { postgres: database.url }, clock }), startS3()]);
});
afterAll(async () => {
  await Promise.all([app?.close(), s3?.close()]);
  await database?.drop();
});

const destination = (more: object = {}) => ({
  ...{ bucket: S3_BUCKET, prefix: 'rollcall', region: 'eu-central-1', endpoint: new URL(s3.endpoint).origin },
  ...{ access_key_id: S3_KEY, secret_access_key: S3_SECRET, ...more },
});

const schedule = (key: string, more: object = {}) =>
  startExport(app, key, { of: 'orders', format: 'ndjson', schedule: 'daily', destination: destination(), ...more });

const schedulesOf = async (key: string) => (await send(`${app.url}/v1/exports/schedules`, key, 'GET')).body.data;

/** What workers do in the half hour after the next midnight. */
async function nextMidnight(): Promise<void> {
  clock.at = (Math.floor(clock.at / DAY_MS) + 1) * DAY_MS + 31_000;
  await runExportSchedules.run(app.context);
  for (let minute = 0; minute < 45; minute += 15) {
    clock.at += 31_000;
    await runJobs(app);
    clock.at += 15 * 60_000;
  }
}

const rowsIn = (prefix: string) =>
  [...s3.objects]
    .filter(([key]) => key.startsWith(prefix) && key.endsWith('.ndjson'))
    .flatMap(([, { bytes }]) => ndjsonRows(bytes));

describe('a daily export', () => {
  it('checks the bucket, delivers what there is, and each day what is new, each row once', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const first = await makeSale(app.context, brand, { assignment });
    clock.at += 60_000;
    const started = await schedule(key);
    expect(s3.requests.map((one) => one.split(' ')[0])).toEqual(['PUT', 'GET', 'DELETE']);
    expect(s3.objects.size).toBe(0);
    clock.at += 31_000;
    await runJobs(app);
    const job = await jobOf(app, key, started.id);
    expect(job).toMatchObject({ status: 'done', rows: 1, schedule_id: started.schedule_id });
    expect(job.files.map(({ name, url }: { name: string; url: null }) => [name, url])).toEqual([
      ['orders/2026-03-10T120100Z/orders-0001.ndjson', null],
      ['orders/2026-03-10T120100Z/manifest.json', null],
    ]);
    expect(rowsIn('rollcall/orders/').map(({ order_id }) => order_id)).toEqual([first.orderId]);

    const sales = [first];
    for (let days = 0; days < 3; days += 1) {
      sales.push(await makeSale(app.context, brand, { assignment }));
      clock.at += 3_600_000;
      await nextMidnight();
    }
    const found = rowsIn('rollcall/orders/').map(({ order_id }) => order_id);
    expect(found.toSorted()).toEqual(sales.map(({ orderId }) => orderId).toSorted());
    const manifests = [...s3.objects.keys()].filter((name) => name.endsWith('/manifest.json'));
    expect(manifests.length).toBeGreaterThanOrEqual(3);
    expect(await schedulesOf(key)).toMatchObject([{ failing_since: null, last_error: null, bucket: S3_BUCKET }]);
    // The answer, the list and the audit log show none of the keys, and neither does the database.
    const shown = JSON.stringify([
      started,
      await schedulesOf(key),
      (await send(`${app.url}/v1/audit`, key, 'GET')).body,
    ]);
    const stored = await app.context.postgres.db.selectFrom('exportSchedules').selectAll().execute();
    expect(shown + JSON.stringify(stored)).not.toMatch(new RegExp(`${S3_SECRET}|${S3_KEY}`));
  });

  it('that is under way at midnight is followed by the next one once it has ended', async () => {
    const { key } = await makeSeller(app);
    const { id, schedule_id } = await schedule(key);
    const jobs = async () =>
      (await send(`${app.url}/v1/jobs?schedule_id=${schedule_id}`, key, 'GET')).body.pagination.total;
    clock.at = (Math.floor(clock.at / DAY_MS) + 1) * DAY_MS + 31_000;
    await runExportSchedules.run(app.context);
    expect(await jobs()).toBe(1);
    await until('the end of the first', async () => {
      // A turn that a busy engine refused is due again later.
      await runJobs(app);
      clock.at += 31_000;
      return (await jobOf(app, key, id)).status === 'done';
    });
    clock.at += 61_000;
    await runExportSchedules.run(app.context);
    expect(await jobs()).toBe(2);
    await runJobs(app);
  });

  it('is refused with what the storage said if the bucket, its keys or its address are wrong', async () => {
    const { key } = await makeSeller(app);
    const bad: [object, RegExp][] = [
      [{ secret_access_key: 'another' }, /SignatureDoesNotMatch/],
      [{ bucket: 'nobodys' }, /NoSuchBucket/],
      [{ endpoint: 'http://10.1.2.3' }, /private or reserved address/],
      [{ endpoint: 'http://169.254.169.254' }, /private or reserved address/],
    ];
    for (const [more, message] of bad) {
      const body = { of: 'orders', schedule: 'daily', destination: destination(more) };
      const answer = await send(`${app.url}/v1/exports`, key, 'POST', body);
      expect([answer.status, answer.body.details?.[0]?.field]).toEqual([422, 'destination']);
      expect(answer.body.error).toMatch(message);
    }
    expect(await schedulesOf(key)).toEqual([]);
  });

  it('that fails is mailed once and shown, until it works again and has everything since', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    await app.context.postgres.db
      .updateTable('brands')
      .set({ contactEmail: 'ops@acme.example' })
      .where('id', '=', brand.id)
      .execute();
    const own = { prefix: 'failing' };
    await schedule(key, { destination: destination(own) });
    clock.at += 31_000;
    await runJobs(app);
    s3.refusing = true;
    const sales = [];
    for (let days = 0; days < 3; days += 1) {
      sales.push(await makeSale(app.context, brand, { assignment }));
      await nextMidnight();
    }
    const mails = async () => (await mailsOf(app.context, brand.id)).filter(({ kind }) => kind === 'export_failing');
    expect((await mails()).length).toBe(1);
    expect((await mails())[0]?.text).toContain('AccessDenied');
    expect(await schedulesOf(key)).toMatchObject([{ last_error: 'The bucket answered AccessDenied.' }]);
    const failed = (await send(`${app.url}/v1/jobs?status=failed`, key, 'GET')).body;
    expect(failed.pagination.total).toBe(3);

    s3.refusing = false;
    await nextMidnight();
    expect(await schedulesOf(key)).toMatchObject([{ last_error: null, failing_since: null }]);
    const found = rowsIn('failing/orders/').map(({ order_id }) => order_id);
    expect(found.toSorted()).toEqual(sales.map(({ orderId }) => orderId).toSorted());
    expect((await mails()).length).toBe(1);
  });

  it('ends when it is deleted, also for a job under way, and is no other brand’s', async () => {
    const { key } = await makeSeller(app);
    const other = await (await makeBrand(app.context)).key('brand');
    const { id, schedule_id } = await schedule(key);
    const path = `${app.url}/v1/exports/schedules/${schedule_id}`;
    expect((await send(path, other, 'DELETE')).status).toBe(404);
    expect(await schedulesOf(other)).toEqual([]);
    expect((await send(path, key, 'DELETE')).status).toBe(200);
    expect((await send(path, key, 'DELETE')).status).toBe(404);
    clock.at += 31_000;
    await runJobs(app);
    expect(await jobOf(app, key, id)).toMatchObject({ status: 'failed', error: 'The schedule was deleted.' });
    await nextMidnight();
    const { pagination } = (await send(`${app.url}/v1/jobs`, key, 'GET')).body;
    expect(pagination.total).toBe(1);
  });
});
