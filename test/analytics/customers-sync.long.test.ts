import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareFigures } from '../../src/affiliates/ledger/compare-figures.ts';
import { makeAssignment } from '../harness/affiliates/sales.ts';
import { syncCustomers } from '../harness/analytics/figures.ts';
import { makeBrand, send, startApp, startWorkerProcess, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';

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

const ask = async ({ key }: Shop, path: string) => await send(`${app.url}${path}`, key, 'GET');

describe('the table of customers', () => {
  it('is complete within seconds after workers were killed at any moment', async () => {
    const shop = await makeShop();
    const env = { DATABASE_URL: database.url };
    for (let round = 0; round < 3; round += 1) {
      const worker = await startWorkerProcess(unique('none'), env);
      for (let i = 0; i < 6; i += 1) {
        const places = Array.from({ length: 40 }, (_, n) => round * 240 + i * 40 + n);
        const at = (place: number) => ({ hoursAgo: 24 * (1 + ((place * 7) % 190)), customer: place % 37 });
        await report(
          shop,
          places.map((place) => ({ ...plain, place, ...at(place) })),
        );
      }
      await worker.kill();
    }
    const worker = await startWorkerProcess(unique('none'), env);
    const isWhole = async () => (await ask(shop, '/v1/analytics/share?from=2020-01-01')).body.data?.orders === 720;
    await until('every order', isWhole);
    await worker.stop();
    await syncCustomers(app, shop.id);
    expect(await problems(shop)).toEqual([]);
    expect((await ask(shop, '/v1/analytics/customers?by=store&currency=USD&from=2020-01-01')).body.data).toMatchObject([
      { orders: 576 },
    ]);
  });
});
