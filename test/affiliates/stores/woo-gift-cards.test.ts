import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gmt, minute, openShop, orderedAt, type Shop } from '../../harness/affiliates/shop.ts';
import { orderNumber, shopifyOrder } from '../../harness/affiliates/shopify-order.ts';
import { wooOrder } from '../../harness/affiliates/woo-order.ts';
import { call, startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
let shop: Shop;
beforeAll(async () => {
  app = await startApp();
  shop = await openShop(app, 'woocommerce', { holdDays: 0 });
});
afterAll(async () => {
  await shop?.store.close();
  await app?.close();
});

async function explain({ brand }: Shop, orderId: string | number) {
  const key = await brand.key('brand');
  return (await call(`${app.url}/v1/affiliates/explain?order_id=${orderId}`, key)).body.data;
}

const placed = (id: number, order: Parameters<typeof wooOrder>[0] = {}) =>
  wooOrder({ id, codes: [shop.assignment.code], paidAt: gmt(orderedAt), modifiedAt: gmt(minute(1)), ...order });

describe('An order at WooCommerce', () => {
  it.each([
    ['40.00', 6],
    ['10.00', 9],
  ])('of which a gift card paid 60.00 gives back no more than the %s refunded', async (amount, commission) => {
    const id = orderNumber();
    shop.store.refunds.set(String(id), [{ id: 726, date_created_gmt: gmt(minute(2)), amount, line_items: [] }]);
    const order = placed(id, { total: '40.00', refunds: [{ id: 726, total: `-${amount}` }] });
    await shop.report('order.updated', order);
    expect((await explain(shop, id)).commission.commission).toBe(commission);
  });

  it.each(['wc_gc_giftcard_to_multiple', 'pw_gift_card_number', '_ywgc_gift_card_code'])(
    'pays nothing for a gift card that was bought in it (%s), and its refund takes nothing back',
    async (key) => {
      const id = orderNumber();
      const order = placed(id, { lines: ['100.00', '50.00'], total: '160.00' });
      const line_items = order.line_items.map((line, place) =>
        place === 1 ? { ...line, meta_data: [{ id: 1, key, value: 'x@mail.example' }] } : line,
      );
      await shop.report('order.created', { ...order, line_items });
      expect(await explain(shop, id)).toMatchObject({
        amount: 100,
        commission: { commission: 10 },
        items: [{ amount_minor: 10_000 }],
        unpaid_lines: [{ kind: 'gift_card', amount: 50 }],
      });
      const meta_data = [{ key: '_refunded_item_id', value: '316' }];
      shop.store.refunds.set(String(id), [
        {
          id: 727,
          date_created_gmt: gmt(minute(2)),
          amount: '50.00',
          line_items: [{ id: 9, total: '-50.00', meta_data }],
        },
      ]);
      const refunds = [{ id: 727, total: '-50.00' }];
      await shop.report('order.updated', { ...order, line_items, refunds, date_modified_gmt: gmt(minute(3)) });
      expect(await explain(shop, id)).toMatchObject({ commission: { commission: 10 }, refunds: [] });
    },
  );

  it('whose payment failed is cancelled until it is paid after all', async () => {
    const id = orderNumber();
    await shop.report('order.updated', placed(id, { status: 'failed', paidAt: null }));
    expect((await explain(shop, id)).commission.status).toBe('rejected');
    await shop.report('order.updated', placed(id, { modifiedAt: gmt(minute(4)) }));
    expect((await explain(shop, id)).commission).toMatchObject({ status: 'pending', commission: 10 });
  });
});

it.each(['voided', 'expired'])('An order at Shopify whose payment is %s is cancelled', async (financial_status) => {
  const other = await openShop(app, 'shopify', { holdDays: 0 });
  const id = orderNumber();
  const order = { ...shopifyOrder({ id, codes: [other.assignment.code] }), financial_status };
  await other.report('orders/updated', order);
  expect((await explain(other, id)).commission.status).toBe('rejected');
  await other.store.close();
});
