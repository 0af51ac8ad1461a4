import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyRecords } from '../../../src/affiliates/ledger/verify-ledger.ts';
import { buyOften, makeAssignment } from '../../harness/affiliates/sales.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';
import { longDeadlineMs } from '../../run/deadline.ts';

const MANY = 10_000;
const WITHIN_MS = 60_000;

let app: TestApp;
let database: TestDatabase;
beforeAll(async () => {
  database = await makeDatabase('many_orders');
  app = await startApp({ urls: { postgres: database.url, redis: ownRedis() } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

/** What a brand's orders and commissions sum up to, and how many of them name their customer. */
async function sums({ id }: TestBrand) {
  const { rows } = await sql<{ named: number }>`select count(*)::int as orders, sum(base_minor)::text as sales,
      (select sum(commission_minor)::text from commissions where brand_id = ${id}) as commissions,
      count(customer_email)::int as named
    from orders where brand_id = ${id}`.execute(app.context.postgres.db);
  return rows[0];
}

it(
  `an erasure of a buyer with ${MANY} orders ends within a minute, and leaves the sums and a verified ledger`,
  async () => {
    const brand = await makeBrand(app.context);
    const assignment = await makeAssignment(app.context, brand);
    const email = 'many.orders@mail.example';
    await buyOften(app.context, brand, assignment, email, MANY);
    const before = await sums(brand);
    const began = performance.now();
    const body = { kind: 'erasure', customer_email: email };
    const answer = await send(`${app.url}/v1/data-requests`, await brand.key('brand'), 'POST', body);
    const tookMs = performance.now() - began;
    expect(answer.body.data, JSON.stringify(answer.body)).toMatchObject({ state: 'done', removed: { orders: MANY } });
    process.stderr.write(`An erasure of ${MANY} orders took ${(tookMs / 1_000).toFixed(1)} s.\n`);
    expect(tookMs).toBeLessThan(WITHIN_MS);
    expect(await sums(brand)).toEqual({ ...before, named: 0 });
    expect((await verifyRecords(app.context.postgres.db, brand.id)).problems).toEqual([]);
  },
  longDeadlineMs,
);
