import { randomInt } from 'node:crypto';

interface Line {
  price: string;
  productId?: number;
  variantId?: number;
  quantity?: number;
  /** The line's share of each discount, order-wide ones included. */
  discounts?: string[];
  taxes?: string[];
}

export interface ShopifyOrder {
  id?: number;
  currency?: string;
  lines?: Line[];
  taxesIncluded?: boolean;
  status?: 'pending' | 'authorized' | 'paid' | 'partially_refunded' | 'refunded' | 'voided';
  at?: Date;
  updatedAt?: Date;
  cancelledAt?: Date | null;
  email?: string | null;
  customerId?: number;
  /** The address of a customer whose order has none, as of a sale at a till. */
  customerEmail?: string;
  codes?: string[];
  landingSite?: string | null;
  noteAttributes?: { name: string; value: string }[];
  refunds?: object[];
  /** What the customer paid, with shipping and tax. Left out by default, as by a webhook of some fields only. */
  total?: string;
  shippedTo?: string;
  billedTo?: string;
}

export const orderNumber = (): number => randomInt(1_000_000_000, 9_999_999_999);

const set = (amount: string, currency: string) => ({
  shop_money: { amount, currency_code: currency },
  presentment_money: { amount, currency_code: currency },
});

/** A refund as it stands in an order and, with `order_id`, in `refunds/create`. */
export function shopifyRefund(refund: {
  id?: number;
  orderId?: number;
  lines?: { subtotal: string; tax?: string }[];
  adjustments?: { amount: string; kind?: string; reason?: string }[];
  currency?: string;
  at?: Date;
  /** The refund happened before it was entered. */
  processedAt?: Date;
}) {
  const { id = orderNumber(), orderId = 0, lines = [], adjustments = [], currency = 'USD', at = new Date() } = refund;
  return {
    id,
    order_id: orderId,
    created_at: at.toISOString(),
    processed_at: (refund.processedAt ?? at).toISOString(),
    note: null,
    restock: true,
    refund_line_items: lines.map(({ subtotal, tax = '0.00' }, i) => ({
      id: i + 1,
      quantity: 1,
      line_item_id: i + 1,
      restock_type: 'return',
      subtotal: Number(subtotal),
      total_tax: Number(tax),
      subtotal_set: set(subtotal, currency),
      total_tax_set: set(tax, currency),
    })),
    order_adjustments: adjustments.map((adjustment, i) => ({ id: i + 1, tax_amount: '0.00', ...adjustment })),
    transactions: [],
  };
}

function lineItem(line: Line, i: number, currency: string) {
  const { price, quantity = 1, discounts = [], taxes = [], productId = null, variantId = null } = line;
  return {
    id: i + 1,
    product_id: productId,
    variant_id: variantId,
    title: `Thing ${i + 1}`,
    price,
    price_set: set(price, currency),
    quantity,
    total_discount: '0.00',
    discount_allocations: discounts.map((amount, index) => ({
      amount,
      amount_set: set(amount, currency),
      discount_application_index: index,
    })),
    tax_lines: taxes.map((amount) => ({ title: 'Tax', rate: 0.2, price: amount, price_set: set(amount, currency) })),
    gift_card: false,
    requires_shipping: true,
  };
}

/** An order as Shopify's order webhooks carry it: 100.00 USD, paid, unless told otherwise. */
export function shopifyOrder(order: ShopifyOrder = {}) {
  const { id = orderNumber(), currency = 'USD', lines = [{ price: '100.00' }], at = new Date() } = order;
  const { status = 'paid', updatedAt = at, cancelledAt = null, email = 'buyer@example.com', codes = [] } = order;
  return {
    id,
    admin_graphql_api_id: `gid://shopify/Order/${id}`,
    name: `#${id % 10_000}`,
    currency,
    presentment_currency: currency,
    created_at: at.toISOString(),
    processed_at: at.toISOString(),
    updated_at: updatedAt.toISOString(),
    cancelled_at: cancelledAt?.toISOString() ?? null,
    financial_status: status,
    taxes_included: order.taxesIncluded ?? false,
    email: email ?? '',
    contact_email: email,
    customer:
      email === null && order.customerEmail === undefined
        ? null
        : { id: order.customerId ?? 1, email: order.customerEmail ?? email },
    landing_site: order.landingSite ?? null,
    referring_site: null,
    note_attributes: order.noteAttributes ?? [],
    discount_codes: codes.map((code) => ({ code, amount: '10.00', type: 'percentage' })),
    discount_applications: [],
    line_items: lines.map((line, i) => lineItem(line, i, currency)),
    shipping_lines: [{ id: 1, price: '7.50', discounted_price: '7.50', tax_lines: [] }],
    refunds: order.refunds ?? [],
    test: false,
    ...(order.total === undefined ? {} : { total_price: order.total }),
    shipping_address: order.shippedTo === undefined ? null : { country_code: order.shippedTo },
    billing_address: order.billedTo === undefined ? null : { country_code: order.billedTo },
  };
}
