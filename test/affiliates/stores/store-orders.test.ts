import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getClient } from '../../../src/affiliates/stores/formats/clients.ts';
import type { PROVIDERS } from '../../../src/affiliates/stores/formats/provider.ts';
import { shopifyOrder, shopifyRefund } from '../../harness/affiliates/shopify-order.ts';
import { requested, signedDelivery, startStores } from '../../harness/affiliates/store.ts';
import { wooOrder } from '../../harness/affiliates/woo-order.ts';

let stores: Awaited<ReturnType<typeof startStores>>;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores?.close());

const get = (provider: string) => stores.get(provider);

const read = (provider: (typeof PROVIDERS)[number], topic: string, data: object) => {
  const { headers, body } = signedDelivery(provider, 's', topic, data);
  return getClient(provider).read({ headers, body: JSON.parse(body) }, requested(get(provider)));
};
const factsOf = async (...args: Parameters<typeof read>) => {
  const reading = await read(...args);
  if (reading?.kind !== 'order') throw new Error('This is no order.');
  return reading.facts;
};

describe('Shopify', () => {
  it('an order’s base is its goods: after line and order discounts, without tax and shipping', async () => {
    const lines = [
      { price: '199.99', quantity: 2, discounts: ['10.00', '5.55'], taxes: ['12.00', '3.33'] },
      { price: '0.10', quantity: 3, taxes: ['0.02'] },
    ];
    const at = new Date('2026-03-01T10:00:00.000Z');
    const order = shopifyOrder({
      ...{ id: 820982911946154, lines, at, codes: ['ANA10', 'second', 'ANA10'] },
      landingSite: '/?click_id=clk_b',
      noteAttributes: [
        { name: 'gift', value: 'yes' },
        { name: 'click_id', value: 'clk_a' },
      ],
    });
    expect(await factsOf('shopify', 'orders/create', order)).toEqual({
      ...{
        orderId: '820982911946154',
        orderNumber: '#6154',
        currency: 'USD',
        baseMinor: 39_998 - 1_555 + 30,
        occurredAt: at,
        paidAt: at,
      },
      ...{ cancelledAt: null, updatedAt: at, customerEmail: 'buyer@example.com', refunds: [], hasAllRefunds: true },
      ...{ isTest: false, kind: 'once', subscriptionId: null, previousSubscriptionId: null, dispute: null },
      ...{ customerId: '1', country: null },
      codes: ['ANA10', 'second'],
      clickIds: ['clk_a', 'clk_b'],
      items: [
        { lineId: '1', sku: null, title: 'Thing 1', quantity: 2, amountMinor: 39_998 - 1_555 },
        { lineId: '2', sku: null, title: 'Thing 2', quantity: 3, amountMinor: 30 },
      ],
      unpaidLines: [],
    });
  });

  it('an order’s base is exact for any lines, discounts and taxes', async () => {
    const cents = (minor: number) => `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`;
    const amount = fc.nat(99_999_999);
    const line = fc.record({ price: amount, quantity: fc.integer({ min: 1, max: 50 }), discount: amount, tax: amount });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 6 }), fc.boolean(), async (lines, taxesIncluded) => {
        const written = lines.map(({ price, quantity, discount, tax }) => ({
          ...{ price: cents(price), quantity, discounts: [cents(discount)], taxes: [cents(tax)] },
        }));
        const net = lines.map(({ price, quantity, discount, tax }) => {
          return price * quantity - discount - (taxesIncluded ? tax : 0);
        });
        const { baseMinor } = await factsOf('shopify', 'orders/paid', shopifyOrder({ lines: written, taxesIncluded }));
        expect(baseMinor).toBe(
          Math.max(
            0,
            net.reduce((sum, one) => sum + one, 0),
          ),
        );
      }),
    );
  });

  it('knows its customer by the id alone, as where the shop keeps addresses from apps', async () => {
    const lines = [{ price: '10.00' }];
    const order = { ...shopifyOrder({ lines }), email: null, contact_email: null, customer: { id: 901 } };
    expect(await factsOf('shopify', 'orders/paid', order)).toMatchObject({ customerId: '901', customerEmail: null });
  });

  it('a dispute that was lost is read, also where its end is a day alone', async () => {
    const dispute = { id: 5, order_id: 7, status: 'lost', initiated_at: '2026-03-01T10:00:00Z' };
    for (const finalized_on of [null, '2026-03-20', '2026-03-20T10:00:00Z'])
      expect(await read('shopify', 'disputes/update', { ...dispute, finalized_on })).toMatchObject({
        kind: 'dispute',
        facts: { orderId: '7', status: 'lost' },
      });
  });

  it('deducts the tax from prices that include it, also for refunds', async () => {
    const lines = [{ price: '119.00', discounts: ['11.90'], taxes: ['17.10'] }];
    const refund = shopifyRefund({ id: 7, lines: [{ subtotal: '107.10', tax: '17.10' }], currency: 'EUR' });
    const order = shopifyOrder({ currency: 'EUR', lines, taxesIncluded: true, refunds: [refund], status: 'refunded' });
    const facts = await factsOf('shopify', 'orders/updated', order);
    expect([facts.baseMinor, facts.refunds.map(({ amountMinor }) => amountMinor)]).toEqual([9_000, [9_000]]);
  });

  it.each([
    ['JPY', '1500', 1_500],
    ['KWD', '1.234', 1_234],
    ['USD', '0.01', 1],
  ])('an amount of %s is in its own decimals', async (currency, price, minor) => {
    expect((await factsOf('shopify', 'orders/paid', shopifyOrder({ currency, lines: [{ price }] }))).baseMinor).toBe(
      minor,
    );
  });

  it.each([
    ['pending', false],
    ['authorized', false],
    ['voided', false],
    ['paid', true],
    ['partially_refunded', true],
    ['refunded', true],
  ] as const)('an order that is %s was paid: %s', async (status, isPaid) => {
    expect((await factsOf('shopify', 'orders/updated', shopifyOrder({ status }))).paidAt !== null).toBe(isPaid);
  });

  it('a refund counts its goods, without tax and shipping; an amount without lines counts too', async () => {
    const at = new Date('2026-04-01T00:00:00.000Z');
    const refunds = [
      shopifyRefund({ id: 1, at, lines: [{ subtotal: '30.00', tax: '6.00' }, { subtotal: '0.10' }] }),
      shopifyRefund({ id: 2, at, adjustments: [{ amount: '-8.00', kind: 'shipping_refund' }] }),
      shopifyRefund({ id: 3, at, adjustments: [{ amount: '-5.00', kind: 'refund_discrepancy' }] }),
      shopifyRefund({
        id: 4,
        at,
        lines: [{ subtotal: '20.00' }],
        adjustments: [{ amount: '2.50', reason: 'Restock' }],
      }),
    ];
    expect((await factsOf('shopify', 'orders/updated', shopifyOrder({ refunds }))).refunds).toEqual([
      {
        ...{ refundId: '1', amountMinor: 3_010, at },
        items: [
          { lineId: '1', amountMinor: 3_000 },
          { lineId: '2', amountMinor: 10 },
        ],
      },
      { refundId: '3', amountMinor: 500, at, items: [] },
      { refundId: '4', amountMinor: 1_750, at, items: [{ lineId: '1', amountMinor: 2_000 }] },
    ]);
  });

  it('a refund alone is the same as in its order; the store is queried only if tax makes a difference', async () => {
    const store = get('shopify');
    store.taxesIncluded.add('42');
    const lines = [{ subtotal: '107.10', tax: '17.10' }];
    const amountOf = async (refund: object) => {
      const reading = await read('shopify', 'refunds/create', refund);
      return reading?.kind === 'refund' && [reading.facts.orderId, reading.facts.refunds[0]?.amountMinor];
    };
    expect(await amountOf(shopifyRefund({ orderId: 42, lines, currency: 'EUR' }))).toEqual(['42', 9_000]);
    expect(await amountOf(shopifyRefund({ orderId: 43, lines, currency: 'EUR' }))).toEqual(['43', 10_710]);
    const before = store.requests.length;
    expect(await amountOf(shopifyRefund({ orderId: 42, lines: [{ subtotal: '50' }], currency: 'JPY' }))).toEqual([
      '42',
      50,
    ]);
    expect(store.requests).toHaveLength(before);
    store.isForgetful = true;
    expect(await amountOf(shopifyRefund({ orderId: 42, lines, currency: 'EUR' }))).toEqual(['42', 10_710]);
    store.taxesIncluded.add('shop');
    expect(await amountOf(shopifyRefund({ orderId: 43, lines, currency: 'EUR' }))).toEqual(['43', 9_000]);
    store.isForgetful = false;
  });

  it('a refund’s sums are read as text if Shopify sends text, because its floats may have too many digits', async () => {
    const refund = shopifyRefund({ orderId: 44, lines: [{ subtotal: '41.49' }], currency: 'EUR' });
    const [line] = refund.refund_line_items;
    const reading = await read('shopify', 'refunds/create', {
      ...refund,
      refund_line_items: [{ ...line, subtotal: 41.489999999999995 }],
    });
    expect(reading).toMatchObject({ facts: { refunds: [{ amountMinor: 4_149 }] } });
  });
});

