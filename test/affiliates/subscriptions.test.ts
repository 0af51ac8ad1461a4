import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inSnapshot } from '../../src/affiliates/ledger/ledger.ts';
import { verifyRecords } from '../../src/affiliates/ledger/verify-ledger.ts';
import { type Assignment, daysAgo, makeAssignment, orderFacts, report } from '../harness/affiliates/sales.ts';
import { gmt, minute, openShop, type Shop } from '../harness/affiliates/shop.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

async function explain(brand: TestBrand, orderId: string) {
  const path = `${app.url}/v1/affiliates/explain?order_id=${orderId}`;
  return (await send(path, await brand.key('brand'), 'GET')).body.data;
}

const problemsOf = async ({ id }: TestBrand) =>
  (await inSnapshot(app.context.postgres.db, (trx) => verifyRecords(trx, id))).problems;

async function payRenewals(brand: TestBrand, { linkId }: Assignment, pays = true): Promise<void> {
  const path = `${app.url}/v1/affiliates/links/${linkId}`;
  expect((await send(path, await brand.key('brand'), 'PATCH', { pays_renewals: pays })).status).toBe(200);
}

/** What the order pays, and by which rule. */
async function outcomeOf(brand: TestBrand, orderId: string) {
  const { rule, commission } = await explain(brand, orderId);
  return [rule, commission?.commission ?? null];
}

const buyer = () => `${unique('buyer')}@mail.example`;

