import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Provider } from '../../../src/affiliates/stores/formats/provider.ts';
import { balancesOf } from '../../harness/affiliates/sales.ts';
import { gmt, minute, openShop as openShopAt, orderedAt, type Shop } from '../../harness/affiliates/shop.ts';
import { orderNumber, shopifyOrder, shopifyRefund } from '../../harness/affiliates/shopify-order.ts';
import { inEveryOrder, type TestStore } from '../../harness/affiliates/store.ts';
import { wooOrder } from '../../harness/affiliates/woo-order.ts';
import { call, send, startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
const stores: TestStore[] = [];

beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  for (const store of stores) await store.close();
  await app?.close();
});

async function openShop(provider: Provider): Promise<Shop> {
  const shop = await openShopAt(app, provider, { holdDays: 0 });
  stores.push(shop.store);
  return shop;
}

async function explain({ brand }: Shop, orderId: string | number) {
  const key = await brand.key('brand');
  return (await call(`${app.url}/v1/affiliates/explain?order_id=${orderId}`, key)).body.data;
}

const SALE = { customers: 10_000, sales: -10_000, commission_expense: 1_000, commission_pending: -1_000 };

/** An order of 100.00 as a store of the brand's own making tells it from a minute on. */
const genericAt = ({ assignment }: Shop, orderId: string, from: number, more: object = {}) => ({
  ...{ order_id: orderId, currency: 'USD', amount: '100.00', codes: [assignment.code] },
  ...{ placed_at: orderedAt.toISOString(), paid_at: orderedAt.toISOString(), updated_at: minute(from).toISOString() },
  ...more,
});
const genericRefund = (id: string, amount: string, from: number) => ({
  ...{ refund_id: id, amount, at: minute(from).toISOString() },
});

describe('a refund that its store reverts', () => {
  it('at WooCommerce is given back, in whichever order its deliveries come', async () => {
    const shop = await openShop('woocommerce');
    const REFUND = {
      ...{ id: 726, date_created_gmt: gmt(minute(2)), amount: '40.00' },
      line_items: [{ id: 1, total: '-40.00' }],
    };
    const orderAt = (id: number, from: number, refunds: { id: number; total: string }[]) =>
      wooOrder({ id, codes: [shop.assignment.code], paidAt: gmt(orderedAt), modifiedAt: gmt(minute(from)), refunds });
    const reported: number[] = [];
    for (const sequence of inEveryOrder(['placed', 'refunded', 'deleted'] as const)) {
      const id = orderNumber();
      reported.push(id);
      for (const what of [...sequence, ...sequence]) {
        const isRefunded = what === 'refunded';
        // The store is asked for its refunds as it tells.
        shop.store.refunds.set(String(id), isRefunded ? [REFUND] : []);
        const from = { placed: 0, refunded: 2, deleted: 5 }[what];
        const refunds = isRefunded ? [{ id: 726, total: '-40.00' }] : [];
        expect((await shop.report('order.updated', orderAt(id, from, refunds))).status).toBe(200);
      }
      const { commission, refunds } = await explain(shop, id);
      expect([commission.commission, refunds], sequence.join()).toEqual([10, []]);
    }
    const balances = await balancesOf(app.context, shop.brand);
    expect(balances).toEqual(
      Object.fromEntries(Object.entries(SALE).map(([name, minor]) => [name, minor * reported.length])),
    );
  });

  it('after its commission was paid no longer causes an adjustment', async () => {
    const shop = await openShop('generic');
    const { email } = shop.assignment;
    const key = await shop.brand.key('brand');
    await shop.report('order.paid', genericAt(shop, 'A-1', 0, { refunds: [] }));
    const { id: eventId } = (await explain(shop, 'A-1')).commission;
    await send(`${app.url}/v1/commissions`, key, 'POST', { status: 'approved', event_id: eventId });
    const requested = { creator_email: email, amount: 10, method: 'manual' };
    const { id } = (await send(`${app.url}/v1/payouts`, key, 'POST', requested)).body.data;
    await send(`${app.url}/v1/payouts/${id}`, key, 'PATCH', { status: 'paid' });
    const paid = await balancesOf(app.context, shop.brand);
    await shop.report('order.updated', genericAt(shop, 'A-1', 5, { refunds: [genericRefund('r', '40.00', 5)] }));
    expect((await explain(shop, 'A-1')).commission.adjustments).toMatchObject([{ cause: 'r', amount: 4 }]);
    await shop.report('order.updated', genericAt(shop, 'A-1', 7, { refunds: [] }));
    expect((await explain(shop, 'A-1')).commission.adjustments).toEqual([]);
    expect(await balancesOf(app.context, shop.brand)).toEqual(paid);
  });

  it('is one that a newer list lacks; an older list and a delivery without a list revert nothing', async () => {
    const shop = await openShop('shopify');
    const id = orderNumber();
    const codes = [shop.assignment.code];
    const refund = shopifyRefund({ orderId: id, lines: [{ subtotal: '40.00' }], at: minute(5) });
    const { refunds: _none, ...withoutList } = shopifyOrder({ id, codes, at: orderedAt, updatedAt: minute(9) });
    for (const [topic, data] of [
      ['orders/paid', shopifyOrder({ id, codes, at: orderedAt, updatedAt: minute(0) })],
      ['refunds/create', refund],
      ['orders/updated', shopifyOrder({ id, codes, at: orderedAt, updatedAt: minute(4) })],
      ['orders/updated', withoutList],
    ] as const) {
      expect((await shop.report(topic, data)).status).toBe(200);
    }
    expect((await explain(shop, id)).commission.commission).toBe(6);
  });
});

