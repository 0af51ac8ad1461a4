import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeAssignment } from '../harness/affiliates/sales.ts';
import { gmt, minute, openShop, orderedAt, type Shop } from '../harness/affiliates/shop.ts';
import { send, startApp, type TestApp, unique } from '../harness/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const SUBSCRIPTION = { rate: { percent: 10 }, covers: 'subscription' };

let numbers = 0;
/** A number and a time after all earlier ones, as a store gives them. */
function next() {
  numbers += 1;
  return { id: 700_000 + numbers, at: minute(numbers) };
}

interface Placed {
  tags?: string;
  source?: string;
  total?: string;
  email?: string;
  customer?: number;
  product?: number;
  code?: string;
  more?: object;
  properties?: { name: string; value: string }[];
}

/** A Shopify store whose orders are a customer's, unless they say otherwise. */
async function openShopify(terms: object = SUBSCRIPTION) {
  const shop = await openShop(app, 'shopify');
  await setTerms(shop, shop.assignment.linkId, terms);
  const place = async (order: Placed) => {
    const { id, at } = next();
    const {
      tags = '',
      source = 'web',
      total = '50.00',
      email = 'sub@mail.example',
      customer = 77,
      product = 1,
    } = order;
    const line = { id: id * 10, price: total, quantity: 1, product_id: product, properties: order.properties ?? [] };
    await shop.report('orders/paid', {
      ...{ id, name: `#${id}`, currency: 'USD', financial_status: 'paid', source_name: source, tags, email },
      ...{ created_at: at.toISOString(), updated_at: at.toISOString(), customer: { id: customer, email }, refunds: [] },
      ...{ discount_codes: order.code ? [{ code: order.code }] : [], line_items: [line], ...order.more },
    });
    return await outcome(shop, String(id));
  };
  return { ...shop, code: shop.assignment.code, place };
}

async function openWoo(terms: object = SUBSCRIPTION) {
  const shop = await openShop(app, 'woocommerce');
  await setTerms(shop, shop.assignment.linkId, terms);
  const reportOrder = async (meta: Record<string, string>, order: Placed & { id?: number } = {}) => {
    const { id: number, at } = next();
    const { total = '50.00', email = 'sub@mail.example', customer = 5, product = 1, id = number } = order;
    await shop.report('order.created', {
      ...{ id, number: String(id), status: 'processing', currency: 'USD', total, fee_lines: [], refunds: [] },
      ...{ date_created_gmt: gmt(at), date_modified_gmt: gmt(at), date_paid_gmt: gmt(at), billing: { email } },
      ...{ customer_id: customer, line_items: [{ id: id * 10, total, quantity: 1, product_id: product }] },
      coupon_lines: order.code ? [{ code: order.code }] : [],
      meta_data: Object.entries(meta).map(([key, value], i) => ({ id: i + 1, key, value })),
      ...order.more,
    });
    return { id, outcome: await outcome(shop, String(id)) };
  };
  const place = async (meta: Record<string, string>, order?: Placed) => (await reportOrder(meta, order)).outcome;
  return { ...shop, code: shop.assignment.code, place, reportOrder };
}

async function setTerms({ brand }: Shop, linkId: string, terms: object): Promise<void> {
  const path = `${app.url}/v1/affiliates/links/${linkId}`;
  expect((await send(path, await brand.key('brand'), 'PATCH', { terms })).status).toBe(200);
}

const explain = async ({ brand }: Shop, orderId: string) =>
  (await send(`${app.url}/v1/affiliates/explain?order_id=${orderId}`, await brand.key('brand'), 'GET')).body.data;

/** What the order pays; null: nobody. */
async function outcome(shop: Shop, orderId: string): Promise<number | null> {
  const { commission } = await explain(shop, orderId);
  return commission?.commission ?? null;
}