describe('An order that continues a subscription', () => {
  it('pays the creator who sold it with a link that pays renewals, and its explanation says so', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const ana = await makeAssignment(app.context, brand, { rate: 15, name: 'Ana Ortiz' });
    await payRenewals(brand, ana);
    const email = buyer();
    const order = (id: string, more: object) => ({
      ...{ source: 'saas', order_id: `${id}${email}`, currency: 'USD', amount: 100, customer_email: email },
      ...{ placed_at: daysAgo(1).toISOString(), paid_at: daysAgo(1).toISOString(), ...more },
    });
    const post = async (body: object) => (await send(`${app.url}/v1/orders`, key, 'POST', body)).body.data;
    expect(await post(order('a', { codes: [ana.code] }))).toMatchObject({ commission: 15, kind: 'once' });
    const renewal = await post(order('b', { is_renewal: true, placed_at: daysAgo(0.5).toISOString() }));
    expect(renewal).toMatchObject({ commission: 15, kind: 'renewal', is_renewal: true, rule: 'subscription' });
    expect(renewal.customer_id).toMatch(/^cus_/);
    const explained = await explain(brand, `b${email}`);
    expect(explained.explanation).toBe(
      'Attributed to Ana Ortiz: $15.00 for a subscription that they sold; the commission is pending.',
    );
    expect(explained.candidates).toMatchObject([
      {
        ...{ type: 'customer', by: 'email', link_id: ana.linkId, payment: 2, outcome: 'won', reason: null },
        ...{ customer_id: renewal.customer_id, until: null, creator_name: 'Ana Ortiz' },
        explanation: expect.stringMatching(
          /^Is by a customer whom Ana Ortiz brought with .+ \(order a.+\): payment 2\.$/,
        ),
      },
    ]);
    const list = await send(`${app.url}/v1/orders?kind=renewal`, key, 'GET');
    expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([renewal.id]);
    expect(await problemsOf(brand)).toEqual([]);
  });

  it('pays nobody if the link that sold it does not pay renewals', async () => {
    const brand = await makeBrand(app.context);
    const ben = await makeAssignment(app.context, brand);
    const customerEmail = buyer();
    const first = orderFacts(daysAgo(3), { codes: [ben.code], customerEmail, subscriptionId: 's1', kind: 'first' });
    const renewal = orderFacts(daysAgo(2), { customerEmail, subscriptionId: 's1', kind: 'renewal' });
    for (const facts of [first, renewal]) await report(app.context, ben, facts);
    expect(await outcomeOf(brand, first.orderId)).toEqual(['code', 10]);
    expect(await outcomeOf(brand, renewal.orderId)).toEqual([null, null]);
    expect((await explain(brand, renewal.orderId)).candidates).toMatchObject([
      { type: 'customer', by: 'subscription', outcome: 'lost', reason: 'first_order_only' },
    ]);
  });

  it('follows its subscription, whoever has won an order of the customer since', async () => {
    const brand = await makeBrand(app.context);
    const ana = await makeAssignment(app.context, brand);
    const ben = await makeAssignment(app.context, brand, { rate: 20 });
    await payRenewals(brand, ana);
    const customerEmail = buyer();
    const of = { customerEmail, subscriptionId: 's2' };
    const first = orderFacts(daysAgo(5), { ...of, codes: [ana.code], kind: 'first' });
    const other = orderFacts(daysAgo(4), { customerEmail, codes: [ben.code] });
    const renewal = orderFacts(daysAgo(3), { ...of, kind: 'renewal' });
    const upgrade = orderFacts(daysAgo(2), { ...of, kind: 'upgrade', baseMinor: 3_000 });
    const ordinary = orderFacts(daysAgo(1), { customerEmail });
    for (const facts of [first, other, renewal, upgrade, ordinary]) {
      await report(app.context, ana, facts);
    }
    expect(await outcomeOf(brand, other.orderId)).toEqual(['code', 20]);
    expect(await outcomeOf(brand, renewal.orderId)).toEqual(['subscription', 10]);
    expect(await outcomeOf(brand, upgrade.orderId)).toEqual(['subscription', 3]);
    expect(await outcomeOf(brand, ordinary.orderId)).toEqual([null, null]);
  });

  it('that comes before its first order is decided again when that one becomes known', async () => {
    const brand = await makeBrand(app.context);
    const ana = await makeAssignment(app.context, brand);
    await payRenewals(brand, ana);
    const of = { customerEmail: buyer(), subscriptionId: 's3' };
    const first = orderFacts(daysAgo(40), { ...of, codes: [ana.code], kind: 'first' });
    const renewals = [10, 5].map((days) => orderFacts(daysAgo(days), { ...of, kind: 'renewal' }));
    for (const facts of [...renewals, first]) await report(app.context, ana, facts);
    for (const [place, { orderId }] of renewals.entries()) {
      const { commission, decisions, candidates } = await explain(brand, orderId);
      expect(commission.commission).toBe(10);
      expect(decisions).toMatchObject([
        { cause: 'first_report' },
        { cause: 'first_order_known', rule: 'subscription' },
      ]);
      expect(candidates).toMatchObject([{ payment: place + 2, outcome: 'won' }]);
    }
    expect(await problemsOf(brand)).toEqual([]);
  });

  it('is decided after its first order where one batch tells of both, in whatever order', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const ana = await makeAssignment(app.context, brand);
    const path = `${app.url}/v1/affiliates/links/${ana.linkId}`;
    const terms = { rate: { percent: 10 }, covers: 'subscription', payments: 3 };
    expect((await send(path, key, 'PATCH', { terms })).status).toBe(200);
    const at = Date.now() - 10_000;
    const order = (place: number) => ({
      ...{ source: 'saas', order_id: `batch${place}`, currency: 'USD', amount: 100, subscription_id: 's5' },
      ...{ placed_at: new Date(at + place).toISOString(), paid_at: new Date(at + place).toISOString() },
      ...(place === 0 ? { kind: 'first', codes: [ana.code] } : { kind: 'renewal' }),
    });
    const orders = [2, 1, 0, 3].map(order);
    expect((await send(`${app.url}/v1/orders/batch`, key, 'POST', { orders })).status).toBe(200);
    const outcomes = [];
    for (const place of [0, 1, 2, 3]) outcomes.push((await outcomeOf(brand, `batch${place}`))[1]);
    expect(outcomes).toEqual([10, 10, 10, null]);
    expect(await problemsOf(brand)).toEqual([]);
  });

  it('is not flagged because its customer bought before', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    await send(`${app.url}/v1/fraud-rules`, key, 'PATCH', { returning_customer: { action: 'hold' } });
    const ana = await makeAssignment(app.context, brand);
    await payRenewals(brand, ana);
    const of = { customerEmail: buyer(), subscriptionId: 's4' };
    await report(app.context, ana, orderFacts(daysAgo(5), { ...of, codes: [ana.code], kind: 'first' }));
    const renewal = orderFacts(daysAgo(1), { ...of, kind: 'renewal' });
    await report(app.context, ana, renewal);
    expect((await explain(brand, renewal.orderId)).commission).toMatchObject({ commission: 10, fraud_flags: [] });
  });
});