describe('WooCommerce', () => {
  it('an order’s base is its lines’ totals; times are GMT; codes keep their order', async () => {
    const order = wooOrder({
      ...{ id: 727, lines: ['29.35', '0.65'], total: '44.10', codes: ['ana10', 'b'], paidAt: '2026-03-22T16:28:08' },
      meta: [
        { key: '_wc_order_attribution_session_entry', value: 'https://shop.example/?click_id=clk_w' },
        { key: 'other', value: { nested: true } },
      ],
    });
    expect(await factsOf('woocommerce', 'order.created', order)).toEqual({
      ...{
        orderId: '727',
        orderNumber: '727',
        currency: 'USD',
        baseMinor: 3_000,
        cancelledAt: null,
        refunds: [],
        hasAllRefunds: true,
      },
      occurredAt: new Date('2026-03-22T16:28:02.000Z'),
      paidAt: new Date('2026-03-22T16:28:08.000Z'),
      updatedAt: new Date('2026-03-22T16:28:10.000Z'),
      customerEmail: 'john.doe@example.com',
      codes: ['ana10', 'b'],
      clickIds: ['clk_w'],
      items: [
        { lineId: '315', sku: null, title: 'Woo', quantity: 1, amountMinor: 2_935 },
        { lineId: '316', sku: null, title: 'Woo', quantity: 1, amountMinor: 65 },
      ],
      unpaidLines: [],
      ...{ isTest: false, kind: 'once', subscriptionId: null, previousSubscriptionId: null, dispute: null },
      ...{ customerId: null, country: null },
    });
  });

  it('refunds are requested from the store: the goods, or the goods’ share of an amount without lines', async () => {
    const store = get('woocommerce');
    const at = { date_created_gmt: '2026-04-01T00:00:00' };
    store.refunds.set('9', [
      { id: 1, ...at, amount: '11.00', line_items: [{ total: '-10.00', total_tax: '-1.00' }] },
      { id: 2, ...at, amount: '5.00', line_items: [], shipping_lines: [{ total: '-5.00' }] },
      { id: 3, ...at, amount: '44.10', line_items: [] },
    ]);
    const order = wooOrder({ id: 9, lines: ['30.00'], total: '44.10', refunds: [{ id: 1, total: '-11.00' }] });
    const date = new Date('2026-04-01T00:00:00.000Z');
    expect((await factsOf('woocommerce', 'order.updated', order)).refunds).toEqual([
      { refundId: '1', amountMinor: 1_000, at: date, items: [] },
      { refundId: '3', amountMinor: 3_000, at: date, items: [] },
    ]);
  });

  it.each([
    ['a line that was only put back into stock', '30.00', { line_items: [{ total: '0.00' }] }, 2_500],
    ['a line for a part of the amount', '42.00', { line_items: [{ total: '-30.00', total_tax: '-6.00' }] }, 3_500],
    [
      'a line, shipping and a fee for a part of the amount',
      '60.00',
      {
        line_items: [{ total: '-30.00', total_tax: '-6.00' }],
        shipping_lines: [{ total: '-5.00', total_tax: '-1.00' }],
        fee_lines: [{ total: '-5.00', total_tax: '-1.00' }],
      },
      4_000,
    ],
    ['a fee alone', '6.00', { fee_lines: [{ total: '-5.00', total_tax: '-1.00' }] }, undefined],
    ['lines that are more than the amount', '20.00', { line_items: [{ total: '-30.00' }] }, 3_000],
    [
      'a line, of a version that names no shipping',
      '42.00',
      { line_items: [{ total: '-30.00', total_tax: '-6.00' }], shipping_lines: undefined },
      3_000,
    ],
  ])(
    'a refund of %s counts the goods that it names and the goods’ share of the rest',
    async (_what, amount, more, minor) => {
      const at = '2026-04-01T00:00:00';
      const refund = {
        id: 1,
        date_created_gmt: at,
        amount,
        line_items: [],
        shipping_lines: [],
        fee_lines: [],
        ...more,
      };
      get('woocommerce').refunds.set('9', [refund]);
      const order = wooOrder({ id: 9, lines: ['100.00'], total: '120.00', refunds: [{ id: 1, total: `-${amount}` }] });
      const { refunds } = await factsOf('woocommerce', 'order.updated', order);
      expect(refunds.map(({ amountMinor }) => amountMinor)).toEqual(minor === undefined ? [] : [minor]);
    },
  );

  it('an unpaid order has no time of payment; a cancelled one has its own; a draft is ignored', async () => {
    expect(await factsOf('woocommerce', 'order.updated', wooOrder({ status: 'on-hold' }))).toMatchObject({
      paidAt: null,
    });
    expect(await factsOf('woocommerce', 'order.updated', wooOrder({ status: 'cancelled' }))).toMatchObject({
      cancelledAt: new Date('2026-03-22T16:28:10.000Z'),
    });
    expect(await read('woocommerce', 'order.created', wooOrder({ status: 'checkout-draft' }))).toBeUndefined();
  });

  it('returns every refund of an order, however many, or none if there are more than requested', async () => {
    const store = get('woocommerce');
    const made = (count: number) =>
      Array.from({ length: count }, (_, i) => ({
        ...{ id: i + 1, date_created_gmt: '2026-04-01T00:00:00', amount: '0.01' },
        line_items: [{ total: '-0.01' }],
      }));
    const ask = async (count: number) => {
      store.refunds.set('9', made(count));
      const before = store.requests.length;
      const order = wooOrder({ id: 9, refunds: [{ id: 1, total: '-0.01' }] });
      const ids = await factsOf('woocommerce', 'order.updated', order).then(
        ({ refunds }) => new Set(refunds.map(({ refundId }) => refundId)).size,
        ({ code }) => code,
      );
      return [ids, store.requests.length - before];
    };
    expect(await ask(99)).toEqual([99, 1]);
    expect(await ask(100)).toEqual([100, 2]);
    expect(await ask(250)).toEqual([250, 3]);
    expect(await ask(5_001)).toEqual(['SERVICE_UNAVAILABLE', 50]);
  });
});