describe('Of a subscription at Shopify that a creator sold, each payment pays', () => {
  it.each([
    ['Skio', 'Subscription First Order, Subscription Order: 1', 'Subscription Recurring Order, Subscription Order: 2'],
    ['Recharge', 'Subscription, Subscription First Order', 'Subscription, Subscription Recurring Order'],
    ['Appstle', 'appstle_subscription_first_order', 'appstle_subscription_recurring_order'],
    ['Ordergroove', 'Ordergroove Trigger Order', 'Ordergroove Subscription Order'],
    ['Super Subscriptions', 'Subscription order, Initial order', 'Subscription order, Recurring order'],
    ['Seal', 'Seal Subscriptions', 'Seal Subscriptions, recurring'],
    ['Bold', '', 'Recurring Order'],
    ['Firmhouse', 'Firmhouse-First-Order', 'Firmhouse-Recurring-Order, Firmhouse-First-Recurring-Order'],
  ])('by the tags of %s', async (_app, first, renewal) => {
    const { place, code } = await openShopify();
    expect(await place({ tags: first, code })).toBe(5);
    expect(await place({ tags: renewal })).toBe(5);
    // Somebody else's renewal, whatever its tags, is nobody's.
    expect(await place({ tags: renewal, email: 'other@mail.example', customer: 78 })).toBe(null);
  });

  it('by its source, as of Loop, and of one app’s other customer address by the customer’s id', async () => {
    const { place, code } = await openShopify();
    expect(await place({ code })).toBe(5);
    expect(await place({ source: 'subscription_contract' })).toBe(5);
    expect(await place({ source: 'subscription_contract_checkout_one', email: 'new@mail.example' })).toBe(5);
    expect(await place({ source: 'web' })).toBe(null);
  });

  it('but the deliveries of what was prepaid, which are no payments', async () => {
    const { place, code } = await openShopify({ ...SUBSCRIPTION, payments: 2 });
    expect(await place({ tags: 'Subscription, Subscription First Order', total: '150.00', code })).toBe(15);
    for (const _delivery of [2, 3]) {
      expect(await place({ tags: 'Subscription First Order, Prepaid', total: '0.00' })).toBe(0);
    }
    expect(await place({ tags: 'Subscription Recurring Order', total: '150.00' })).toBe(15);
    expect(await place({ tags: 'Subscription Recurring Order, Prepaid', total: '0.00' })).toBe(null);
    expect(await place({ tags: 'Subscription Recurring Order', total: '150.00', code })).toBe(null);
  });

  it('with Ordergroove’s own words for prepaid, and by the subscription that its lines name', async () => {
    const { place, code } = await openShopify();
    const properties = [{ name: '_ordergroove.subscription.publicId', value: 'og-1' }];
    const prepaid = 'Ordergroove Prepaid Order';
    expect(await place({ tags: `Ordergroove Trigger Order, ${prepaid}`, total: '90.00', code, properties })).toBe(9);
    expect(await place({ tags: 'Prepaid Fulfillment Order, prepaid-origin-order=1', total: '0.00', properties })).toBe(
      0,
    );
    const moved = { email: 'moved@mail.example', customer: 99, properties };
    expect(await place({ tags: `Ordergroove Subscription Order, ${prepaid}`, total: '90.00', ...moved })).toBe(9);
  });

  it('not where a one-time code is still on the renewal and renewals are not paid', async () => {
    const { place, code } = await openShopify({ rate: { percent: 10 } });
    expect(await place({ tags: 'Ordergroove Subscription Order', code })).toBe(null);
    expect(await place({ source: 'subscription_contract_checkout_one', code })).toBe(null);
    expect(await place({ tags: 'Subscription Order: 4', code })).toBe(null);
  });

  it('not of another subscription, of a product that the customer subscribed to alone', async () => {
    const { place, code } = await openShopify();
    expect(await place({ tags: 'Subscription First Order', product: 1, code })).toBe(5);
    expect(await place({ tags: 'Subscription First Order', product: 2 })).toBe(null);
    expect(await place({ tags: 'Subscription Recurring Order', product: 2 })).toBe(null);
    expect(await place({ tags: 'Subscription Recurring Order', product: 1 })).toBe(5);
  });

  it('from the first charge of a trial on, which is not held to the smallest order that pays', async () => {
    const shop = await openShopify({ rate: { percent: 10 } });
    const rules = { min_order: 20 };
    const path = `${app.url}/v1/affiliates/rules`;
    expect((await send(path, await shop.brand.key('brand'), 'PATCH', rules)).status).toBe(200);
    expect(await shop.place({ tags: 'Subscription First Order', total: '0.00', code: shop.code })).toBe(0);
    expect(await shop.place({ tags: 'Subscription Recurring Order', total: '49.00' })).toBe(4.9);
    expect(await shop.place({ tags: 'Subscription Recurring Order', total: '49.00' })).toBe(null);
  });
});