describe('an order keeps its currency', () => {
  it('so a report or refund in another one is refused and changes nothing', async () => {
    const shop = await openShop('generic');
    await shop.report('order.paid', genericAt(shop, 'B-1', 0));
    for (const [event, data] of [
      ['order.updated', genericAt(shop, 'B-1', 5, { currency: 'JPY', amount: '9000' })],
      ['order.refunded', { order_id: 'B-1', currency: 'EUR', refunds: [genericRefund('r', '50.00', 5)] }],
    ] as const) {
      const { became } = await shop.report(event, data);
      const reason = { field: 'currency', code: 'currency_mismatch', message: expect.stringContaining('USD') };
      expect(became).toMatchObject({ state: 'failed', reason });
    }
    expect(await balancesOf(app.context, shop.brand)).toEqual(SALE);
  });

  it('and an earlier refund in another one does not count', async () => {
    const shop = await openShop('generic');
    const early = { order_id: 'B-2', currency: 'EUR', refunds: [genericRefund('r', '50.00', 1)] };
    expect((await shop.report('order.refunded', early)).status).toBe(200);
    await shop.report('order.paid', genericAt(shop, 'B-2', 0));
    expect(await explain(shop, 'B-2')).toMatchObject({ refunds: [], commission: { commission: 10 } });
  });

  it('and a refund reported in two currencies counts in that of its order, whichever comes first', async () => {
    const shop = await openShop('generic');
    let orders = 0;
    for (const sequence of inEveryOrder(['right', 'wrong', 'order'])) {
      orders += 1;
      const id = `B-3-${orders}`;
      const reported: Record<string, [string, object]> = {
        right: ['order.refunded', { order_id: id, currency: 'USD', refunds: [genericRefund('r', '5.00', 1)] }],
        wrong: ['order.refunded', { order_id: id, currency: 'JPY', refunds: [genericRefund('r', '9000', 1)] }],
        order: ['order.paid', genericAt(shop, id, 0)],
      };
      for (const delivery of sequence) await shop.report(...(reported[delivery] ?? ['', {}]));
      expect(await explain(shop, id), sequence.join()).toMatchObject({
        ...{ refunds: [{ refund_id: 'r', amount: 5 }], commission: { commission: 9.5 } },
      });
    }
  });
});

describe('a delivery of a generic store', () => {
  it('with too many entries or a bad amount is refused by the name of the field', async () => {
    const shop = await openShop('generic');
    const fieldsOf = async (more: object) =>
      (await shop.report('order.paid', genericAt(shop, 'C-1', 0, more))).body.details.map(
        ({ field }: { field: string }) => field,
      );
    expect(await fieldsOf({ codes: Array.from({ length: 51 }, (_, i) => `CODE${i}`) })).toEqual(['data.codes']);
    expect(await fieldsOf({ click_ids: ['x'.repeat(501)] })).toEqual(['data.click_ids.0']);
    expect(await fieldsOf({ amount: '1.001', refunds: [genericRefund('r', '1.001', 1)] })).toEqual([
      ...['data.amount', 'data.refunds.0.amount'],
    ]);
    const dear = { amount: '10000000000.01', refunds: [genericRefund('r', '10000000000.01', 1)] };
    expect(await fieldsOf(dear)).toEqual(['data.amount', 'data.refunds.0.amount']);
    expect(await balancesOf(app.context, shop.brand)).toEqual({});
  });

  it.each([
    ['order.paid', 'paid_at', { paid_at: null }],
    ['order.cancelled', 'cancelled_at', {}],
    ['order.refunded', 'refunds', {}],
  ])('of %s says when: without %s it is refused', async (event, field, more) => {
    const shop = await openShop('generic');
    const { status, body } = await shop.report(event, genericAt(shop, 'C-3', 0, more));
    expect([status, body.details]).toMatchObject([422, [{ field: `data.${field}` }]]);
    expect(await balancesOf(app.context, shop.brand)).toEqual({});
  });

  it('gets an error that shows the value it sent', async () => {
    const shop = await openShop('generic');
    const late = genericAt(shop, 'C-2', 0, { paid_at: '9999-12-31T00:00:00Z' });
    const { body } = await shop.report('order.paid', late);
    expect(body.details).toMatchObject([{ field: 'data.paid_at', message: expect.stringContaining('9999') }]);
  });
});
