import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startJobs } from '../../../src/process/jobs.ts';
import { LINKS, openDesk } from '../../harness/affiliates/affiliates.ts';
import { click } from '../../harness/affiliates/clicks.ts';
import { type ShopifyOrder, shopifyOrder, shopifyRefund } from '../../harness/affiliates/shopify-order.ts';
import { deliver, signedDelivery, startStore, type TestStore, WEBHOOK_SECRET } from '../../harness/affiliates/store.ts';
import { checkDay, type Day, type Expected } from '../../harness/analytics/brand-day.ts';
import { type Answer, startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';
import { runCli } from '../../harness/process/cli.ts';
import { deadlineMs } from '../../run/deadline.ts';

const redis = ownRedis();
let database: TestDatabase;
let store: TestStore;
let app: TestApp;
let worker: ReturnType<typeof startJobs>;
let day: Day;
let integration = '';
let now = new Date('2026-03-02T10:00:00Z');
const at = (time: string) => {
  now = new Date(time);
};

beforeAll(async () => {
  database = await makeDatabase('day');
  store = await startStore('shopify');
  const env = { WORKER_SWEEP_EVERY_MS: '200' };
  app = await startApp({ clock: { now: () => now }, urls: { postgres: database.url, redis }, env });
  worker = startJobs(app.context, redis);
  const desk = await openDesk(app);
  day = {
    desk,
    ids: {},
    emails: { ann: await desk.onRoster('ann@mail.example'), ben: await desk.onRoster('ben@mail.example') },
  };
});
afterAll(async () => {
  await worker?.stop();
  await app?.close();
  await store?.close();
  await database?.drop();
});

/** Every figure, once the worker has brought what happened into them. */
async function expectDay(expected: Expected): Promise<void> {
  await vi.waitFor(() => checkDay(day, expected), { timeout: deadlineMs, interval: 200 });
}

async function ask(method: string, path: string, body: object, status = 200): Promise<Answer['body']> {
  const answer = await day.desk.send(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  return answer.body.data ?? answer.body;
}

async function report(topic: string, data: object): Promise<void> {
  const delivery = signedDelivery('shopify', WEBHOOK_SECRET, topic, data);
  expect((await deliver(app.url, 'shopify', integration, delivery)).status).toBe(200);
}

async function explain(order: number): Promise<Answer['body']> {
  return (await day.desk.get(`/v1/affiliates/explain?order_id=${order}`)).body.data;
}

/** Ids of commissions by order. */
async function commissionIds(): Promise<Record<string, string>> {
  const { data } = (await day.desk.get('/v1/commissions')).body;
  return Object.fromEntries(data.map((row: Answer['body']) => [row.order_id, row.id]));
}

async function approve(...orders: number[]): Promise<Answer> {
  const ids = await commissionIds();
  const event_ids = orders.map((order) => ids[order]);
  return await day.desk.send('POST', '/v1/commissions', { status: 'approved', event_ids });
}

async function pay(email: string, amount: number): Promise<Answer['body']> {
  const { id } = await ask('POST', '/v1/payouts', { creator_email: email, amount, method: 'manual' }, 201);
  return await ask('PATCH', `/v1/payouts/${id}`, { status: 'paid', reference: 'wire 7' });
}

const [FIRST, SECOND, THIRD] = [5_000_000_001, 5_000_000_002, 5_000_000_003];
const NONE: Expected = {
  ...{ links: { 'ann link': {}, 'ann code': {}, 'ben code': {} }, days: {}, ledger: {}, commissions: {} },
  earned: {},
};

/** A store, codes for everybody, and a tracked link. Returns the codes. */
async function openShop(): Promise<{ ann: string; ben: string }> {
  const env = { LINKS_URL: 'https://go.example', DATABASE_URL: database.url, REDIS_URL: redis };
  const files = ['--token-file', '-', '--webhook-secret-file', '-'];
  const connect = ['integration', 'connect', '--brand', day.desk.brand.id, '--provider', 'shopify'];
  const cli = await runCli([...connect, '--url', store.url, ...files], env, `${store.token}\n${WEBHOOK_SECRET}\n`);
  expect(cli.status, cli.said).toBe(0);
  integration = cli.out.trim();
  const all = { all_missing: true, commission_rate: 12.5 };
  const bulk = await ask('POST', `${LINKS}/bulk`, all);
  expect([bulk.count, bulk.remaining, bulk.failed]).toEqual([2, 0, []]);
  const again = await ask('POST', `${LINKS}/bulk`, all);
  expect([again.count, again.remaining]).toEqual([0, 0]);
  const link = await day.desk.made({
    ...{ creator_email: 'ann@mail.example', type: 'link', value: 'ann-summer', integration_id: integration },
    ...{ destination_url: `https://${store.host}/summer?x=1`, commission_rate: 10 },
  });
  expect([link.url, link.currency]).toEqual(['https://go.example/r/ann-summer', 'USD']);
  const codeOf = (email: string | undefined) => bulk.created.find((one: Answer['body']) => one.creator_email === email);
  const [ann, ben] = [codeOf(day.emails.ann), codeOf(day.emails.ben)];
  day.ids = { 'ann link': link.id, 'ann code': ann.id, 'ben code': ben.id };
  return { ann: ann.value, ben: ben.value };
}

/** One click counts; its repeat, a bot and a HEAD do not. Returns where it led. */
async function visit(): Promise<string> {
  const { status, location, cookie = '' } = await click(app, 'ann-summer');
  expect([status, location?.host, location?.pathname]).toEqual([302, store.host, '/summer']);
  await click(app, 'ann-summer', { cookie });
  await click(app, 'ann-summer', { 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' });
  await click(app, 'ann-summer', {}, 'HEAD');
  return `${location?.pathname}${location?.search}`;
}

/** An order that carries the click, reported unpaid and then paid, and one with a code: a half cent goes to the even one. */
async function sell(landingSite: string, code: string, visited: Expected): Promise<Expected> {
  at('2026-03-03T08:00:00Z');
  const lines = [{ price: '50.00', quantity: 2, discounts: ['20.00'], taxes: ['8.00'] }];
  const first: ShopifyOrder = { id: FIRST, at: now, landingSite, email: 'c1@shop.example', lines };
  await report('orders/create', shopifyOrder({ ...first, status: 'pending' }));
  const pending = { status: 'pending', amount: 8_000, commission: 800 };
  await expectDay({ ...visited, commissions: { [FIRST]: pending } });
  expect((await approve(FIRST)).body.details[0].code).toBe('order_not_paid');
  at('2026-03-03T09:00:00Z');
  const second: ShopifyOrder = { id: SECOND, at: now, codes: [code.toLowerCase()], email: 'c2@shop.example' };
  for (let time = 0; time < 2; time += 1) {
    await report('orders/paid', shopifyOrder({ ...first, updatedAt: now }));
    await report('orders/paid', shopifyOrder({ ...second, lines: [{ price: '33.32' }] }));
  }
  return {
    links: {
      'ann link': { clicks: 1, conversions: 1, revenue: 8_000, pending: 800 },
      'ann code': {},
      'ben code': { conversions: 1, revenue: 3_332, pending: 416 },
    },
    days: { ...visited.days, '2026-03-03': { revenue: 11_332, clicks: 0 } },
    ledger: { customers: 11_332, sales: -11_332, commission_expense: 1_216, commission_pending: -1_216 },
    commissions: { [FIRST]: pending, [SECOND]: { status: 'pending', amount: 3_332, commission: 416 } },
    earned: {},
  };
}

async function expectReasons(): Promise<void> {
  expect(await explain(FIRST)).toMatchObject({
    ...{ attributed: true, rule: 'last_click', paid_at: '2026-03-03T09:00:00.000Z' },
    terms: { commission_rate: 10, hold_days: 30, attribution_days: 30, currency: 'USD' },
    candidates: [{ type: 'click', outcome: 'won', window: { clicked_at: '2026-03-02T10:00:00.000Z', inside: true } }],
    commission: { commission: 8, hold_ends_at: '2026-04-02T09:00:00.000Z', blocked_by: ['review_period_active'] },
  });
  expect(await explain(SECOND)).toMatchObject({
    ...{ rule: 'code', terms: { commission_rate: 12.5 }, commission: { commission: 4.16 } },
    candidates: [{ type: 'code', outcome: 'won', creator_email: 'ben@mail.example' }],
  });
}

/** A part comes back on another day, before the hold is over. */
async function takeBack(sold: Expected): Promise<Expected> {
  at('2026-03-08T23:59:59.999Z');
  const refund = shopifyRefund({ orderId: FIRST, lines: [{ subtotal: '20.00' }], at: now });
  await report('refunds/create', refund);
  await report('refunds/create', refund);
  expect((await approve(FIRST)).body.details[0].code).toBe('review_period_active');
  return {
    ...sold,
    links: { ...sold.links, 'ann link': { clicks: 1, conversions: 1, revenue: 6_000, pending: 600 } },
    days: { ...sold.days, '2026-03-08': { revenue: -2_000, clicks: 0 } },
    ledger: {
      ...{ customers: 9_332, sales: -11_332, sales_refunds: 2_000 },
      ...{ commission_expense: 1_016, commission_pending: -1_016 },
    },
    commissions: { ...sold.commissions, [FIRST]: { status: 'pending', amount: 8_000, commission: 600 } },
  };
}

/** The hold ends to the millisecond. */
async function approveBoth(refunded: Expected): Promise<Expected> {
  at('2026-04-02T08:59:59.999Z');
  expect((await approve(FIRST, SECOND)).status).toBe(422);
  at('2026-04-02T09:00:00.000Z');
  expect((await approve(FIRST, SECOND)).body.data).toEqual({ updated: 2 });
  return {
    ...refunded,
    links: {
      'ann link': { clicks: 1, conversions: 1, revenue: 6_000, approved: 600 },
      'ann code': {},
      'ben code': { conversions: 1, revenue: 3_332, approved: 416 },
    },
    ledger: {
      ...{ customers: 9_332, sales: -11_332, sales_refunds: 2_000 },
      ...{ commission_expense: 1_016, commission_approved: -1_016 },
    },
    commissions: {
      [FIRST]: { status: 'approved', amount: 8_000, commission: 600 },
      [SECOND]: { status: 'approved', amount: 3_332, commission: 416 },
    },
  };
}

async function payAnn(approved: Expected): Promise<Expected> {
  const payout = await pay('ann@mail.example', 6);
  expect(payout).toMatchObject({ status: 'paid', allocated_amount: 6, netted_amount: 0, unallocated_amount: 0 });
  return {
    ...approved,
    links: { ...approved.links, 'ann link': { clicks: 1, conversions: 1, revenue: 6_000, paid: 600 } },
    ledger: {
      ...{ customers: 9_332, sales: -11_332, sales_refunds: 2_000 },
      ...{ commission_expense: 1_016, commission_approved: -416, commission_paid: -600 },
      ...{ commission_settled: 600, cash: -600 },
    },
    commissions: { ...approved.commissions, [FIRST]: { status: 'paid', amount: 8_000, commission: 600 } },
    earned: { ann: 600 },
  };
}

/** More comes back after the payment. */
async function takeBackMore(paid: Expected): Promise<Expected> {
  at('2026-04-04T12:00:00Z');
  await report('refunds/create', shopifyRefund({ orderId: FIRST, lines: [{ subtotal: '10.00' }], at: now }));
  expect(await explain(FIRST)).toMatchObject({
    commission: { status: 'paid', commission: 6, adjustments: [{ amount: 1, at: '2026-04-04T12:00:00.000Z' }] },
    refunds: [
      { amount: 20, counted: 20 },
      { amount: 10, counted: 10 },
    ],
  });
  const owing = { clicks: 1, conversions: 1, revenue: 5_000, paid: 600, adjustment: -100 };
  return {
    ...paid,
    links: { ...paid.links, 'ann link': owing },
    days: { ...paid.days, '2026-04-04': { revenue: -1_000, clicks: 0 } },
    ledger: {
      ...{ customers: 8_332, sales: -11_332, sales_refunds: 3_000, refund_adjustment: 100 },
      ...{ commission_expense: 916, commission_approved: -416, commission_paid: -600 },
      ...{ commission_settled: 600, cash: -600 },
    },
  };
}

/** The next payout nets what came back. */
async function payNext(code: string, owing: Expected): Promise<Expected> {
  at('2026-04-06T00:00:00.000Z');
  await report('orders/paid', shopifyOrder({ id: THIRD, at: now, codes: [code], lines: [{ price: '50.00' }] }));
  at('2026-05-06T00:00:00.000Z');
  expect((await approve(THIRD)).body.data).toEqual({ updated: 1 });
  const payout = await pay('ann@mail.example', 5.25);
  expect(payout).toMatchObject({ allocated_amount: 6.25, netted_amount: 1, unallocated_amount: 0 });
  return {
    links: { ...owing.links, 'ann code': { conversions: 1, revenue: 5_000, paid: 625 } },
    days: { ...owing.days, '2026-04-06': { revenue: 5_000, clicks: 0 } },
    ledger: {
      ...{ customers: 13_332, sales: -16_332, sales_refunds: 3_000, refund_adjustment: 100 },
      ...{ commission_expense: 1_541, commission_approved: -416, commission_paid: -1_225 },
      ...{ commission_settled: 1_225, cash: -1_125, adjustments_netted: -100 },
    },
    commissions: { ...owing.commissions, [THIRD]: { status: 'paid', amount: 5_000, commission: 625 } },
    earned: { ann: 1_125 },
  };
}

it('a brand’s whole day: every number is right after every step', async () => {
  await expectDay({ ...NONE, links: {} });
  const codes = await openShop();
  await expectDay(NONE);
  const landing = await visit();
  const days = { '2026-03-02': { revenue: 0, clicks: 1 } };
  const visited = { ...NONE, links: { ...NONE.links, 'ann link': { clicks: 1 } }, days };
  await expectDay(visited);
  const sold = await sell(landing, codes.ben, visited);
  await expectDay(sold);
  await expectReasons();
  const refunded = await takeBack(sold);
  await expectDay(refunded);
  const approved = await approveBoth(refunded);
  await expectDay(approved);
  const paid = await payAnn(approved);
  await expectDay(paid);
  const owing = await takeBackMore(paid);
  await expectDay(owing);
  await expectDay(await payNext(codes.ann, owing));
});