describe('Of a subscription at WooCommerce that a creator sold', () => {
  it('renewals pay for as long as its terms say, whatever coupon is copied along', async () => {
    const { place, code } = await openWoo({ ...SUBSCRIPTION, payments: 3 });
    expect(await place({}, { code })).toBe(5);
    const renewal = { _subscription_renewal: '8999' };
    expect([await place(renewal, { code }), await place(renewal, { code })]).toEqual([5, 5]);
    expect(await place(renewal, { code })).toBe(null);
  });

  it('the first charge after a trial pays, and a switch and a subscription anew after it do not', async () => {
    const { place, code } = await openWoo({ rate: { percent: 10 } });
    expect(await place({}, { total: '0.00', code })).toBe(0);
    expect(await place({ _subscription_renewal: '8999' }, { total: '49.00' })).toBe(4.9);
    expect(await place({ _subscription_switch: '8999' })).toBe(null);
    expect(await place({ _subscription_resubscribe: '8999' })).toBe(null);
  });

  it('a switch, an early renewal, one of the schedule and a subscription anew pay', async () => {
    const { place, code } = await openWoo();
    expect(await place({}, { code })).toBe(5);
    expect(await place({ _subscription_switch: '8999' }, { total: '30.00' })).toBe(3);
    expect(await place({ _subscription_renewal_early: '8999' })).toBe(5);
    expect(await place({}, { more: { created_via: 'subscription' }, email: 'moved@mail.example' })).toBe(5);
    expect(await place({ _subscription_resubscribe: '8999' })).toBe(5);
  });

  it('the store says which order started it, where the same product was subscribed to twice', async () => {
    const shop = await openWoo();
    const ben = await makeAssignment(app.context, shop.brand, { rate: 20 });
    await setTerms(shop, ben.linkId, { ...SUBSCRIPTION, rate: { percent: 20 } });
    const first = await shop.reportOrder({}, { code: shop.code });
    const second = await shop.reportOrder({}, { code: ben.code });
    const alone = await shop.reportOrder({});
    shop.store.subscriptions.set('1', first.id).set('2', second.id).set('3', alone.id);
    expect([first.outcome, second.outcome, alone.outcome]).toEqual([5, 10, null]);
    const renew = async (id: string) => await shop.place({ _subscription_renewal: id });
    expect([await renew('1'), await renew('2'), await renew('3')]).toEqual([5, 10, null]);
    expect([await renew('3'), await renew('1')]).toEqual([null, 5]);
    const asked = shop.store.requests.filter((request) => request.includes('/subscriptions/'));
    expect(asked.map((request) => request.split('/').at(-1))).toEqual(['1', '2', '3']);
    // A store that does not say, or may not, leaves the customer's latest row.
    expect(await renew('4')).toBe(10);
  });

  it('the order that started it may come after its renewal', async () => {
    const shop = await openWoo();
    const started = 690_000;
    shop.store.subscriptions.set('7', started);
    const renewal = await shop.reportOrder({ _subscription_renewal: '7' });
    expect(renewal.outcome).toBe(null);
    const early = gmt(orderedAt);
    const more = { date_created_gmt: early, date_modified_gmt: early, date_paid_gmt: early };
    const first = await shop.reportOrder({}, { id: started, code: shop.code, more });
    expect([first.outcome, await outcome(shop, String(renewal.id))]).toEqual([5, 5]);
  });
});

describe('Rules on categories and sales', () => {
  const openers = {
    shopify: async () => {
      const shop = await openShopify(SERUMS);
      return { ...shop, placeOne: shop.place };
    },
    woocommerce: async () => {
      const shop = await openWoo(SERUMS);
      return { ...shop, placeOne: (order: Placed) => shop.place({}, order) };
    },
  };
  const SERUMS = {
    rate: { percent: 10 },
    rules: [
      { name: 'Sale', when: { on_sale: true }, rate: { percent: 0 } },
      { name: 'Serums', when: { category: ['serums'] }, rate: { percent: 20 } },
    ],
  };

  it.each(['shopify', 'woocommerce'] as const)(
    'hold for lines of %s as its products were first read',
    async (provider) => {
      const shop = await openers[provider]();
      shop.store.products?.set('1', { categories: ['Serums'], onSale: false });
      shop.store.products?.set('2', { categories: ['Serums'], onSale: true });
      const buy = (product: number) =>
        shop.placeOne({ product, code: shop.code, email: `${unique('buyer')}@mail.example`, customer: product * 100 });
      expect([await buy(1), await buy(2), await buy(3)]).toEqual([10, 0, 5]);
      const asked = shop.store.requests.length;
      expect(await buy(1)).toBe(10);
      expect(shop.store.requests.length).toBe(asked);
    },
  );

  it('of a store whose products may not be read hold for no line, and the delivery says why', async () => {
    const shop = await openShopify(SERUMS);
    shop.store.products = undefined;
    expect(await shop.place({ code: shop.code })).toBe(5);
    const path = `${app.url}/v1/affiliates/integrations/${shop.id}`;
    const key = await shop.brand.key('brand');
    expect((await send(path, key, 'GET')).body.data.status).toBe('connected');
    const deliveries = await send(`${path}/deliveries`, key, 'GET');
    expect(JSON.stringify(deliveries.body.data)).toContain('read_products');
  });
});
