import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSeller } from '../harness/affiliates/ordering.ts';
import { daysAgo, makeAssignment, makeSale, orderFacts, report } from '../harness/affiliates/sales.ts';
import { send, startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const ordersOf = (key: string, query = '') => send(`${app.url}/v1/orders${query}`, key, 'GET');

/** A brand with two sales of one customer, one sale of another creator in euros, and an order that paid nobody. */
async function makeOrders() {
  const { brand, assignment, key } = await makeSeller(app);
  const other = await makeAssignment(app.context, brand, { name: 'Bea' });
  const customerEmail = 'jane@shop.example';
  const first = await makeSale(app.context, brand, {
    assignment,
    customerEmail,
    occurredAt: daysAgo(40),
    orderId: 'first',
  });
  await makeSale(app.context, brand, { assignment, customerEmail, occurredAt: daysAgo(30), orderId: 'second' });
  const euros = { currency: 'EUR', amountMinor: 25_050, occurredAt: daysAgo(20), orderId: 'euros' };
  await makeSale(app.context, brand, { assignment: other, ...euros });
  await report(app.context, assignment, orderFacts(daysAgo(10), { orderId: 'alone', customerEmail: null }));
  return { key, assignment, other, first };
}

describe('the list of orders', () => {
  it('has every order, newest first, with its creator, commission and whether its customer is new', async () => {
    const { key, assignment, other, first } = await makeOrders();
    const { status, body } = await ordersOf(key);
    expect([status, body.pagination.total]).toEqual([200, 4]);
    const [alone, euros, second, one] = body.data;
    expect(alone).toMatchObject({
      ...{ order_id: 'alone', attributed: false, reason: 'no_candidates', rule: null, customer: null },
      ...{ creator_email: null, commission_id: null, commission: null, status: null, fraud_flags: [] },
    });
    expect(euros).toMatchObject({
      order_id: 'euros',
      currency: 'EUR',
      amount: 250.5,
      creator_email: other.email,
      customer: 'new',
    });
    expect(second).toMatchObject({ order_id: 'second', customer: 'returning', customer_email: 'j***@s***.example' });
    expect(one).toMatchObject({
      ...{ order_id: 'first', customer: 'new', attributed: true, rule: 'code', reason: null, source: 'generic' },
      ...{ link_id: assignment.linkId, commission_id: first.id, commission: 10, status: 'pending', is_test: false },
    });
  });

  it.each<[query: (made: Awaited<ReturnType<typeof makeOrders>>) => string, expected: string[]]>([
    [() => '?attributed=false', ['alone']],
    [() => '?reason=no_candidates', ['alone']],
    [() => '?customer=new&sort=oldest', ['first', 'euros']],
    [() => '?customer=returning', ['second']],
    [() => '?currency=EUR&min_amount=250.5', ['euros']],
    [() => '?currency=EUR&min_amount=250.51', []],
    [
      () => `?from=${daysAgo(30).toISOString().slice(0, 10)}&to=${daysAgo(20).toISOString().slice(0, 10)}`,
      ['euros', 'second'],
    ],
    [({ other }) => `?link_id=${other.linkId}`, ['euros']],
    [({ assignment }) => `?creator_email=${assignment.email.toUpperCase()}&order_id=first`, ['first']],
    [({ other }) => `?integration_id=${other.source.id}`, ['euros']],
    [() => '?flag=velocity', []],
    [() => '?sort=amount', ['euros', 'alone', 'second', 'first']],
    [() => '?updated_after=2020-01-01&order_id=first', ['first']],
    [() => '?updated_after=2100-01-01', []],
  ])('is narrowed by its filters, %#', async (query, expected) => {
    const made = await makeOrders();
    const { body } = await ordersOf(made.key, query(made));
    expect(body.data.map(({ order_id }: { order_id: string }) => order_id)).toEqual(expected);
    expect(body.pagination.total).toBe(expected.length);
  });

  it('is the brand’s own, and an order by its id is explained like by its number', async () => {
    const { key } = await makeOrders();
    const stranger = await makeSeller(app);
    expect((await ordersOf(stranger.key)).body.data).toEqual([]);
    const [{ id }] = (await ordersOf(key, '?order_id=second')).body.data;
    const byId = await send(`${app.url}/v1/orders/${id}`, key, 'GET');
    const byNumber = await send(`${app.url}/v1/affiliates/explain?order_id=second`, key, 'GET');
    expect([byId.status, byId.body.data]).toEqual([200, byNumber.body.data]);
    expect(byId.body.data.id).toBe(id);
    expect((await send(`${app.url}/v1/orders/${id}`, stranger.key, 'GET')).status).toBe(404);
  });

  it('refuses a least amount without a currency, by name', async () => {
    const { key } = await makeSeller(app);
    const { status, body } = await ordersOf(key, '?min_amount=5');
    expect([status, body.code, body.details[0].field]).toEqual([422, 'VALIDATION_ERROR', 'min_amount']);
  });
});