it('The first charge after a trial of 0.00 pays the creator whose code started it, and no order after it', async () => {
  const brand = await makeBrand(app.context);
  const ana = await makeAssignment(app.context, brand);
  const of = { customerEmail: buyer(), subscriptionId: 't1' };
  const trial = orderFacts(daysAgo(9), { ...of, codes: [ana.code], kind: 'first', baseMinor: 0 });
  const charge = orderFacts(daysAgo(6), { ...of, kind: 'renewal', baseMinor: 4_900 });
  const second = orderFacts(daysAgo(3), { ...of, kind: 'renewal', baseMinor: 4_900 });
  const ordinary = orderFacts(daysAgo(1), { customerEmail: of.customerEmail });
  for (const facts of [trial, charge, second, ordinary]) await report(app.context, ana, facts);
  expect(await outcomeOf(brand, charge.orderId)).toEqual(['subscription', 4.9]);
  expect(await outcomeOf(brand, second.orderId)).toEqual([null, null]);
  expect(await outcomeOf(brand, ordinary.orderId)).toEqual([null, null]);
});

it('A customer is listed with the payments, ended for later orders, and erased without the money', async () => {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  const ana = await makeAssignment(app.context, brand);
  await payRenewals(brand, ana);
  const of = { customerEmail: buyer(), subscriptionId: 'c1' };
  const first = orderFacts(daysAgo(9), { ...of, codes: [ana.code], kind: 'first' });
  await report(app.context, ana, first);
  await report(app.context, ana, orderFacts(daysAgo(5), { ...of, kind: 'renewal' }));
  const call = async (method: 'GET' | 'PATCH' | 'DELETE', path: string, body?: object) =>
    (await send(`${app.url}/v1/customers${path}`, key, method, body)).body.data;
  const [customer] = await call('GET', `?creator_email=${encodeURIComponent(ana.email)}&subscription_id=c1`);
  expect(customer).toMatchObject({
    ...{ link_id: ana.linkId, origin: 'order', state: 'running', covers: 'subscription', orders: 2, until: null },
    ...{ payments: { made: 2, of: null }, subscription_ids: ['c1'] },
    ...{
      commission: [{ currency: 'USD', amount: 20 }],
      summary: '10% of each order; also on renewals of the subscription.',
    },
  });
  expect(await call('PATCH', `/${customer.id}`, { ended: true, reason: 'Left' })).toMatchObject({ state: 'ended' });
  const late = orderFacts(new Date(), { ...of, kind: 'renewal' });
  await report(app.context, ana, late);
  expect((await explain(brand, late.orderId)).candidates).toMatchObject([{ reason: 'ended', outcome: 'lost' }]);
  expect(await call('DELETE', `/${customer.id}`)).toEqual({ id: customer.id, erased: true });
  expect(await call('GET', `/${customer.id}`)).toMatchObject({
    ...{ customer_email: null, subscription_ids: [], commission: [{ currency: 'USD', amount: 20 }] },
  });
  await report(app.context, ana, { ...first, baseMinor: 20_000, updatedAt: new Date() });
  expect(await explain(brand, first.orderId)).toMatchObject({
    ...{ amount: 200, customer_email: null, subscription_id: null, commission: { commission: 20 } },
  });
  expect(await problemsOf(brand)).toEqual([]);
});

