import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimHome, HELD, isHeld } from '../../src/kit/engines/postgres/home.ts';
import { openPostgres } from '../../src/kit/engines/postgres/open.ts';
import { sendDueMails } from '../../src/kit/mail/sender.ts';
import { startDelivering } from '../../src/platform/webhooks/delivery-loop.ts';
import { jobOf, runJobs, startExport } from '../harness/analytics/exporting.ts';
import { engineUrls, made, makeBrand, send, startApp, type TestApp, unique } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { startReceiver } from '../harness/kit/receiver.ts';
import { S3_BUCKET, S3_KEY, S3_SECRET, startS3, type TestS3 } from '../harness/kit/s3.ts';
import { file, upload } from '../harness/platform/uploading.ts';
import { runCli } from '../harness/process/cli.ts';

const NOW = new Date('2026-03-01T10:00:00Z');

let original: TestDatabase;
let copyUrl: string;
let admin: pg.Client;
let app: TestApp;
let s3: TestS3;
let folder: string;
beforeAll(async () => {
  original = await makeDatabase('original');
  folder = await mkdtemp(path.join(tmpdir(), 'restored-'));
  const postgres = openPostgres(original.url, { max: 1 });
  expect(await claimHome(postgres.db, folder, NOW)).toBe(false);
  expect(await claimHome(postgres.db, folder, NOW)).toBe(false);
  await postgres.close();
  admin = new pg.Client(engineUrls().postgres);
  await admin.connect();
  const name = unique('copy').replace('-', '_');
  const [, from] = /\/(\w+)$/.exec(original.url) ?? [];
  await admin.query(`create database ${name} template ${from}`);
  const url = new URL(original.url);
  url.pathname = name;
  copyUrl = url.href;
  s3 = await startS3();
  app = await startApp({ urls: { postgres: copyUrl } });
});
afterAll(async () => {
  await app?.close();
  await s3?.close();
  await admin?.query(`drop database ${new URL(copyUrl).pathname.slice(1)} with (force)`);
  await admin?.end();
  await original?.drop();
});

const restored = (...args: string[]) => runCli(['restored', ...args], { DATABASE_URL: copyUrl });

describe('a restored copy', () => {
  it('is recognized at its start, sends no mail and no webhook and writes into no bucket, until it is told to go live', async () => {
    const { db } = app.context.postgres;
    expect(await claimHome(db, folder, NOW)).toBe(true);
    expect((await restored()).said).toContain(HELD);
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const receiver = await startReceiver();
    await made(`${app.url}/v1/webhooks`, key, { url: receiver.url, events: ['payout.created'] });
    const delivering = startDelivering(app.context);
    await sql`
      insert into mails (id, brand_id, kind, to_email, subject_row, params, state, created_at, next_attempt_at, admitted_at)
      values ('mal_x', ${brand.id}, 'sign_in', 'a@b.example', 'x', '{}', 'queued', ${NOW}, ${NOW}, ${NOW})`.execute(db);
    await sendDueMails(app.context);
    const { rows } = await sql<{ state: string; attempts: number }>`select state, attempts from mails`.execute(db);
    expect(rows).toEqual([{ state: 'queued', attempts: 0 }]);
    const destination = {
      ...{ bucket: S3_BUCKET, prefix: 'x', region: 'eu-central-1', endpoint: new URL(s3.endpoint).origin },
      ...{ access_key_id: S3_KEY, secret_access_key: S3_SECRET },
    };
    const schedule = { of: 'orders', format: 'ndjson', schedule: 'daily', destination };
    const refused = await send(`${app.url}/v1/exports`, key, 'POST', schedule);
    expect([refused.status, refused.body.error, s3.requests]).toEqual([409, HELD, []]);
    const webhook = (await send(`${app.url}/v1/webhooks`, key, 'GET')).body.data[0];
    await send(`${app.url}/v1/webhooks/${webhook.id}/test`, key, 'POST', {});
    delivering.wake();
    expect(receiver.received).toEqual([]);

    expect((await restored('--go-live')).said).toContain('Live');
    await expect.poll(() => isHeld(db)).toBe(false);
    expect((await send(`${app.url}/v1/exports`, key, 'POST', schedule)).status).toBe(202);
    expect((await restored()).said).toContain('no restored copy');
    await delivering.stop();
    await receiver.close();
  });

  it('is one by the file that a backup of the folder has, which is gone then, and by hand', async () => {
    const { db } = app.context.postgres;
    await writeFile(path.join(folder, 'is-a-backup'), '');
    expect(await claimHome(db, folder, NOW)).toBe(true);
    expect((await restored('--go-live')).status).toBe(0);
    expect(await claimHome(db, folder, NOW)).toBe(false);
    await restored('--hold');
    expect((await restored()).said).toContain(HELD);
    await restored('--go-live');
  });

  it('changes no file of a storage that it may share with its original', async () => {
    await restored('--hold');
    const env = { ASSETS_URL: s3.url, AWS_EC2_METADATA_DISABLED: 'true' };
    const shared = await startApp({ urls: { postgres: copyUrl }, env });
    const key = await (await makeBrand(shared.context)).key('brand');
    s3.requests = [];
    const refused = await upload(shared, key, file('two words', 'words.txt'));
    expect([refused.status, refused.body.error]).toEqual([409, HELD]);
    await expect(shared.context.files.remove('jobs/of-the-original')).rejects.toThrow(HELD);
    const job = await startExport(shared, key, { of: 'orders', format: 'csv', by: 'date' });
    await runJobs(shared);
    expect((await jobOf(shared, key, job.id)).status).toBe('running');
    expect(s3.requests).toEqual([]);
    await restored('--go-live');
    await expect.poll(() => isHeld(shared.context.postgres.db)).toBe(false);
    expect((await upload(shared, key, file('two words', 'words.txt'))).status).toBe(201);
    await shared.close();
  });
});