describe('a generic store', () => {
  const data = {
    ...{ order_id: 'A-1', currency: 'KWD', amount: '12.345', placed_at: '2026-03-01T10:00:00+03:00' },
    ...{ paid_at: null, cancelled_at: null, updated_at: '2026-03-01T08:00:00Z', customer_email: null },
    ...{
      codes: ['ANA'],
      click_ids: ['clk_0.clk_1'],
      refunds: [{ refund_id: 'r1', amount: 1.5, at: '2026-03-02T00:00:00Z' }],
    },
  };

  it('sends the whole order with every event', async () => {
    expect(await factsOf('generic', 'order.created', data)).toEqual({
      ...{
        orderId: 'A-1',
        orderNumber: null,
        currency: 'KWD',
        baseMinor: 12_345,
        paidAt: null,
        cancelledAt: null,
        customerEmail: null,
      },
      occurredAt: new Date('2026-03-01T07:00:00.000Z'),
      updatedAt: new Date('2026-03-01T08:00:00.000Z'),
      codes: ['ANA'],
      clickIds: ['clk_0', 'clk_1'],
      refunds: [{ refundId: 'r1', amountMinor: 1_500, at: new Date('2026-03-02T00:00:00.000Z'), items: [] }],
      items: undefined,
      hasAllRefunds: true,
      ...{ isTest: false, kind: 'once', subscriptionId: null, previousSubscriptionId: null, dispute: null },
      ...{ customerId: null, country: null },
    });
  });

  it('may send a refund alone', async () => {
    const { order_id, currency, refunds } = data;
    expect(await read('generic', 'order.refunded', { order_id, currency, refunds })).toMatchObject({
      kind: 'refund',
      facts: { orderId: 'A-1', refunds: [{ refundId: 'r1', amountMinor: 1_500 }] },
    });
  });

  it.each([
    { amount: undefined },
    { amount: '1.2345' },
    { amount: -1 },
    { amount: 1e21 },
    { currency: 'XXQ' },
    { placed_at: 'yesterday' },
    { order_id: '' },
    { refunds: [{ refund_id: 'r', amount: '0.0001', at: '2026-03-02T00:00:00Z' }] },
  ])('%j is not read', async (wrong) => {
    await expect(read('generic', 'order.created', { ...data, ...wrong })).rejects.toMatchObject({ name: 'ZodError' });
  });
});