const shopifyBody = (id: number, at: Date, more: object) => ({
  ...{ id, name: `#${id}`, currency: 'USD', financial_status: 'paid', email: 'sub@mail.example' },
  ...{ created_at: at.toISOString(), updated_at: at.toISOString(), customer: { id: 77, email: 'sub@mail.example' } },
  ...{ line_items: [{ id: 1, price: '50.00', quantity: 1 }], refunds: [], discount_codes: [], ...more },
});

describe('A Shopify order', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(app, 'shopify');
  });
  afterAll(() => shop?.store.close());

  it('that its tag or source calls a renewal pays who sold the first order', async () => {
    const { assignment, brand } = shop;
    await payRenewals(brand, assignment);
    const first = { tags: 'appstle_subscription_first_order', source_name: 'web' };
    const codes = [{ code: assignment.code }];
    await shop.report('orders/paid', shopifyBody(5_001, minute(1), { ...first, discount_codes: codes }));
    const renewal = { tags: 'appstle_subscription_recurring_order', source_name: 'subscription_contract_checkout_one' };
    await shop.report('orders/paid', shopifyBody(5_002, minute(2), renewal));
    expect(await outcomeOf(brand, '5001')).toEqual(['code', 5]);
    expect(await outcomeOf(brand, '5002')).toEqual(['subscription', 5]);
  });

  it('that only a tag with underscores calls a renewal is none of a code that does not pay renewals', async () => {
    const { assignment, brand } = shop;
    await payRenewals(brand, assignment, false);
    const tags = ['appstle_subscription_recurring_order', 'manual_subscription_recurring_order'];
    for (const [place, tag] of tags.entries()) {
      const more = { tags: tag, source_name: 'web', discount_codes: [{ code: assignment.code }] };
      const by = { email: `other${place}@mail.example`, customer: { id: 100 + place } };
      await shop.report('orders/paid', shopifyBody(5_010 + place, minute(3), { ...more, ...by }));
      const explained = await explain(brand, String(5_010 + place));
      expect(explained).toMatchObject({ kind: 'renewal', attributed: false, candidates: [{ reason: 'renewal' }] });
    }
  });

  it('has the kind that the store’s own tags say, once they are set', async () => {
    const { brand, id } = shop;
    const path = `${app.url}/v1/affiliates/integrations/${id}`;
    const patched = await send(path, await brand.key('brand'), 'PATCH', { renewal_tags: ['Monthly_Box'] });
    expect(patched.body.data).toMatchObject({ renewal_tags: ['Monthly_Box'], first_tags: [] });
    await shop.report('orders/paid', shopifyBody(5_020, minute(4), { tags: 'vip, monthly box', source_name: 'web' }));
    expect(await explain(brand, '5020')).toMatchObject({ kind: 'renewal', is_renewal: true });
  });
});

it('A change of plan at WooCommerce pays the creator who brought the customer', async () => {
  const shop = await openShop(app, 'woocommerce');
  const { assignment, brand } = shop;
  await payRenewals(brand, assignment);
  const body = (id: number, at: Date, total: string, more: object) => ({
    ...{ id, number: String(id), status: 'processing', currency: 'USD', total, fee_lines: [], refunds: [] },
    ...{ date_created_gmt: gmt(at), date_modified_gmt: gmt(at), date_paid_gmt: gmt(at), coupon_lines: [] },
    ...{ line_items: [{ id: id * 10, total, quantity: 1 }], billing: { email: 'sub@mail.example' }, meta_data: [] },
    ...more,
  });
  await shop.report('order.created', body(9_000, minute(1), '100.00', { coupon_lines: [{ code: assignment.code }] }));
  const meta = [{ id: 1, key: '_subscription_switch', value: '8999' }];
  await shop.report('order.created', body(9_001, minute(2), '30.00', { meta_data: meta }));
  expect(await outcomeOf(brand, '9000')).toEqual(['code', 10]);
  expect(await outcomeOf(brand, '9001')).toEqual(['subscription', 3]);
  expect(await explain(brand, '9001')).toMatchObject({ kind: 'upgrade', subscription_id: '8999' });
  await shop.store.close();
});
