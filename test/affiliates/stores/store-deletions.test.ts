import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Provider } from '../../../src/affiliates/stores/formats/provider.ts';
import { balancesOf } from '../../harness/affiliates/sales.ts';
import { gmt, minute, openShop as openShopAt, orderedAt } from '../../harness/affiliates/shop.ts';
import { orderNumber, shopifyOrder } from '../../harness/affiliates/shopify-order.ts';
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

/** Without a hold. */
async function openShop(provider: Provider) {
  const shop = await openShopAt(app, provider, { holdDays: 0 });
  stores.push(shop.store);
  const key = await shop.brand.key('brand');
  const { code, email } = shop.assignment;
  const explain = (orderId: number) => call(`${app.url}/v1/affiliates/explain?order_id=${orderId}`, key);
  return { ...shop, key, code, email, explain };
}
type Shop = Awaited<ReturnType<typeof openShop>>;

/** An order of 100.00 as WooCommerce has it from a minute on. */
const wooAt = ({ code }: Shop, id: number, status: string, from: number, paidAt: string | null = gmt(orderedAt)) =>
  wooOrder({ id, status, codes: [code], paidAt, modifiedAt: gmt(minute(from)) });

/** WooCommerce tells that the order was deleted, and has it like this when it is asked. */
async function reportDeleted({ store, report }: Shop, order: ReturnType<typeof wooOrder>) {
  store.orders.set(String(order.id), order);
  return (await report('order.deleted', { id: order.id })).became?.state;
}

async function standingOf({ explain }: Shop, orderId: number) {
  const { cancelled_at, commission } = (await explain(orderId)).body.data;
  return { cancelled_at, status: commission.status, note: commission.status_note, owed: commission.commission };
}

const SALE = { customers: 10_000, sales: -10_000, commission_expense: 1_000, commission_pending: -1_000 };

describe('an order in WooCommerce’s trash', () => {
  it.each([
    ['a paid', gmt(orderedAt), 'order_refunded', { sales: -10_000, sales_refunds: 10_000 }],
    ['an unpaid', null, 'order_cancelled', {}],
  ])('is as one that was cancelled then: %s one’s commission is rejected, its sale stays', async (...row) => {
    const [, paidAt, note, balances] = row;
    const shops = [await openShop('woocommerce'), await openShop('woocommerce')] as const;
    const id = orderNumber();
    for (const shop of shops) await shop.report('order.created', wooAt(shop, id, 'processing', 0, paidAt));
    const [cancelled, trashed] = shops;
    await cancelled.report('order.updated', wooAt(cancelled, id, 'cancelled', 5, paidAt));
    expect(await reportDeleted(trashed, wooAt(trashed, id, 'trash', 5, paidAt))).toBe('done');
    for (const shop of shops) {
      expect(await standingOf(shop, id)).toMatchObject({
        ...{ cancelled_at: minute(5).toISOString(), status: 'rejected', note },
      });
      expect(await balancesOf(app.context, shop.brand)).toEqual(balances);
    }
  });

  it('that was restored before its deletion was reported is not cancelled', async () => {
    const shop = await openShop('woocommerce');
    const id = orderNumber();
    await shop.report('order.created', wooAt(shop, id, 'processing', 0));
    expect(await reportDeleted(shop, wooAt(shop, id, 'processing', 7))).toBe('done');
    expect(await standingOf(shop, id)).toMatchObject({ cancelled_at: null, status: 'pending' });
    expect(await balancesOf(app.context, shop.brand)).toEqual(SALE);
  });

  it('takes back its paid commission until it is restored', async () => {
    const shop = await openShop('woocommerce');
    const { key, email, explain } = shop;
    const id = orderNumber();
    await shop.report('order.created', wooAt(shop, id, 'processing', 0));
    const { commission } = (await explain(id)).body.data;
    await send(`${app.url}/v1/commissions`, key, 'POST', { status: 'approved', event_id: commission.id });
    const requested = { creator_email: email, amount: 10, method: 'manual' };
    const payout = (await send(`${app.url}/v1/payouts`, key, 'POST', requested)).body.data;
    await send(`${app.url}/v1/payouts/${payout.id}`, key, 'PATCH', { status: 'paid' });
    const paid = await balancesOf(app.context, shop.brand);
    for (const _twice of [1, 2]) await reportDeleted(shop, wooAt(shop, id, 'trash', 5));
    expect((await explain(id)).body.data.commission).toMatchObject({
      status: 'paid',
      adjustments: [{ cause: 'cancelled', amount: 10, at: minute(5).toISOString() }],
    });
    await shop.report('order.restored', wooAt(shop, id, 'processing', 7));
    expect((await explain(id)).body.data.commission).toMatchObject({ status: 'paid', adjustments: [] });
    expect(await balancesOf(app.context, shop.brand)).toEqual(paid);
  });

  it('waits for the store when it does not answer', async () => {
    const shop = await openShop('woocommerce');
    const id = orderNumber();
    await shop.report('order.created', wooAt(shop, id, 'processing', 0));
    const trashed = wooAt(shop, id, 'trash', 5);
    for (const status of [500, 401]) {
      shop.store.failWith = status;
      expect(await reportDeleted(shop, trashed)).toBe('waiting');
      expect(await standingOf(shop, id)).toMatchObject({ status: 'pending' });
    }
    shop.store.failWith = undefined;
    expect(await reportDeleted(shop, trashed)).toBe('done');
    expect(await standingOf(shop, id)).toMatchObject({ status: 'rejected' });
  });
});

