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
    // A list would need the permission to read customers for their ids.
    const facts = byWebhook?.kind === 'order' ? { ...byWebhook.facts, customerId: null } : undefined;
    expect(await read(listed, requested(store))).toEqual({ ...byWebhook, facts });
    expect(page?.cursor).toBeNull();
  },
);
