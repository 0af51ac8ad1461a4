import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuildFigures } from '../../src/affiliates/ledger/rebuild-figures.ts';
import { verifyLedger } from '../../src/affiliates/ledger/verify-ledger.ts';
import { command } from '../../src/kit/engines/clickhouse/query.ts';
import {
  type Assignment,
  lateRefund,
  move,
  postAndSync,
  putAssignment,
  putClicks,
  sale,
} from '../harness/analytics/figures.ts';
import { call, makeBrand, startApp, type TestApp, type TestBrand } from '../harness/app.ts';
import { ownRedis } from '../harness/database.ts';

let app: TestApp;

beforeAll(async () => {
  // A rebuild holds up every click: those of other tests are in another database.
  app = await startApp({ urls: { redis: ownRedis() } });
});
afterAll(() => app?.close());

const AT = new Date('2026-03-04T05:06:07.008Z');
const NEXT = new Date('2026-04-04T05:06:07.008Z');

interface Made {
  brand: TestBrand;
  key: string;
  link: Assignment;
}

async function makeLedger(): Promise<Made> {
  const brand = await makeBrand(app.context);
  const link = await putAssignment(app, brand.id);
  await postAndSync(app, brand.id, [
    sale(link, AT, 10_000, 1_000),
    sale(link, NEXT, 300, 30),
    move(link, AT, 1_000, 'commission_pending', 'commission_approved'),
    lateRefund(link, NEXT, 100, 10),
  ]);
  await putClicks(app, link, [AT, AT, NEXT]);
  return { brand, key: await brand.key('brand'), link };
}

/** Changes rows as somebody could who owns the database. */
async function behindTheTrigger(statement: string): Promise<void> {
  await app.context.postgres.db.transaction().execute(async (trx) => {
    await sql`alter table ledger_entries disable trigger ledger_is_append_only`.execute(trx);
    await sql.raw(statement).execute(trx);
    await sql`alter table ledger_entries enable trigger ledger_is_append_only`.execute(trx);
  });
}

const problemsOf = async (brandId: string) => (await verifyLedger(app.context, brandId)).problems;

const PERFORMANCE = '/v1/affiliates/performance';

describe('ledger verify', () => {
  it.each([
    ['an amount', `postings = replace(postings::text, '10000', '20000')::jsonb`, 2],
    ['who earned it', `creator_id = 'crt_other'`, 1],
    ['a time', `recorded_at = recorded_at - interval '1 ms'`, 1],
    ['a hash', `hash = sha256(hash)`, 2],
  ])('finds an entry edited behind the trigger: %s', async (_what, change, least) => {
    const { brand } = await makeLedger();
    await behindTheTrigger(`update ledger_entries set ${change} where brand_id = '${brand.id}' and seq = 1`);
    const problems = await problemsOf(brand.id);
    expect(problems.length).toBeGreaterThanOrEqual(least);
    expect(problems[0]).toMatch(/^entry 1 /);
  });
});

describe('ledger rebuild', () => {
  it.each([
    ['postings are gone', 'DELETE FROM ledger_v1 WHERE brand_id = {b:String} AND seq = 2', /sales USD: PostgreSQL has/],
    [
      'a posting is there twice',
      'INSERT INTO ledger_v1 SELECT * FROM ledger_v1 WHERE brand_id = {b:String} AND seq = 1 SETTINGS insert_deduplicate = 0',
      /customers USD/,
    ],
    [
      'a rollup lacks a day',
      "DELETE FROM link_daily_v1 WHERE brand_id = {b:String} AND day = '2026-03-04'",
      /link_daily_v1: 1 rows/,
    ],
    ['a lifetime is wrong', 'DELETE FROM link_life_v1 WHERE brand_id = {b:String}', /link_life_v1: 1 rows/],
    ['a brand’s days are gone', 'DELETE FROM brand_daily_v1 WHERE brand_id = {b:String}', /brand_daily_v1: 2 rows/],
  ])('repairs what verify finds: %s', async (_what, damage, complaint) => {
    const { brand, key } = await makeLedger();
    const before = (await call(`${app.url}${PERFORMANCE}`, key)).body;
    await command(app.context.clickhouse, damage, { b: brand.id });
    expect((await problemsOf(brand.id)).join('\n')).toMatch(complaint);
    expect(await rebuildFigures(app.context, brand.id)).toBe(4);
    expect(await problemsOf(brand.id)).toEqual([]);
    expect((await call(`${app.url}${PERFORMANCE}`, key)).body).toEqual(before);
  });
});
