import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listSubscriptions } from '../../src/platform/brands/brands.ts';
import { startExport } from '../harness/analytics/exporting.ts';
import { call, made, makeBrand, send, startApp, type TestApp, type TestBrand, until } from '../harness/app.ts';
import { S3_BUCKET, S3_KEY, S3_SECRET, startS3 } from '../harness/kit/s3.ts';
import { sendImport } from '../harness/platform/importing.ts';
import { signIn } from '../harness/platform/session.ts';
import { file, upload } from '../harness/platform/uploading.ts';
import { runCli } from '../harness/process/cli.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;
beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(() => app?.close());

async function cli(...args: string[]) {
  const { status, out, said } = await runCli(args);
  expect([status, said]).toEqual([0, expect.any(String)]);
  return { out, said };
}

const Items = z.array(z.looseObject({ id: z.string() }));
const listed = async (...args: string[]) => Items.parse(JSON.parse((await cli(...args, '--json')).out));

describe('the commands of an operator', () => {
  it('suspend a brand within a second, with its keys and sessions, and let it work again', async () => {
    const owner = await signIn(app, brand.id);
    await cli('brand', 'suspend', brand.id);
    const codes = async () => [
      (await call(`${app.url}/v1/brand`, key)).body.code,
      (await owner.get('/v1/brand')).body.code,
    ];
    await expect.poll(codes).toEqual(['BRAND_SUSPENDED', 'BRAND_SUSPENDED']);
    expect((await cli('brand', 'suspend', brand.id)).said).toContain('was already suspended');
    await cli('brand', 'resume', brand.id);
    await until('the brand to work again', async () => (await call(`${app.url}/v1/brand`, key)).status === 200);
  });

  it('list the jobs of a brand that have not ended, and cancel one', async () => {
    const job = await startExport(app, key, { of: 'orders', format: 'csv' });
    expect((await listed('job', 'list', '--brand', brand.id)).map(({ id }) => id)).toEqual([job.id]);
    await cli('job', 'cancel', job.id);
    expect((await call(`${app.url}/v1/jobs/${job.id}`, key)).body.data.status).toBe('cancelled');
    expect(await listed('job', 'list', '--brand', brand.id)).toEqual([]);
    expect((await runCli(['job', 'cancel', job.id])).said).toContain('has ended already');
  });

  it('list what a brand has run again and again, and pause and resume it', async () => {
    const owner = await signIn(app, brand.id);
    const { email } = (await owner.get('/v1/session')).body.data.person;
    const report = await made(`${app.url}/v1/reports`, key, {
      ...{ operation: 'analytics', every: 'day', timezone: 'UTC', to: [email] },
    });
    const own = async () => await listed('schedule', 'list', '--brand', brand.id);
    expect(await own()).toMatchObject([{ id: report.id, kind: 'report', paused_at: null }]);
    await cli('schedule', 'pause', report.id);
    expect(await own()).toMatchObject([{ paused_at: expect.any(String) }]);
    await cli('schedule', 'resume', report.id);
    expect(await own()).toMatchObject([{ paused_at: null }]);
  });

  it('know no schedule that was deleted', async () => {
    const s3 = await startS3();
    const destination = {
      ...{ bucket: S3_BUCKET, prefix: '', region: 'eu-central-1', endpoint: s3.endpoint },
      ...{ access_key_id: S3_KEY, secret_access_key: S3_SECRET },
    };
    const daily = { of: 'roster', format: 'csv', schedule: 'daily', destination };
    await startExport(app, key, daily);
    const { id = '' } =
      (await listed('schedule', 'list', '--brand', brand.id)).find(({ kind }) => kind === 'export') ?? {};
    expect((await send(`${app.url}/v1/exports/schedules/${id}`, key, 'DELETE')).status).toBe(200);
    const { status, said } = await runCli(['schedule', 'pause', id]);
    expect([status, said]).toEqual([1, expect.stringContaining('No schedule')]);
    await s3.close();
  });

  it('limit the bytes of the files of a brand, among them those of imports', async () => {
    const other = await makeBrand(app.context);
    const otherKey = await other.key('brand');
    const { db } = app.context.postgres;
    const plans = async () => (await listSubscriptions(db, other.id)).map(({ plan }) => plan);
    const before = await plans();
    await cli('plan', 'set', '--brand', other.id, '--storage-gb', '1');
    expect(await plans()).toEqual(before);
    expect((await runCli(['plan', 'set', '--brand', other.id, '--credits', '5'])).said).toContain('--plan');
    expect((await upload(app, otherKey, file('two words', 'words.txt'))).status).toBe(201);
    await db.updateTable('brands').set({ maxStorageBytes: 1 }).where('id', '=', other.id).execute();
    const refused = await upload(app, otherKey, file('two words', 'words.txt'));
    expect([refused.status, refused.body.code, refused.body.limit]).toEqual([403, 'STORAGE_LIMIT_REACHED', 1]);
    const roster = 'email\nrobin@mail.example\n';
    await db.updateTable('brands').set({ maxStorageBytes: 40 }).where('id', '=', other.id).execute();
    expect((await sendImport(app, otherKey, 'roster', roster)).status).toBe(202);
    const more = await sendImport(app, otherKey, 'roster', `${roster}sam@mail.example\n`);
    expect([more.status, more.body.code, more.body.current]).toEqual([403, 'STORAGE_LIMIT_REACHED', 9 + roster.length]);
    await cli('plan', 'set', '--brand', other.id, '--storage-gb', '0');
    expect((await upload(app, otherKey, file('two words', 'words.txt'))).status).toBe(201);
    expect((await send(`${app.url}/v1/assets`, otherKey, 'GET')).body.pagination.total).toBe(2);
  });
});