it('a cancellation at WooCommerce ends with a newer delivery without it, not with one of the same second or an older one', async () => {
  const shop = await openShop('woocommerce');
  for (const [from, status] of [
    [4, 'rejected'],
    [5, 'rejected'],
    [6, 'pending'],
  ] as const) {
    const id = orderNumber();
    await shop.report('order.updated', wooAt(shop, id, 'cancelled', 5));
    await shop.report('order.updated', wooAt(shop, id, 'processing', from));
    expect(await standingOf(shop, id), `${from}`).toMatchObject({ status });
  }
});

it('a cancellation at WooCommerce, which reports no time for it, keeps its first time despite later edits', async () => {
  const shop = await openShop('woocommerce');
  for (const sequence of inEveryOrder([0, 5, 9, 12])) {
    const id = orderNumber();
    for (const from of sequence) {
      await shop.report('order.updated', wooAt(shop, id, from === 0 ? 'processing' : 'cancelled', from));
    }
    expect(await standingOf(shop, id), sequence.join()).toMatchObject({
      ...{ cancelled_at: minute(5).toISOString(), status: 'rejected' },
    });
  }
});

it('an order does not count as deleted after a 404 of WordPress itself: it is requested again', async () => {
  const shop = await openShop('woocommerce');
  const id = orderNumber();
  await shop.report('order.created', wooAt(shop, id, 'processing', 0));
  shop.store.failWith = 404;
  expect((await shop.report('order.deleted', { id })).became).toMatchObject({ state: 'waiting' });
  expect(await standingOf(shop, id)).toMatchObject({ status: 'pending' });
});

it('an order that Shopify deleted stays deleted, even if the store’s clock is ahead of ours', async () => {
  const shop = await openShop('shopify');
  const inAMinute = (Date.now() - orderedAt.getTime()) / 60_000 + 1;
  for (const sequence of inEveryOrder(['placed', 'deleted', 'edited'])) {
    const id = orderNumber();
    const orderAt = (from: number) => shopifyOrder({ id, codes: [shop.code], at: orderedAt, updatedAt: minute(from) });
    const reported: Record<string, [string, object]> = {
      placed: ['orders/create', orderAt(0)],
      deleted: ['orders/delete', { id }],
      edited: ['orders/updated', orderAt(inAMinute)],
    };
    for (const delivery of sequence) await shop.report(...(reported[delivery] ?? ['', {}]));
    expect(await standingOf(shop, id), sequence.join()).toMatchObject({ status: 'rejected' });
  }
});

const KINDS = {
  woocommerce: {
    deleted: 'order.deleted',
    updated: 'order.updated',
    orderAt: (shop: Shop, id: number, from: number) => wooAt(shop, id, 'processing', from),
  },
  shopify: {
    deleted: 'orders/delete',
    updated: 'orders/updated',
    orderAt: ({ code }: Shop, id: number, from: number) =>
      shopifyOrder({ id, codes: [code], at: orderedAt, updatedAt: minute(from) }),
  },
} as const;

describe.each(['woocommerce', 'shopify'] as const)('an order that %s no longer has', (provider) => {
  const { deleted, updated, orderAt } = KINDS[provider];

  it('is cancelled, and stays so at its time despite repeated and late reports', async () => {
    const shop = await openShop(provider);
    const id = orderNumber();
    await shop.report(updated, orderAt(shop, id, 0));
    expect((await shop.report(deleted, { id })).status).toBe(200);
    const cancelled = await standingOf(shop, id);
    expect(cancelled).toMatchObject({ cancelled_at: expect.any(String), status: 'rejected', owed: 0 });
    for (const [topic, data] of [
      [updated, orderAt(shop, id, 3)],
      [deleted, { id }],
      [updated, orderAt(shop, id, 0)],
    ] as const) {
      expect((await shop.report(topic, data)).status).toBe(200);
      expect(await standingOf(shop, id)).toEqual(cancelled);
    }
    expect(await balancesOf(app.context, shop.brand)).toEqual({ sales: -10_000, sales_refunds: 10_000 });
  });

  it('is cancelled even if our clock is behind the store’s', async () => {
    const shop = await openShop(provider);
    const id = orderNumber();
    const ahead = (Date.now() - orderedAt.getTime()) / 60_000 + 30;
    await shop.report(updated, orderAt(shop, id, ahead));
    await shop.report(deleted, { id });
    expect(await standingOf(shop, id)).toMatchObject({ status: 'rejected' });
  });

  it('and that was never reported is acknowledged; a later report records it as cancelled, and it pays nobody', async () => {
    const shop = await openShop(provider);
    const id = orderNumber();
    const { status, body } = await shop.report(deleted, { id });
    expect([status, body]).toEqual([200, { received: true }]);
    expect((await shop.explain(id)).status).toBe(404);
    expect(await balancesOf(app.context, shop.brand)).toEqual({});
    for (const from of [0, 3, 0]) {
      await shop.report(updated, orderAt(shop, id, from));
      expect(await standingOf(shop, id)).toMatchObject({
        cancelled_at: expect.any(String),
        status: 'rejected',
        owed: 0,
      });
    }
    expect(await balancesOf(app.context, shop.brand)).toEqual({ sales: -10_000, sales_refunds: 10_000 });
  });

  it('must be named by its id, or its delivery fails', async () => {
    const shop = await openShop(provider);
    const { became } = await shop.report(deleted, {});
    expect(became).toMatchObject({ state: 'failed', reason: { field: 'id' } });
  });
});
