import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareFigures } from '../../src/affiliates/ledger/compare-figures.ts';
import { rebuildFigures } from '../../src/affiliates/ledger/rebuild-figures.ts';
import { syncLedger } from '../../src/analytics/figures/figures.jobs.ts';
import { command } from '../../src/kit/engines/clickhouse/query.ts';
import { makeAssignment } from '../harness/affiliates/sales.ts';
import { seeded } from '../harness/affiliates/store-life.ts';
import { syncCustomers } from '../harness/analytics/figures.ts';
import { type Answer, made, makeBrand, meanwhile, send, startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';

/** A worker works for all brands: those of other tests are in another database. */
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('customers_sync');
  app = await startApp({ urls: { postgres: database.url }, env: { CLICKS_REDIS_URL: ownRedis() } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

async function makeShop() {
  const brand = await makeBrand(app.context);
  const assignments = [await makeAssignment(app.context, brand), await makeAssignment(app.context, brand)] as const;
  return { id: brand.id, key: await brand.key('brand'), assignments };
}
type Shop = Awaited<ReturnType<typeof makeShop>>;

interface Reported {
  place: number;
  hoursAgo: number;
  customer: number | null;
  code: string | null;
  minor: number;
  isPaid: boolean;
  isTest: boolean;
  isCancelled: boolean;
  refunds: number;
}

const plain: Omit<Reported, 'place'> = {
  ...{
    hoursAgo: 48,
    customer: 1,
    code: null,
    minor: 5_000,
    isPaid: true,
    isTest: false,
    isCancelled: false,
    refunds: 0,
  },
};

/** The time of a report is later than that of every one before it. */
let reports = 0;

async function report(shop: Shop, orders: readonly Reported[]): Promise<void> {
  const now = Date.now();
  const body = orders.map((one) => {
    const at = new Date(now - one.hoursAgo * 3_600_000 - one.place * 1_000).toISOString();
    reports += 1;
    return {
      ...{ source: 'shop', order_id: `o-${one.place}`, currency: one.place % 5 === 0 ? 'EUR' : 'USD' },
      ...{ amount: one.minor / 100, placed_at: at, paid_at: one.isPaid ? at : null, test: one.isTest },
      ...{ cancelled_at: one.isCancelled ? at : null, updated_at: new Date(now - 100_000 + reports).toISOString() },
      ...{ customer_email: one.customer === null ? null : `c${one.customer}@mail.example` },
      ...{ codes: one.code === null ? [] : [one.code] },
      refunds: Array.from({ length: one.refunds }, (_, i) => ({ refund_id: `r-${one.place}-${i}`, amount: 7, at })),
    };
  });
  const answer = await send(`${app.url}/v1/orders/batch`, shop.key, 'POST', { orders: body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

const problems = ({ id }: Shop) =>
  compareFigures({ db: app.context.postgres.db, clickhouse: app.context.clickhouse }, id);

/** Asks again after a 503: a busy machine may be slower than the API's patience with ClickHouse. */
async function ask(shop: Shop, path: string): Promise<Answer> {
  const answer = await send(`${app.url}${path}`, shop.key, 'GET');
  return answer.status === 503 ? await ask(shop, path) : answer;
}

/** Every answer about customers. */
async function answersOf(shop: Shop) {
  const paths = [
    ...['creator', 'campaign', 'link', 'store'].map((by) => `/v1/analytics/customers?by=${by}&from=2020-01-01`),
    ...['/v1/analytics/share?from=2020-01-01', '/v1/analytics/cohorts?metric=revenue', '/v1/analytics/cohorts?by=week'],
  ];
  return await Promise.all(
    paths.map(async (path) => {
      const { status, body } = await ask(shop, path);
      expect(status, JSON.stringify(body)).toBe(200);
      return body.data;
    }),
  );
}

/** Orders of a few customers in no order of time, and what becomes of them. */
async function live(shop: Shop, random: () => number): Promise<void> {
  // Nothing stands first, where it is among them.
  const pick = <T>(values: readonly [T, ...T[]]): T => values[Math.floor(random() * values.length)] ?? values[0];
  const known: Reported[] = [];
  for (let step = 0; step < 40; step += 1) {
    const old = pick([undefined, undefined, ...known]);
    if (old === undefined || step < 8) {
      const one = {
        ...{ place: known.length, hoursAgo: pick([1, 2, 30, 24 * 40, 24 * 70, 24 * 95, 24 * 200]) },
        ...{
          customer: pick([null, 0, 1, 2, 3]),
          code: pick([null, null, ...shop.assignments.map(({ code }) => code)]),
        },
        ...{ minor: 100 + Math.floor(random() * 20_000), isPaid: pick([true, true, false]), isTest: false },
        ...{ isCancelled: false, refunds: 0 },
      };
      known.push(one);
      await report(shop, [one]);
    } else {
      const change = pick(['pay', 'cancel', 'refund', 'revert', 'test', 'name', 'code', 'amount']);
      if (change === 'pay') old.isPaid = true;
      if (change === 'cancel') old.isCancelled = !old.isCancelled;
      if (change === 'refund') old.refunds += 1;
      if (change === 'revert') old.refunds = 0;
      if (change === 'test') old.isTest = true;
      if (change === 'name') old.customer ??= pick([0, 1, 2]);
      if (change === 'code') old.code = pick(shop.assignments).code;
      if (change === 'amount') old.minor += 100;
      await report(shop, [old]);
    }
    if (step % 5 === 0) await syncLedger(app.context);
  }
}

describe('the table of customers', () => {
  it('equals a rebuild after any changes of orders, in any order', async () => {
    for (const seed of Array.from({ length: randomRuns(1) }, (_, i) => testSeed + i)) {
      const shop = await makeShop();
      await live(shop, seeded(seed));
      await syncCustomers(app, shop.id);
      expect(await problems(shop), `seed ${seed}`).toEqual([]);
      const answered = await answersOf(shop);
      await rebuildFigures(app.context, shop.id);
      expect(await answersOf(shop), `seed ${seed}`).toEqual(answered);
    }
  });

  it('moves the orders of a link to the campaign that the link gets later', async () => {
    const shop = await makeShop();
    const [{ linkId, code }] = shop.assignments;
    await report(
      shop,
      [1, 2, 3].map((place) => ({ ...plain, place, customer: place % 2, code })),
    );
    await syncCustomers(app, shop.id);
    const campaign = await made(`${app.url}/v1/campaigns`, shop.key, { name: 'Spring' });
    const path = `${app.url}/v1/affiliates/links/${linkId}`;
    expect((await send(path, shop.key, 'PATCH', { campaign_id: campaign.id })).status).toBe(200);
    await syncCustomers(app, shop.id);
    const { body } = await ask(shop, '/v1/analytics/customers?by=campaign&currency=USD');
    expect(body.data).toMatchObject([{ key: campaign.id, orders: 3, new_customers: 2 }]);
    expect(await problems(shop)).toEqual([]);
  });

  it('counts every order once whose seals are sent again, as by a killed worker', async () => {
    const shop = await makeShop();
    await report(
      shop,
      [1, 2, 3, 4].map((place) => ({ ...plain, place, customer: place % 2 })),
    );
    await syncCustomers(app, shop.id);
    const answered = await answersOf(shop);
    for (const seq of [0, 1]) {
      await sql`update customer_positions set seq = ${seq} where brand_id = ${shop.id}`.execute(
        app.context.postgres.db,
      );
      await syncCustomers(app, shop.id);
      expect(await answersOf(shop)).toEqual(answered);
    }
    expect(await problems(shop)).toEqual([]);
  });

  it('is complete with several workers while orders arrive', async () => {
    const shops = [await makeShop(), await makeShop()];
    const work = () => syncLedger(app.context);
    await meanwhile(2, work, async () => {
      for (let place = 0; place < 12; place += 1) {
        for (const shop of shops)
          await report(shop, [{ ...plain, place, customer: place % 3, hoursAgo: 24 * (12 - place) }]);
      }
    });
    for (const shop of shops) {
      await syncCustomers(app, shop.id);
      expect(await problems(shop)).toEqual([]);
    }
  });

  it('is compared with PostgreSQL, and rebuilt where ClickHouse lost or changed something', async () => {
    const { clickhouse } = app.context;
    const shop = await makeShop();
    await report(
      shop,
      [1, 2, 3].map((place) => ({ ...plain, place })),
    );
    await syncCustomers(app, shop.id);
    const brand = { b: shop.id };
    const change = async (statement: string) =>
      await command(clickhouse, `${statement} WHERE brand_id = {b:String} SETTINGS mutations_sync = 1`, brand);
    await change('ALTER TABLE customer_orders_v1 UPDATE worth = worth + 1');
    expect(await problems(shop)).toEqual([
      'customer_orders_v1: PostgreSQL has 3 orders, ClickHouse 3, or other ones',
      expect.stringMatching(/^customer_days_v1: \d+ days are not the sum of their orders$/),
    ]);
    await rebuildFigures(app.context, shop.id);
    expect(await problems(shop)).toEqual([]);
    await change('ALTER TABLE customer_days_v1 DELETE');
    expect(await problems(shop)).toEqual([expect.stringMatching(/^customer_days_v1: /)]);
    await rebuildFigures(app.context, shop.id);
    expect(await problems(shop)).toEqual([]);
  });

  it('says how fresh it is: up to just before the oldest order that it lacks, and not at all during a rebuild', async () => {
    const shop = await makeShop();
    await syncCustomers(app, shop.id);
    for (const path of ['/v1/analytics/customers', '/v1/analytics/share', '/v1/analytics/cohorts']) {
      const asOf = async () => Date.parse((await ask(shop, path)).headers.get('x-data-as-of') ?? '');
      const before = Date.now();
      expect(await asOf(), path).toBeGreaterThanOrEqual(before);
      await report(shop, [{ ...plain, place: reports + 1_000 }]);
      const reported = Date.now();
      expect(await asOf(), path).toBeLessThan(reported);
      await syncCustomers(app, shop.id);
      expect(await asOf(), path).toBeGreaterThanOrEqual(reported);
      const { db } = app.context.postgres;
      await sql`insert into unfolded_brands (brand_id, tried_at) values (${shop.id}, now())`.execute(db);
      expect((await ask(shop, path)).headers.get('x-data-as-of'), path).toBeNull();
      await sql`delete from unfolded_brands where brand_id = ${shop.id}`.execute(db);
    }
  });
});
