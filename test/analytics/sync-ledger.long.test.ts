import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { integer, query } from '../../src/kit/engines/clickhouse/query.ts';
import { type Assignment, post, putAssignment, sale } from '../harness/analytics/figures.ts';
import { makeBrand, startApp, startWorkerProcess, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';

/** A worker works for all brands: those of other tests are in another database. */
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('sync');
  app = await startApp({ urls: { postgres: database.url }, env: { CLICKS_REDIS_URL: ownRedis() } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const AT = new Date('2026-03-04T05:06:07.008Z');

async function makeLink(): Promise<Assignment> {
  return await putAssignment(app, (await makeBrand(app.context)).id);
}

const Counts = z.object({ postings: integer, entries: integer, sales: integer, conversions: integer });

async function countsOf({ brandId }: Assignment) {
  const [counts] = await query(
    app.context.clickhouse,
    Counts,
    `SELECT count() AS postings, uniqExact(seq) AS entries,
      (SELECT sum(sales) FROM link_life_v1 WHERE brand_id = {b:String}) AS sales,
      (SELECT sum(conversions) FROM brand_daily_v1 WHERE brand_id = {b:String}) AS conversions
    FROM ledger_v1 WHERE brand_id = {b:String}`,
    { b: brandId },
  );
  return counts;
}

const counted = (entries: number) => ({ postings: entries * 4, entries, sales: entries * 1_000, conversions: entries });
const sales = (link: Assignment, count: number) => Array.from({ length: count }, () => sale(link, AT, 1_000, 100));

describe('syncing the ledger', () => {
  it('counts every entry once, within seconds, with workers killed at any moment', async () => {
    const link = await makeLink();
    const none = unique('none');
    for (let round = 1; round <= 3; round++) {
      const worker = await startWorkerProcess(none, { DATABASE_URL: database.url });
      for (let i = 0; i < 10; i++) await post(app, link.brandId, sales(link, 20));
      await worker.kill();
    }
    const worker = await startWorkerProcess(none, { DATABASE_URL: database.url });
    await post(app, link.brandId, sales(link, 1));
    await until('figures', async () => (await countsOf(link))?.conversions === 601);
    await worker.stop();
    expect(await countsOf(link)).toEqual(counted(601));
  });
});
