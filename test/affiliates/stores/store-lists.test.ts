import { afterAll, beforeAll, expect, it } from 'vitest';
import { getClient } from '../../../src/affiliates/stores/formats/clients.ts';
import { orderNumber, type ShopifyOrder, shopifyOrder, shopifyRefund } from '../../harness/affiliates/shopify-order.ts';
import { requested, startStore, type TestStore } from '../../harness/affiliates/store.ts';

const { listOrders, read } = getClient('shopify');
const at = new Date('2026-11-20T10:00:00Z');

let store: TestStore;
beforeAll(async () => {
  store = await startStore('shopify');
});
afterAll(() => store?.close());

/** One line of each kind that money is decided by. */
const KINDS = [
  { title: 'Gift card', gift_card: true, requires_shipping: false },
  { title: 'Tip', tip_payment_gateway: null, requires_shipping: false },
] as const;

function withKinds(order: ReturnType<typeof shopifyOrder>) {
  const [line] = order.line_items;
  const more = KINDS.map((kind, i) => ({ ...line, id: 100 + i, price: '7.00', ...kind }));
  return { ...order, line_items: [...order.line_items, ...more] };
}

const ORDERS: Record<string, ShopifyOrder> = {
  'plain goods': {},
  'discounts and a code': { lines: [{ price: '40.00', quantity: 3, discounts: ['5.50', '1.00'] }], codes: ['ANA10'] },
  'taxes in its prices': { taxesIncluded: true, lines: [{ price: '12.10', taxes: ['2.10', '0.35'] }] },
  'a click in its landing page': { landingSite: '/products/hat?click_id=abc&utm_source=x' },
  'a click in its attributes': { noteAttributes: [{ name: 'click_id', value: 'def' }] },
  'a country, a customer, a product and its variant': {
    ...{ shippedTo: 'DE', billedTo: 'AT', customerId: 77 },
    lines: [{ price: '100.00', productId: 1, variantId: 2 }],
  },
  'a country of its bill only': { billedTo: 'AT' },
  'no customer': { email: null },
  'an address that only its customer has': { email: null, customerEmail: 'till@example.com', customerId: 78 },
  'a part of an amount that is tax and shipping': {
    total: '130.00',
    lines: [{ price: '100.00', taxes: ['20.00'] }],
    refunds: [shopifyRefund({ at, adjustments: [{ amount: '-13.00', reason: 'Refund discrepancy' }] })],
  },
  'a refund that happened before it was entered': {
    refunds: [shopifyRefund({ at, processedAt: new Date('2026-11-18T10:00:00Z'), lines: [{ subtotal: '30.00' }] })],
  },
  'no payment yet': { status: 'pending' },
  'a cancellation': { cancelledAt: new Date('2026-11-20T11:00:00Z') },
  'refunds of lines, with tax, of an amount and of shipping': {
    taxesIncluded: true,
    lines: [{ price: '50.00', quantity: 2, taxes: ['16.67'] }],
    refunds: [
      shopifyRefund({ at, lines: [{ subtotal: '50.00', tax: '8.33' }] }),
      shopifyRefund({
        at,
        adjustments: [{ amount: '-4.20', kind: 'refund_discrepancy', reason: 'Refund discrepancy' }],
      }),
      shopifyRefund({ at, adjustments: [{ amount: '-7.50', kind: 'shipping_refund', reason: 'Shipping refund' }] }),
      shopifyRefund({ at, adjustments: [{ amount: '-9.00', reason: 'Pending refund discrepancy' }] }),
    ],
  },
};

it.each(Object.entries(ORDERS))(
  'An order of Shopify with %s is read from a list as from its webhook',
  async (_what, order) => {
    const id = orderNumber();
    const body = withKinds(shopifyOrder({ at, id, ...order }));
    store.orders = new Map([[String(id), body]]);
    const page = await listOrders(requested(store), { since: new Date(0), cursor: null });
    const [listed] = page?.orders ?? [];
    if (!listed) throw new Error('The order is not listed.');
    const byWebhook = await read({ headers: { 'x-shopify-topic': 'orders/updated' }, body }, requested(store));
    expect(await read(listed, requested(store))).toEqual(byWebhook);
    expect(page?.cursor).toBeNull();
  },
);

it('An order of Shopify is listed without the customer and the addresses that the token may not read', async () => {
  const id = orderNumber();
  store.orders = new Map([[String(id), shopifyOrder({ at, id, shippedTo: 'DE', customerId: 77 })]]);
  store.listing.isWithoutCustomers = true;
  const page = await listOrders(requested(store), { since: new Date(0), cursor: null });
  store.listing.isWithoutCustomers = false;
  const [listed] = page?.orders ?? [];
  if (!listed) throw new Error('The order is not listed.');
  const facts = { orderId: String(id), baseMinor: 10_000, customerId: null, country: null };
  expect(await read(listed, requested(store))).toMatchObject({ facts });
});

it('An amount that Shopify refunds without lines counts the goods’ share, alone and in its order', async () => {
  const id = orderNumber();
  // Of 130.00, 20.00 are tax and 10.00 shipping.
  const sold = { at, id, total: '130.00', lines: [{ price: '100.00', taxes: ['20.00'] }] };
  const refunds = [
    shopifyRefund({ id: 7, orderId: id, at, adjustments: [{ amount: '-13.00', reason: 'Refund discrepancy' }] }),
    shopifyRefund({ id: 8, orderId: id, at, adjustments: [{ amount: '-10.00', kind: 'shipping_refund' }] }),
  ];
  const body = shopifyOrder({ ...sold, refunds });
  store.orders = new Map([[String(id), body]]);
  const facts = { refunds: [{ refundId: '7', amountMinor: 1_000, at }] };
  const inOrder = await read({ headers: { 'x-shopify-topic': 'orders/updated' }, body }, requested(store));
  expect(inOrder).toMatchObject({ facts });
  const alone = { headers: { 'x-shopify-topic': 'refunds/create' }, body: refunds[0] };
  expect(await read(alone, requested(store))).toMatchObject({ facts });
  // A webhook of some fields only says what its lines cost with tax: 120.00.
  const { total_price: _total, ...withoutTotal } = { total_price: '', ...body };
  const some = { headers: { 'x-shopify-topic': 'orders/updated' }, body: withoutTotal };
  expect(await read(some, requested(store))).toMatchObject({ facts: { refunds: [{ amountMinor: 1_083 }] } });
  // The order that the shop no longer shows says nothing of its tax.
  store.orders = new Map();
  expect(await read(alone, requested(store))).toMatchObject({ facts: { refunds: [{ amountMinor: 1_300 }] } });
});
