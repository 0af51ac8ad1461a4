import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { carryOutDataRequests, endDataRequests } from '../../../src/affiliates/data-requests/data-requests.jobs.ts';
import { verifyRecords } from '../../../src/affiliates/ledger/verify-ledger.ts';
import { openShop as openShopAt, type Shop } from '../../harness/affiliates/shop.ts';
import { orderNumber, shopifyOrder } from '../../harness/affiliates/shopify-order.ts';
import { deliver, newestDelivery, signedDelivery, WEBHOOK_SECRET } from '../../harness/affiliates/store.ts';
import { wooOrder } from '../../harness/affiliates/woo-order.ts';
import { call, send, startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';
import { mailsOf } from '../../harness/kit/mail.ts';
import { signIn } from '../../harness/platform/session.ts';
import { findTraces } from '../../harness/platform/traces.ts';

let app: TestApp;
let database: TestDatabase;
const shops: Shop[] = [];
beforeAll(async () => {
  database = await makeDatabase('buyers');
  app = await startApp({ urls: { postgres: database.url, redis: ownRedis() } });
});
afterAll(async () => {
  for (const { store } of shops) await store.close();
  await app?.close();
  await database?.drop();
});

async function openShop(provider: Shop['store']['provider']): Promise<Shop> {
  const shop = await openShopAt(app, provider);
  shops.push(shop);
  return shop;
}

const BUYER = 'jane.buyer@mail.example';
const OTHER = 'john.other@mail.example';

async function sendTo(shop: Shop, topic: string, body: object) {
  const { provider } = shop.store;
  return await deliver(app.url, provider, shop.id, signedDelivery(provider, WEBHOOK_SECRET, topic, body));
}

const keyOf = ({ brand }: Shop) => brand.key('brand');

async function listOrders(shop: Shop) {
  const { body } = await call(`${app.url}/v1/orders`, await keyOf(shop));
  return body.data.map((one: Record<string, unknown>) => ({ ...one, order_id: String(one.order_id) }));
}

const rowsOf = (shop: Shop) =>
  app.context.postgres.db
    .selectFrom('orders')
    .select(['orderId', 'customerEmail', 'customerHash', 'customerIdHash', 'erasedBy', 'baseMinor'])
    .where('brandId', '=', shop.brand.id)
    .orderBy('createdAt')
    .orderBy('id')
    .execute();

const problems = async ({ brand }: Shop) => (await verifyRecords(app.context.postgres.db, brand.id)).problems;

/** Two orders of the buyer and one of somebody else. */
async function buy(shop: Shop) {
  const [one, two, other] = [orderNumber(), orderNumber(), orderNumber()];
  for (const [id, email] of [
    [one, BUYER],
    [two, BUYER],
    [other, OTHER],
  ] as const) {
    const order = shopifyOrder({ id, email, codes: [shop.assignment.code], status: 'paid' });
    expect((await sendTo(shop, 'orders/paid', order)).became?.state).toBe('done');
  }
  return { one, two, other };
}

const redact = (email: string | null, orders: readonly number[]) => ({
  ...{ shop_id: 1, shop_domain: 'fake.myshopify.com', customer: { id: 1, email, phone: '' } },
  orders_to_redact: orders,
});

describe('an erasure of a buyer', () => {
  it('takes the customer out of their orders, keeps what these are worth, and later reports bring nothing back', async () => {
    const shop = await openShop('shopify');
    const { one } = await buy(shop);
    const figures = await listOrders(shop);
    const body = { kind: 'erasure', customer_email: `  ${BUYER.toUpperCase()} `.trim() };
    const answer = await send(`${app.url}/v1/data-requests`, await keyOf(shop), 'POST', body);
    expect(answer.body.data, JSON.stringify(answer.body)).toMatchObject({
      state: 'done',
      subject: 'customer',
      removed: { orders: 2 },
    });
    await endDataRequests.run(app.context);

    const rows = await rowsOf(shop);
    const [first, second, third] = rows;
    expect(rows.map(({ customerEmail, erasedBy, baseMinor }) => [customerEmail, erasedBy !== null, baseMinor])).toEqual(
      [
        [null, true, first?.baseMinor],
        [null, true, second?.baseMinor],
        ['j***@m***.example', false, third?.baseMinor],
      ],
    );
    expect(first?.customerHash).toEqual(second?.customerHash);
    expect(first?.customerHash).not.toEqual(third?.customerHash);
    const worth = (list: Record<string, unknown>[]) =>
      list.map(({ order_id, amount, customer }) => [order_id, amount, customer]);
    expect(worth(await listOrders(shop))).toEqual(worth(figures));
    expect(await problems(shop)).toEqual([]);

    const later = shopifyOrder({
      id: one,
      email: BUYER,
      codes: [shop.assignment.code],
      status: 'paid',
      updatedAt: new Date(),
    });
    expect((await sendTo(shop, 'orders/updated', later)).became?.state).toBe('done');
    expect((await rowsOf(shop))[0]).toEqual(first);
    expect(await findTraces(app.context.postgres.db, [BUYER])).toEqual([]);
    const stored = await app.context.postgres.db
      .selectFrom('storeDeliveries')
      .select(['orderId', 'body'])
      .where('integrationId', '=', shop.id)
      .execute();
    expect(stored.filter(({ body: bytes }) => bytes.length > 0).map(({ orderId }) => orderId)).toEqual([
      third?.orderId,
    ]);

    const next = shopifyOrder({ id: orderNumber(), email: BUYER, codes: [shop.assignment.code], status: 'paid' });
    await sendTo(shop, 'orders/paid', next);
    const newest = (await listOrders(shop)).find(({ order_id }: { order_id: string }) => order_id === String(next.id));
    expect(newest).toMatchObject({ customer: 'new' });
    expect(await problems(shop)).toEqual([]);
  });

  it('is carried out for Shopify’s customers/redact, of this store alone, and shows nobody the request', async () => {
    const shop = await openShop('shopify');
    const elsewhere = await openShop('shopify');
    const { one } = await buy(shop);
    await buy(elsewhere);
    const answer = await sendTo(shop, 'customers/redact', redact(BUYER, [one]));
    expect([answer.status, answer.became?.state]).toEqual([200, 'done']);
    await carryOutDataRequests.run(app.context);
    const key = await keyOf(shop);
    const { body } = await call(`${app.url}/v1/data-requests`, key);
    expect(body.data).toMatchObject([
      { source: 'shopify', subject: 'customer', state: 'done', removed: { orders: 2 } },
    ]);
    expect((await rowsOf(shop)).map(({ customerEmail }) => customerEmail)).toEqual([null, null, 'j***@m***.example']);
    expect((await rowsOf(elsewhere)).map(({ erasedBy }) => erasedBy)).toEqual([null, null, null]);
    expect(await findTraces(app.context.postgres.db, [BUYER])).toEqual([]);
    expect(await problems(shop)).toEqual([]);
    // Shopify sends it again.
    await sendTo(shop, 'customers/redact', redact(BUYER, [one]));
    await carryOutDataRequests.run(app.context);
    expect((await call(`${app.url}/v1/data-requests`, key)).body.data[0]).toMatchObject({ state: 'done', removed: {} });
  });

  it('refuses a redaction that is not signed, and takes one by order ids without an address', async () => {
    const shop = await openShop('shopify');
    const { one } = await buy(shop);
    const forged = signedDelivery('shopify', 'another secret', 'customers/redact', redact(BUYER, [one]));
    expect((await deliver(app.url, 'shopify', shop.id, forged)).status).toBe(401);
    await sendTo(shop, 'customers/redact', redact(null, [one]));
    await carryOutDataRequests.run(app.context);
    expect((await rowsOf(shop)).map(({ erasedBy }) => erasedBy !== null)).toEqual([true, false, false]);
  });

  it('takes a customer by the store’s id alone, and a domain in either of its forms', async () => {
    const shop = await openShop('shopify');
    const buyNow = async (email: string, customerId: number) => {
      const order = shopifyOrder({ id: orderNumber(), email, codes: [shop.assignment.code], status: 'paid' });
      await sendTo(shop, 'orders/paid', { ...order, customer: { id: customerId, email } });
    };
    await buyNow(BUYER, 71);
    await buyNow('jane@bücher.example', 72);
    await buyNow('john@xn--bcher-kva.example', 73);
    const isErased = async () => (await rowsOf(shop)).map(({ erasedBy }) => erasedBy !== null);
    // The keys of the body are in another order, and what is empty is empty in another way.
    const customer = { phone: '+15550100', id: 71, email: null };
    await sendTo(shop, 'customers/redact', { orders_to_redact: null, customer, shop_domain: 'x', shop_id: 1 });
    await carryOutDataRequests.run(app.context);
    expect(await isErased()).toEqual([true, false, false]);
    for (const customer_email of ['jane@xn--bcher-kva.example', 'john@bücher.example']) {
      const body = { kind: 'erasure', customer_email };
      const answer = await send(`${app.url}/v1/data-requests`, await keyOf(shop), 'POST', body);
      expect(answer.body.data).toMatchObject({ state: 'done', removed: { orders: 1 } });
    }
    expect(await isErased()).toEqual([true, true, true]);
    expect(await problems(shop)).toEqual([]);
  });

  it('takes the orders of a mailbox under another spelling, and an address as somebody typed it at the shop', async () => {
    const shop = await openShop('shopify');
    const buyNow = async (email: string) => {
      const order = shopifyOrder({ id: orderNumber(), email, codes: [shop.assignment.code], status: 'paid' });
      await sendTo(shop, 'orders/paid', { ...order, customer: null });
    };
    for (const [bought, asked] of [
      ['j.ane.d.oe@gmail.com', 'janedoe@gmail.com'],
      ['mary.major@googlemail.com', 'm.arymajor@gmail.com'],
      ['b6.x.y.z.w@gmail.com', 'b6xyzw@gmail.com'],
      ['Jo Doe <jo.doe@mail.example>', 'jo.doe@mail.example'],
      ['\u202ajo.roe@mail.example\u202c', 'jo.roe@mail.example'],
    ] as const) {
      await buyNow(bought);
      const body = { kind: 'erasure', customer_email: asked };
      const answer = await send(`${app.url}/v1/data-requests`, await keyOf(shop), 'POST', body);
      expect([asked, answer.body.data?.removed.orders]).toEqual([asked, 1]);
    }
    await buyNow('j.ohnsmith@mail.example');
    const other = { kind: 'erasure', customer_email: 'johnsmith@mail.example' };
    const answer = await send(`${app.url}/v1/data-requests`, await keyOf(shop), 'POST', other);
    expect(answer.body.data).toMatchObject({ state: 'done', removed: {} });
    expect(await problems(shop)).toEqual([]);
  });

  it('takes a lead that is known by the store’s id alone, of this store alone', async () => {
    const [shop, other] = [await openShop('shopify'), await openShop('shopify')];
    const listKeys = async ({ brand }: Shop) =>
      await app.context.postgres.db.selectFrom('customerKeys').select('kind').where('brandId', '=', brand.id).execute();
    for (const one of [shop, other]) {
      const lead = { customer_external_id: '81', integration_id: one.id, code: one.assignment.code };
      expect((await send(`${app.url}/v1/customers`, await keyOf(one), 'POST', lead)).status).toBe(201);
      expect(await listKeys(one)).toEqual([{ kind: 'customer_id' }]);
    }
    await sendTo(shop, 'customers/redact', { shop_id: 1, shop_domain: 'x', customer: { id: 81, email: null } });
    await carryOutDataRequests.run(app.context);
    expect(await listKeys(shop)).toEqual([]);
    expect(await listKeys(other)).toEqual([{ kind: 'customer_id' }]);
    expect(await problems(shop)).toEqual([]);
  });

  it('takes every buyer of a store, and its access, for shop/redact', async () => {
    const shop = await openShop('shopify');
    await buy(shop);
    await sendTo(shop, 'shop/redact', { shop_id: 1, shop_domain: 'fake.myshopify.com' });
    await carryOutDataRequests.run(app.context);
    expect((await rowsOf(shop)).map(({ customerEmail, erasedBy }) => [customerEmail, erasedBy !== null])).toEqual([
      ...[
        [null, true],
        [null, true],
        [null, true],
      ],
    ]);
    const { body } = await call(`${app.url}/v1/affiliates/integrations/${shop.id}`, await keyOf(shop));
    expect(body.data.status).toBe('disconnected');
    expect(await problems(shop)).toEqual([]);
  });

  it('is carried out for 90 days after the store was disconnected, by the secret that stays for that alone', async () => {
    const shop = await openShop('shopify');
    const { one } = await buy(shop);
    const { db } = app.context.postgres;
    const key = await keyOf(shop);
    await call(`${app.url}/v1/affiliates/integrations/${shop.id}`, key, { method: 'DELETE' });
    const sendAlone = async (topic: string, body: object, secret = WEBHOOK_SECRET) =>
      (await deliver(app.url, 'shopify', shop.id, signedDelivery('shopify', secret, topic, body))).status;
    expect(await sendAlone('customers/redact', redact(BUYER, [one]), 'another secret')).toBe(404);
    expect(await sendAlone('orders/paid', shopifyOrder({ id: orderNumber(), email: OTHER, codes: [] }))).toBe(404);
    expect(await sendAlone('customers/redact', redact(BUYER, [one]))).toBe(200);
    await carryOutDataRequests.run(app.context);
    expect((await rowsOf(shop)).map(({ erasedBy }) => erasedBy !== null)).toEqual([true, true, false]);
    const kept = () =>
      db
        .selectFrom('integrations')
        .select(['secrets', 'partingSecrets', 'partingUntil'])
        .where('id', '=', shop.id)
        .executeTakeFirstOrThrow();
    const { secrets, partingUntil } = await kept();
    expect(secrets).toHaveLength(0);
    expect(Math.round(((partingUntil?.getTime() ?? 0) - Date.now()) / 86_400_000)).toBe(90);
    expect(await sendAlone('shop/redact', { shop_id: 1, shop_domain: 'fake.myshopify.com' })).toBe(200);
    await carryOutDataRequests.run(app.context);
    expect((await rowsOf(shop)).map(({ erasedBy }) => erasedBy !== null)).toEqual([true, true, true]);
    expect(await kept()).toMatchObject({ partingSecrets: null, partingUntil: null });
    expect(await sendAlone('customers/redact', redact(BUYER, [one]))).toBe(404);
    expect(await problems(shop)).toEqual([]);
  });

  it('follows the eraser of WooCommerce, whose order then names deleted@site.invalid', async () => {
    const shop = await openShop('woocommerce');
    const order = (email: string, modifiedAt: string) =>
      wooOrder({ id: 801, email, codes: [shop.assignment.code], paidAt: '2026-03-22T16:28:05', modifiedAt });
    await sendTo(shop, 'order.updated', order(BUYER, '2026-03-22T16:28:10'));
    await sendTo(shop, 'order.updated', order('deleted@site.invalid', '2026-03-25T10:00:00'));
    await carryOutDataRequests.run(app.context);
    expect(await rowsOf(shop)).toMatchObject([
      { customerEmail: null, erasedBy: expect.stringMatching(/^drq_/), customerIdHash: null },
    ]);
    expect((await call(`${app.url}/v1/data-requests`, await keyOf(shop))).body.data).toMatchObject([
      { source: 'woocommerce', state: 'done' },
    ]);
    // An older report that comes late names nobody again, nor does one of an order that was erased before it was known.
    await sendTo(shop, 'order.updated', order(BUYER, '2026-03-24T10:00:00'));
    await sendTo(shop, 'order.updated', { ...order('deleted@site.invalid', '2026-03-25T10:00:00'), id: 802 });
    await sendTo(shop, 'order.created', { ...order(BUYER, '2026-03-22T16:28:10'), id: 802 });
    expect((await rowsOf(shop)).map(({ customerEmail, erasedBy }) => [customerEmail, erasedBy !== null])).toEqual([
      [null, true],
      [null, true],
    ]);
    expect(await findTraces(app.context.postgres.db, [BUYER])).toEqual([]);
    expect(await problems(shop)).toEqual([]);
  });

  it('takes any address that the plug-in of WordPress passes on, and refuses a wish without one', async () => {
    const shop = await openShop('woocommerce');
    const email = 'jörg@shop.example';
    const order = wooOrder({ id: 901, email, codes: [shop.assignment.code], paidAt: '2026-03-22T16:28:05' });
    await sendTo(shop, 'order.updated', order);
    const file = await sendTo(shop, 'action.rollcall_export', { email });
    expect([file.status, file.body.data?.length]).toEqual([200, 1]);
    for (const topic of ['action.rollcall_export', 'action.rollcall_erase']) {
      const { status, body } = await sendTo(shop, topic, { email: '' });
      expect([status, body.details?.[0].field]).toEqual([422, 'email']);
    }
    expect((await sendTo(shop, 'action.rollcall_erase', { email })).status).toBe(200);
    await carryOutDataRequests.run(app.context);
    expect((await rowsOf(shop)).map(({ erasedBy }) => erasedBy !== null)).toEqual([true]);
  });

  it('is of everything that the customer of one order bought', async () => {
    const shop = await openShop('shopify');
    await buy(shop);
    const id = await app.context.postgres.db
      .selectFrom('orders')
      .select('id')
      .where('integrationId', '=', shop.id)
      .orderBy('createdAt')
      .executeTakeFirstOrThrow();
    const body = { kind: 'erasure', customer_of: id.id };
    const answer = await send(`${app.url}/v1/data-requests`, await keyOf(shop), 'POST', body);
    expect(answer.body.data.removed.orders).toEqual(2);
    expect((await rowsOf(shop)).map(({ erasedBy }) => erasedBy !== null)).toEqual([true, true, false]);
    const both = await send(`${app.url}/v1/data-requests`, await keyOf(shop), 'POST', {
      ...body,
      customer_email: BUYER,
    });
    expect(both.status).toBe(422);
  });

  it('narrows an address to orders that are named', async () => {
    const shop = await openShop('shopify');
    const { one, other } = await buy(shop);
    const body = { kind: 'erasure', customer_email: BUYER, order_ids: [String(one), String(other)] };
    const answer = await send(`${app.url}/v1/data-requests`, await keyOf(shop), 'POST', body);
    expect(answer.body.data.removed.orders).toBe(1);
  });
});

describe('an access of a buyer', () => {
  it('is a file with their orders; when Shopify asks for it, owners are mailed by when to pass it on', async () => {
    const shop = await openShop('shopify');
    await signIn(app, shop.brand.id);
    const { one } = await buy(shop);
    const wish = { shop_id: 1, shop_domain: 'x', customer: { id: 1, email: BUYER }, orders_requested: [one] };
    expect((await sendTo(shop, 'customers/data_request', { ...wish, data_request: { id: 9 } })).became?.state).toBe(
      'done',
    );
    await carryOutDataRequests.run(app.context);
    const key = await keyOf(shop);
    const [request] = (await call(`${app.url}/v1/data-requests?kind=access`, key)).body.data;
    expect(request).toMatchObject({ state: 'done', removed: { orders: 2 } });
    const file = await call(`${app.url}/v1/data-requests/${request.id}/file`, key);
    expect(file.body.tables.orders).toHaveLength(2);
    expect(file.body.tables.orders[0]).toMatchObject({ customer_email: 'j***@m***.example' });
    expect(await newestDelivery(app.context, shop.id)).toMatchObject({ state: 'done' });
    const [mail, ...others] = (await mailsOf(app.context, shop.brand.id)).filter(({ kind }) => kind === 'data_request');
    expect(others).toEqual([]);
    expect(mail?.subject).toMatch(/asks what you keep of a customer$/);
    expect(mail?.text).toMatch(/Due/);
    expect(mail?.links).toContainEqual(expect.stringContaining(`/app/rights?open=${request.id}`));
  });
});
