import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashKey, newApiKey } from '../../src/access/keys/key-form.ts';
import { migratePostgres } from '../../src/engines/postgres/migrate.ts';
import { inSnapshot } from '../../src/resources/ledger/queries.ts';
import { verifyRecords } from '../../src/resources/ledger/verify.ts';
import { call, send, startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';

const FOLDER = 'sql/postgres';
/** The tables of the release before workflow, mails, webhooks and people. */
const LAST_BEFORE = '0008';
const KEY = newApiKey();

let database: TestDatabase;
let app: TestApp;

/** Rows as that release wrote them. */
const ROWS = `
  insert into brands (id, name, created_at) values ('brd_1', 'Earlier', '2026-01-05T10:00:00Z');
  insert into subscriptions (id, brand_id, kind, plan, status, anchor_at, created_at) values
    ('sub_1', 'brd_1', 'brand', 'growth', 'active', '2026-01-05T10:00:00Z', '2026-01-05T10:00:00Z'),
    ('sub_2', 'brd_1', 'data', 'growth', 'active', '2026-01-05T10:00:00Z', '2026-01-05T10:00:00Z');
  insert into api_keys (id, brand_id, subscription_id, kind, name, hash, first_characters, last_characters, created_at)
    values ('key_1', 'brd_1', 'sub_1', 'brand', 'desk', '\\x${hashKey(KEY).toString('hex')}', 'svk_0000', '0000', '2026-01-05T10:00:00Z');
  insert into campaigns (id, brand_id, title, status, created_at)
    values ('cmp_1', 'brd_1', 'Spring', 'active', '2026-01-06T10:00:00Z');
  insert into creators (id, brand_id, email, name, created_at)
    values ('crt_1', 'brd_1', 'ana@example.com', 'Ana', '2026-01-06T10:00:00Z');
  insert into roster_entries (id, brand_id, creator_id, status, added_at)
    values ('ros_1', 'brd_1', 'crt_1', 'active', '2026-01-06T10:00:00Z');
  insert into applications (id, brand_id, campaign_id, creator_id, creator_email, status, applied_at)
    values ('app_1', 'brd_1', 'cmp_1', 'crt_1', 'ana@example.com', 'accepted', '2026-01-07T10:00:00Z');
  insert into links (id, brand_id, creator_id, type, value, slug, destination_url, commission_rate_ppm, hold_days,
      attribution_days, currency, active, created_at)
    values ('lnk_1', 'brd_1', 'crt_1', 'link', 'ana-spring', 'ana-spring', 'https://shop.example/', 150000, 14, 30, 'USD',
      true, '2026-01-08T10:00:00Z');
  insert into link_slugs (slug, brand_id, link_id, created_at)
    values ('ana-spring', 'brd_1', 'lnk_1', '2026-01-08T10:00:00Z');`;

beforeAll(async () => {
  database = await makeDatabase('upgrade');
  const files = (await readdir(FOLDER)).sort().filter((file) => file < `${LAST_BEFORE}~`);
  const client = await database.open();
  await client.query(`create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null);
    create table kysely_migration_lock (id varchar(255) primary key, is_locked integer not null default 0)`);
  for (const file of files) {
    await client.query(await readFile(`${FOLDER}/${file}`, 'utf8'));
    await client.query('insert into kysely_migration values ($1, $2)', [
      file.replace(/\.sql$/, ''),
      '2026-01-01T00:00:00Z',
    ]);
  }
  await client.query(ROWS);
  await client.end();
  app = await startApp({ urls: { postgres: database.url } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

test('A release finds what the one before it wrote: keys, campaigns, roster, applications and short links go on', async () => {
  const applied = await migratePostgres(app.context.postgres.db);
  expect(applied.length).toBeGreaterThan(20);
  expect(applied.every((name) => name > LAST_BEFORE)).toBe(true);
  expect(await migratePostgres(app.context.postgres.db)).toEqual([]);

  const { db } = app.context.postgres;
  const verified = async () => (await inSnapshot(db, (trx) => verifyRecords(trx, 'brd_1'))).problems;
  expect(await verified()).toEqual([]);

  const get = async (path: string) => (await call(`${app.url}/v1${path}`, KEY)).body.data;
  expect(await get('/brand')).toMatchObject({ id: 'brd_1', name: 'Earlier' });
  expect(await get('/campaigns')).toMatchObject([{ id: 'cmp_1', title: 'Spring', status: 'active' }]);
  expect(await get('/roster')).toMatchObject([{ id: 'ros_1', creator_email: 'ana@example.com', status: 'active' }]);
  expect(await get('/campaigns/cmp_1/applications')).toMatchObject([{ id: 'app_1', status: 'accepted' }]);
  expect(await get('/affiliates/links')).toMatchObject([{ id: 'lnk_1', value: 'ana-spring', commission_rate: 15 }]);

  const click = await fetch(`${app.links}/r/ana-spring`, { redirect: 'manual' });
  expect([click.status, click.headers.get('location')]).toEqual([
    302,
    expect.stringContaining('https://shop.example/'),
  ]);
  const brief = { title: 'Spring', creator_emails: ['ana@example.com'], campaign_id: 'cmp_1' };
  expect((await send(`${app.url}/v1/briefs`, KEY, 'POST', brief)).status).toBe(201);
  expect(await verified()).toEqual([]);
  await db.updateTable('links').set({ commissionRatePpm: 900_000 }).where('id', '=', 'lnk_1').execute();
  expect(await verified()).toEqual(['assignment lnk_1: commission_rate_ppm is 900000, sealed as 150000']);
});
