import { readReportedAddress } from '../../../kit/values/email.ts';
import { findNamedLines } from '../../../kit/values/named-lines.ts';
import { readGenericKind } from '../../terms/kinds.ts';
import { uniqueClicks, uniqueCodes } from './click.ts';
import type { ItemFacts, OrderFacts, RefundedItem, RefundFacts } from './facts.ts';
import {
  Envelope,
  EVENTS,
  type GenericOrder,
  GenericStoreCoupon,
  GenericStoreInfo,
  Message,
  Placed,
} from './generic.shapes.ts';
import { listGenericOrders } from './generic-list.ts';
import { findCountry, hasAllLines, limitItems, toLine, toOrderNumber } from './items.ts';
import { toMinorUnits } from './money.ts';
import {
  askStore,
  type Delivery,
  getFromStore,
  getHeader,
  parseBody,
  type Reading,
  type StoreAccess,
  type StoreClient,
} from './provider.ts';
import { isSignedBy } from './signature.ts';

const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

/** Id of an order's only dispute, because this protocol has no ids for disputes. */
const DISPUTE = 'dispute';

const credentials = ({ token }: StoreAccess) => ({ headers: { authorization: `Bearer ${token}` } });

/** Converts refunded lines, which name their line by its id, its SKU, or else its title. */
export const toRefundedItems = (
  items: readonly { sku?: string | undefined; line_id?: string | undefined; amount: bigint }[] | undefined,
  currency: string,
): RefundedItem[] =>
  (items ?? []).flatMap(({ sku, line_id, amount }) => {
    const [lineId, amountMinor] = [line_id ?? toLine(sku), toMinorUnits(amount, currency)];
    return lineId === null || amountMinor === 0 ? [] : [{ lineId, amountMinor }];
  });

function toRefunds({ refunds = [], currency }: GenericOrder): RefundFacts[] {
  return refunds.map(({ refund_id, amount, at, items }) => ({
    refundId: refund_id,
    amountMinor: toMinorUnits(amount, currency),
    at,
    items: toRefundedItems(items, currency),
  }));
}

function toItems({ items, currency }: GenericOrder): ItemFacts[] | undefined {
  const lines = items?.map((item, place) => {
    const [sku, title] = [toLine(item.sku), toLine(item.title)];
    const amountMinor = toMinorUnits(item.amount, currency);
    return {
      lineId: item.line_id ?? sku ?? title ?? `#${place}`,
      sku,
      title,
      quantity: item.quantity,
      amountMinor,
      productId: item.product_id ?? undefined,
      categories: item.categories ?? undefined,
      onSale: item.on_sale ?? undefined,
    };
  });
  return lines && limitItems(lines);
}

/** Converts a report to the facts of its order. */
export function toOrderFacts(order: GenericOrder, sentAt: Date): OrderFacts {
  const { amount, placed_at } = parseBody(Placed, order);
  const kind = readGenericKind({
    kind: order.kind ?? null,
    isRenewal: order.is_renewal ?? false,
    subscriptionId: order.subscription_id ?? null,
    previousSubscriptionId: order.previous_subscription_id ?? null,
  });
  return {
    ...kind,
    orderId: order.order_id,
    orderNumber: toOrderNumber(order.order_number),
    currency: order.currency,
    baseMinor: toMinorUnits(amount, order.currency),
    occurredAt: placed_at,
    paidAt: order.paid_at ?? null,
    cancelledAt: order.cancelled_at ?? null,
    updatedAt: order.updated_at ?? sentAt,
    customerEmail: readReportedAddress(order.customer_email) ?? null,
    customerId: order.customer_external_id ?? null,
    country: findCountry([order.country]),
    codes: uniqueCodes(order.codes),
    clickIds: uniqueClicks(order.click_ids),
    refunds: toRefunds(order),
    hasAllRefunds: order.refunds !== undefined,
    isTest: order.test ?? false,
    dispute: order.dispute ? { disputeId: DISPUTE, status: order.dispute, at: order.updated_at ?? sentAt } : null,
    items: toItems(order),
  };
}

/** Notes refunded lines that the order does not have. */
function listNotes({ items = [], refunds }: OrderFacts): string[] {
  const refundedItems = refunds.flatMap((refund) => refund.items ?? []);
  const isKnown = ({ lineId }: RefundedItem) => findNamedLines(items, lineId).length > 0;
  if (!hasAllLines(items) || refundedItems.every(isKnown)) return [];
  return ['`refunds.items` names a line that is not among `items`: its amount counts for all lines.'];
}

/** Every event carries the whole order; a refund may also come with its order's id alone. */
function read({ body }: Delivery): Reading | undefined {
  if (!EVENTS.some((event) => event === parseBody(Envelope, body).event)) return undefined;
  const { event, createdAt, data } = parseBody(Message, body);
  if (event === 'order.refunded' && data.amount === undefined) {
    const refundReport = {
      currency: data.currency,
      refunds: toRefunds(data),
      updatedAt: createdAt,
      hasAllRefunds: false,
    };
    return { kind: 'refund', facts: { orderId: data.order_id, ...refundReport }, notes: [] };
  }
  const facts = toOrderFacts(data, createdAt);
  return { kind: 'order', facts, notes: listNotes(facts) };
}

/** Client for a store that the brand built itself. It signs like our own webhooks. */
export const generic: StoreClient = {
  topics: EVENTS,
  connect: async (store) => {
    const info = await getFromStore(store, { method: 'GET', path: '/store', credentials, shape: GenericStoreInfo });
    return { name: info.name, currency: info.currency, storefrontUrl: info.storefront_url };
  },
  findCoupon: async (store, code) => {
    const path = `/coupons/${encodeURIComponent(code)}`;
    const coupon = await askStore(store, { method: 'GET', path, credentials, shape: GenericStoreCoupon });
    if (!coupon) return { state: 'not_found' };
    if (typeof coupon.percentage !== 'number') return { state: 'not_percentage' };
    return coupon.active
      ? { state: 'active', percentage: coupon.percentage, endsAt: coupon.ends_at ?? null }
      : { state: 'inactive' };
  },
  verify: (rawBody, headers, secret) => {
    const hex = SIGNATURE.exec(getHeader(headers, 'x-service-signature'))?.[1];
    return isSignedBy(secret, rawBody, hex, 'hex');
  },
  isPing: () => false,
  read: async (delivery) => read(delivery),
  listOrders: (store, since) => listGenericOrders(store, since, credentials),
};
