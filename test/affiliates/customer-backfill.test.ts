import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePastCustomers } from '../../src/affiliates/customers/past-customers.jobs.ts';
import { DAY_MS } from '../../src/kit/values/duration.ts';
import { bytesOf, jobOf, runJobs } from '../harness/analytics/exporting.ts';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { openShop, type TermsShop } from './terms-shop.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-backfilling-'));
let database: TestDatabase;
let app: TestApp;
beforeAll(async () => {
  // Turns are taken of all jobs there are.
  database = await makeDatabase('backfilling');
  app = await startApp({ urls: { postgres: database.url }, env: { ROLLCALL_DIR: folder } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

async function backfill(shop: TermsShop, body: object) {
  const started = await shop.tell('POST', '/v1/customers/backfill', { to: daysAgo(0), ...body });
  expect([started.status, started.body.data.kind]).toEqual([202, 'customer_backfill']);
  await runJobs(app);
  return await jobOf(app, await shop.brand.key('brand'), started.body.data.id);
}

describe('A backfill of customers', () => {
  it('says what past orders would pay whom and leaves them alone, until it is to decide them', async () => {
    const shop = await openShop(app);
    const code = await shop.makeCode({ rate: { percent: 10 }, covers: 'subscription', payments: 3 });
    const subscription_id = unique('sub');
    const orders: Awaited<ReturnType<TermsShop['place']>>[] = [];
    for (const days of [200, 150, 100, 10]) {
      const at = daysAgo(days);
      orders.push(await shop.place({ subscription_id, kind: 'renewal', amount: 100, placed_at: at, paid_at: at }));
    }
    const customer = { subscription_id, source: 'shop', link_id: code.id, since: daysAgo(300), reason: 'Sold before' };
    expect((await shop.tell('POST', '/v1/customers', customer)).status).toBe(201);
    const listPaid = async () => {
      const explained = await Promise.all(orders.map((order) => shop.explain(order)));
      return explained.map(({ commission }) => commission?.commission ?? null);
    };
    expect(await listPaid()).toEqual([null, null, null, 10]);

    const plan = await backfill(shop, { from: daysAgo(250) });
    const sums = { creator_email: code.creator_email, currency: 'USD', orders: 3, commission_minor: 3_000 };
    expect(plan).toMatchObject({ status: 'done', request: { apply: false }, result: { orders: 3, creators: [sums] } });
    const lines = (await bytesOf(app, plan.files[0])).toString().trim().split('\n').slice(1);
    expect(lines.map((line) => line.split(',')[1])).toEqual(orders.slice(0, 3).map(({ order_id }) => order_id));
    expect(await listPaid()).toEqual([null, null, null, 10]);

    const some = await backfill(shop, { from: daysAgo(160), to: daysAgo(120), apply: true });
    expect(some.result).toMatchObject({ orders: 1, creators: [{ orders: 1, commission_minor: 1_000 }] });
    expect(await listPaid()).toEqual([null, 10, null, 10]);
    const rest = await backfill(shop, { from: daysAgo(250), apply: true });
    expect(rest.result).toMatchObject({ orders: 2, creators: [{ orders: 2, commission_minor: 2_000 }] });
    expect(await listPaid()).toEqual([10, 10, 10, 10]);
    const { commission, decisions } = await shop.explain(orders[0] ?? { order_id: '' });
    expect(commission.status).toBe('pending');
    expect(commission.approvable_at.slice(0, 10)).toBe(daysAgo(200).slice(0, 10));
    expect(decisions.at(-1)).toMatchObject({ cause: 'backfill', rule: 'subscription' });
    expect((await backfill(shop, { from: daysAgo(250) })).result).toEqual({ orders: 0, creators: [] });
    expect(await shop.listProblems()).toEqual([]);
  });

  it('pays an order that two customers share once, to whom the rules say', async () => {
    const shop = await openShop(app);
    const [ana, ben] = [
      await shop.makeCode({ rate: { percent: 10 }, covers: 'subscription' }),
      await shop.makeCode({ rate: { percent: 20 }, covers: 'customer' }),
    ];
    const [subscription_id, customer_email] = [unique('sub'), `${unique('buyer')}@mail.example`];
    const at = daysAgo(100);
    const order = { subscription_id, customer_email, kind: 'renewal', amount: 100, placed_at: at, paid_at: at };
    const placed = await shop.place(order);
    const byHand = { since: daysAgo(300), reason: 'Sold before' };
    for (const customer of [
      { customer_email, link_id: ben.id },
      { subscription_id, source: 'shop', link_id: ana.id },
    ]) {
      expect((await shop.tell('POST', '/v1/customers', { ...customer, ...byHand })).status).toBe(201);
    }
    const earned = { orders: 1, creators: [{ creator_email: ana.creator_email, orders: 1, commission_minor: 1_000 }] };
    expect((await backfill(shop, { from: daysAgo(250) })).result).toMatchObject(earned);
    expect((await backfill(shop, { from: daysAgo(250), apply: true })).result).toMatchObject(earned);
    expect((await shop.explain(placed)).commission).toMatchObject({ commission: 10, link_id: ana.id });
  });

  it('refuses a period that ends before it begins', async () => {
    const shop = await openShop(app);
    const { status, body } = await shop.tell('POST', '/v1/customers/backfill', { from: daysAgo(1), to: daysAgo(2) });
    expect([status, body.details]).toMatchObject([422, [{ field: 'from', code: 'invalid' }]]);
  });
});

it('Customers who were won with renewals before there were rows of customers get one, once, and their renewals pay', async () => {
  const shop = await openShop(app);
  const [ana, ben] = [
    await shop.makeCode({ rate: { percent: 15 }, covers: 'subscription' }),
    await shop.makeCode({ rate: { percent: 20 } }),
  ];
  const [ofAna, ofBen] = [unique('sub'), unique('sub')];
  const won = await shop.place({
    subscription_id: ofAna,
    amount: 100,
    codes: [ana.value],
    items: [{ sku: 'TEA', title: 'Tea', quantity: 1, amount: 100 }],
  });
  await shop.place({ subscription_id: ofBen, amount: 100, codes: [ben.value] });
  // As the release before there were customers left them.
  const { db } = app.context.postgres;
  const { id: brandId } = shop.brand;
  await sql`update orders set customer_id = null, attribution = attribution #- '{terms,covers}' where brand_id = ${brandId}`.execute(
    db,
  );
  await sql`delete from customer_keys where brand_id = ${brandId}`.execute(db);
  await sql`delete from customers where brand_id = ${brandId}`.execute(db);
  await sql`update past_customers set until = now() + interval '1 hour', after_id = '', done_at = null`.execute(db);

  await Promise.all([makePastCustomers.run(app.context), makePastCustomers.run(app.context)]);
  await makePastCustomers.run(app.context);
  const { data } = (await shop.tell('GET', '/v1/customers')).body;
  const counted = async (of: boolean) =>
    (await shop.tell('GET', `/v1/customers?by_upgrade=${of}&limit=1`)).body.pagination.total;
  expect([await counted(true), await counted(false)]).toEqual([1, 0]);
  expect(data).toMatchObject([
    {
      ...{ link_id: ana.id, origin: 'order', first_order_id: won.id, covers: 'subscription', terms_id: null },
      ...{ subscription_ids: [ofAna], summary: '15% of each order; also on renewals of the subscription.' },
    },
  ]);
  const renewal = { kind: 'renewal', amount: 100 };
  expect(await shop.place({ ...renewal, subscription_id: ofAna })).toMatchObject({
    commission: 15,
    customer_id: data[0].id,
  });
  expect(await shop.place({ ...renewal, subscription_id: ofBen })).toMatchObject({ commission: null });
  // What the test undid by hand is found; the new row is none of it.
  expect((await shop.listProblems()).filter((problem) => problem.includes(data[0].id))).toEqual([]);
});
