import type { Provider } from '../../../src/affiliates/stores/formats/provider.ts';
import type { TestStore } from '../../harness/affiliates/store.ts';
import type { Refund, Reported } from './model.ts';

/** How decimals are written: not asked of src/, which could be wrong. */
const DECIMALS: Readonly<Record<string, number>> = { USD: 2, EUR: 2, JPY: 0, KWD: 3 };

export const major = (minor: number, currency: string): number => minor / 10 ** (DECIMALS[currency] ?? 2);

export function decimal(minor: number, currency: string): string {
  const decimals = DECIMALS[currency] ?? 2;
  if (decimals === 0) return String(minor);
  const digits = String(Math.abs(minor)).padStart(decimals + 1, '0');
  return `${minor < 0 ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

const text = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
/** WooCommerce's GMT, which does not say so. */
const gmt = (ms: number): string => new Date(ms).toISOString().slice(0, -1);

/** What reaches us of one version of an order. */
export type StoreDelivery =
  | { kind: 'order'; topic: string; body: object; heard: Reported }
  | { kind: 'refund'; topic: string; body: object; heard: Pick<Reported, 'refunds' | 'updatedAt'> }
  | { kind: 'dispute'; topic: string; body: object; heard: NonNullable<Reported['dispute']> };

const genericRefunds = ({ refunds, currency }: Reported) =>
  refunds.map(({ id, amountMinor, at }) => ({ refund_id: id, amount: decimal(amountMinor, currency), at: text(at) }));

function genericOrder(reported: Reported, email: string | null): StoreDelivery[] {
  const { orderId: order_id, currency, updatedAt, dispute } = reported;
  const body = {
    ...{ order_id, currency, amount: decimal(reported.baseMinor, currency), placed_at: text(reported.occurredAt) },
    ...{ paid_at: text(reported.paidAt), cancelled_at: text(reported.cancelledAt), updated_at: text(updatedAt) },
    ...{ customer_email: email, codes: reported.codes, click_ids: reported.tokens, refunds: genericRefunds(reported) },
    ...{ test: reported.isTest, is_renewal: reported.isRenewal, dispute: dispute?.status ?? null },
  };
  const heard = { ...reported, dispute: dispute && { ...dispute, at: updatedAt } };
  return [{ kind: 'order', topic: 'order.updated', body, heard }];
}

function genericRefund(reported: Reported): StoreDelivery[] {
  const { orderId: order_id, currency } = reported;
  const body = { order_id, currency, refunds: genericRefunds(reported) };
  return [{ kind: 'refund', topic: 'order.refunded', body, heard: reported }];
}

const subtotal = (minor: number, currency: string) => {
  const amount = decimal(minor, currency);
  return { subtotal: amount, subtotal_set: { shop_money: { amount, currency_code: currency } } };
};

const shopifyRefund = ({ id, amountMinor, at, createdAt }: Refund, { orderId, currency }: Reported) => ({
  ...{ id, order_id: orderId, created_at: text(createdAt), processed_at: text(at) },
  refund_line_items: [
    { line_item_id: 1, ...subtotal(amountMinor, currency), total_tax: '0.00', line_item: { gift_card: false } },
    { line_item_id: 2, ...subtotal(700, currency), total_tax: '0.00', line_item: { gift_card: true } },
  ],
  order_adjustments: [{ kind: 'shipping_refund', amount: '-5.00', reason: 'Shipping refund' }],
});

const shopifyDispute = ({ orderId, occurredAt }: Reported, { status, at }: NonNullable<Reported['dispute']>) => ({
  ...{ id: `9${orderId}`, order_id: orderId, type: 'chargeback', amount: '1.00', currency: 'USD' },
  status: status === 'open' ? 'needs_response' : status,
  ...{ initiated_at: text(status === 'open' ? at : occurredAt), finalized_on: status === 'open' ? null : text(at) },
});

/** An order beside a gift card and a tip, which pay nobody; that it is paid is told without a time of its own. */
function shopifyOrder(reported: Reported, email: string | null): StoreDelivery[] {
  const { orderId: id, currency, baseMinor, updatedAt, dispute } = reported;
  const line = (lineId: number, minor: number, more: object = {}) => ({
    ...{ id: lineId, price: decimal(minor, currency), quantity: 1, gift_card: false, discount_allocations: [] },
    ...{ tax_lines: [], ...more },
  });
  const body = {
    ...{ id, currency, created_at: text(reported.occurredAt), updated_at: text(updatedAt), test: reported.isTest },
    ...{ cancelled_at: text(reported.cancelledAt), financial_status: reported.paidAt === null ? 'pending' : 'paid' },
    ...{ taxes_included: false, email, source_name: reported.isRenewal ? 'subscription_contract' : 'web', tags: '' },
    discount_codes: reported.codes.map((code) => ({ code, amount: '1.00', type: 'percentage' })),
    note_attributes: [...reported.tokens.map((value) => ({ name: 'click_id', value })), {}],
    line_items: [
      line(1, baseMinor + 100, { discount_allocations: [{ amount: decimal(100, currency) }] }),
      line(2, 5_000, { gift_card: true }),
      line(3, 300, { tip: { payment_gateway: null, payment_method: null }, tip_payment_gateway: null }),
    ],
    refunds: reported.refunds.map((refund) => shopifyRefund(refund, reported)),
  };
  const heard = { ...reported, dispute: null, paidAt: reported.paidAt === null ? null : updatedAt };
  const order: StoreDelivery = { kind: 'order', topic: 'orders/updated', body, heard };
  if (!dispute) return [order];
  const topic = 'disputes/update';
  return [order, { kind: 'dispute', topic, body: shopifyDispute(reported, dispute), heard: dispute }];
}

const shopifyRefunds = (reported: Reported): StoreDelivery[] =>
  reported.refunds.map((refund) => {
    const heard = { refunds: [refund], updatedAt: refund.createdAt };
    return { kind: 'refund', topic: 'refunds/create', body: shopifyRefund(refund, reported), heard };
  });

/** Half of the goods' price is a discount that a plug-in wrote as a fee; a cancellation is of the order's last change. */
function wooOrder(store: TestStore, reported: Reported, email: string | null): StoreDelivery[] {
  const { orderId: id, currency, baseMinor, updatedAt, refunds } = reported;
  const twice = (minor: number) => decimal(2 * minor, currency);
  store.refunds.set(
    id,
    refunds.map((refund) => ({
      ...{ id: refund.id, date_created_gmt: gmt(refund.at), amount: twice(refund.amountMinor) },
      line_items: [{ total: twice(-refund.amountMinor) }],
    })),
  );
  const status = reported.cancelledAt === null ? (reported.paidAt === null ? 'pending' : 'processing') : 'cancelled';
  const body = {
    ...{ id, currency, status, date_created_gmt: gmt(reported.occurredAt), date_modified_gmt: gmt(updatedAt) },
    ...{ date_paid_gmt: reported.paidAt === null ? null : gmt(reported.paidAt), total: decimal(baseMinor, currency) },
    billing: { email: email ?? '' },
    line_items: [{ total: twice(baseMinor) }],
    fee_lines: [{ total: decimal(-baseMinor, currency) }, { total: '1' }],
    coupon_lines: [...reported.codes.map((code) => ({ code })), {}],
    meta_data: [
      ...[{}, { key: 'click_id' }, ...reported.tokens.map((value) => ({ key: 'click_id', value }))],
      ...(reported.isRenewal ? [{ key: '_subscription_renewal', value: `7${id}` }] : []),
      { key: '_wcpay_mode', value: reported.isTest ? 'test' : 'prod' },
    ],
    refunds: refunds.map((refund) => ({ id: refund.id })),
  };
  const cancelledAt = reported.cancelledAt === null ? null : updatedAt;
  return [{ kind: 'order', topic: 'order.updated', body, heard: { ...reported, dispute: null, cancelledAt } }];
}

/** A version of an order as its store tells it, and what is to be heard of it. */
export function orderDeliveries(store: TestStore, reported: Reported, email: string | null): StoreDelivery[] {
  if (store.provider === 'shopify') return shopifyOrder(reported, email);
  return store.provider === 'woocommerce' ? wooOrder(store, reported, email) : genericOrder(reported, email);
}

/** Its refunds alone, where a store tells them so. */
export function refundDeliveries(provider: Provider, reported: Reported): StoreDelivery[] {
  if (reported.refunds.length === 0 || provider === 'woocommerce') return [];
  return provider === 'shopify' ? shopifyRefunds(reported) : genericRefund(reported);
}
