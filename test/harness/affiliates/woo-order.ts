interface WooOrder {
  id?: number;
  status?: string;
  currency?: string;
  /** Totals after discounts, without tax. */
  lines?: string[];
  total?: string;
  codes?: string[];
  paidAt?: string | null;
  /** Of its last change, GMT. */
  modifiedAt?: string;
  email?: string;
  meta?: { key: string; value: unknown }[];
  refunds?: { id: number; total: string }[];
}

/** An order as WooCommerce's order webhooks carry it: 100.00 USD and shipping, not paid unless told otherwise. */
export function wooOrder(order: WooOrder = {}) {
  const { id = 723, status = 'processing', currency = 'USD', lines = ['100.00'], total = '110.00' } = order;
  const { modifiedAt = '2026-03-22T16:28:10' } = order;
  return {
    id,
    parent_id: 0,
    number: String(id),
    order_key: 'wc_order_58d2d042d1d',
    created_via: 'checkout',
    version: '9.4.0',
    status,
    currency,
    date_created: '2026-03-22T13:28:02',
    date_created_gmt: '2026-03-22T16:28:02',
    date_modified: modifiedAt,
    date_modified_gmt: modifiedAt,
    date_paid: null,
    date_paid_gmt: order.paidAt ?? null,
    discount_total: '0.00',
    shipping_total: '10.00',
    total,
    total_tax: '4.10',
    prices_include_tax: true,
    billing: { first_name: 'John', last_name: 'Doe', email: order.email ?? 'john.doe@example.com' },
    meta_data: (order.meta ?? []).map((meta, i) => ({ id: i + 1, ...meta })),
    line_items: lines.map((line, i) => ({
      id: 315 + i,
      name: 'Woo',
      quantity: 1,
      subtotal: line,
      total: line,
      total_tax: '1.35',
      taxes: [{ id: 75, total: '1.35', subtotal: '1.35' }],
    })),
    shipping_lines: [{ id: 317, method_title: 'Flat Rate', total: '10.00', total_tax: '0.00' }],
    fee_lines: [],
    coupon_lines: (order.codes ?? []).map((code, i) => ({ id: i + 1, code, discount: '5.00', discount_tax: '0.00' })),
    refunds: (order.refunds ?? []).map((refund) => ({ reason: '', ...refund })),
  };
}
