import { afterAll, beforeAll, expect, it } from 'vitest';
import { requestCustomerJourneys } from '../../../src/affiliates/orders/journeys.jobs.ts';
import { recordOrder } from '../../../src/affiliates/orders/record.ts';
import type { OrderFacts } from '../../../src/affiliates/stores/formats/facts.ts';
import { openDesk } from '../../harness/affiliates/affiliates.ts';
import { click, makeLink } from '../../harness/affiliates/clicks.ts';
import { asTest, balancesOf, orderFacts } from '../../harness/affiliates/sales.ts';
import { connectTestStore, startStore } from '../../harness/affiliates/store.ts';
import { startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase } from '../../harness/database.ts';

const MINUTE_MS = 60_000;
let nowMs = Date.now();
let app: TestApp;
let database: Awaited<ReturnType<typeof makeDatabase>>;
beforeAll(async () => {
  database = await makeDatabase('journeys');
  app = await startApp({ clock: { now: () => new Date(nowMs) }, urls: { postgres: database.url } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

/** A brand with a link that was clicked, and a Shopify store. */
async function openShop() {
  const desk = await openDesk(app);
  const store = await startStore('shopify');
  const id = await connectTestStore(app.context, desk.brand.id, store);
  const link = await makeLink(desk, 'https://shop.example/', { commission_rate: 10 });
  const { clickId } = await click(app, link.slug);
  nowMs += MINUTE_MS;
  const source = { id, brandId: desk.brand.id, provider: 'shopify' };
  return {
    ...{ brand: desk.brand, store, landingPage: `https://shop.example/?click_id=${clickId}` },
    place: async (more: Partial<OrderFacts> = {}) => {
      const facts = orderFacts(new Date(nowMs), { orderId: String(Math.floor(Math.random() * 1e12)), ...more });
      await asTest(app.context, desk.brand, (work) => recordOrder(work, app.context.secrets, source, facts));
      return facts.orderId;
    },
    requests: () => store.requests.length,
  };
}

/** Runs the job as the worker does, at a time after now. */
async function passAfter(minutes: number): Promise<void> {
  nowMs += minutes * MINUTE_MS;
  await requestCustomerJourneys.run(app.context);
}

it('An order that paid nobody has its journey requested after 1, 10 and 60 minutes, and not again', async () => {
  const shop = await openShop();
  await shop.place();
  const before = shop.requests();
  const seen: number[] = [];
  for (const minutes of [0.5, 0.6, 5, 4.5, 30, 20, 60, 600]) {
    await passAfter(minutes);
    seen.push(shop.requests() - before);
  }
  expect(seen).toEqual([0, 1, 1, 2, 2, 3, 3, 3]);
  expect(await balancesOf(app.context, shop.brand)).toEqual({});
  await shop.store.close();
});

it('A click in the landing page of a journey decides the order, and the store gets no further request', async () => {
  const shop = await openShop();
  const orderId = await shop.place();
  await passAfter(1.1);
  shop.store.journeys.set(orderId, { ready: true, landingPages: ['/products/tee', shop.landingPage] });
  const before = shop.requests();
  await passAfter(10);
  expect(await balancesOf(app.context, shop.brand)).toMatchObject({ sales: -10_000, commission_pending: -1_000 });
  await passAfter(60);
  expect(shop.requests() - before).toBe(1);
  await shop.store.close();
});

it('A journey that is complete without a click ends the look-up, and orders that pay, tests and renewals have none', async () => {
  const shop = await openShop();
  const orderId = await shop.place();
  for (const more of [
    { isTest: true },
    { kind: 'renewal' as const },
    { occurredAt: new Date(nowMs - 25 * 60 * MINUTE_MS) },
  ]) {
    await shop.place(more);
  }
  shop.store.journeys.set(orderId, { ready: true, landingPages: ['/'] });
  const before = shop.requests();
  for (const minutes of [1.1, 10, 60]) await passAfter(minutes);
  expect(shop.requests() - before).toBe(1);
  await shop.store.close();
});

it('A store that is busy or down is queried later, and a missing answer does not count as an attempt', async () => {
  const shop = await openShop();
  const orderId = await shop.place();
  shop.store.denyWith = 'THROTTLED';
  await passAfter(1.1);
  shop.store.denyWith = undefined;
  shop.store.failWith = 503;
  await passAfter(1);
  shop.store.failWith = undefined;
  shop.store.journeys.set(orderId, { ready: true, landingPages: [shop.landingPage] });
  await passAfter(1);
  expect(await balancesOf(app.context, shop.brand)).toEqual({});
  await passAfter(5);
  expect(await balancesOf(app.context, shop.brand)).toMatchObject({ commission_pending: -1_000 });
  await shop.store.close();
});

it('Several workers request the journeys of one store together, and each journey once', async () => {
  const shop = await openShop();
  const placed: string[] = [];
  for (let i = 0; i < 30; i += 1) placed.push(await shop.place());
  const before = shop.requests();
  nowMs += 1.1 * MINUTE_MS;
  await Promise.all([
    requestCustomerJourneys.run(app.context),
    requestCustomerJourneys.run(app.context),
    requestCustomerJourneys.run(app.context),
  ]);
  expect(shop.store.journeysRead.toSorted()).toEqual(placed.toSorted());
  // Two hold all of them; each further worker that claims some adds at most one.
  expect(shop.requests() - before).toBeLessThanOrEqual(4);
  await shop.store.close();
});
