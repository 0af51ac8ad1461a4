import type { SubscriptionFacts } from '../../terms/kinds.ts';

/** The order that started a subscription, by its id at the store. */
export interface StartedSubscription {
  subscriptionId: string;
  orderId: string;
}

/** What a store says of a product, by which terms may tell lines apart. */
export interface ProductFacts {
  categories: string[];
  /** By variant; the product's own under the empty id. */
  onSale: Record<string, boolean>;
}

/** A line of goods. */
export interface ItemFacts {
  /** Id of the line in refunds. */
  lineId: string;
  sku: string | null;
  title: string | null;
  quantity: number;
  /** After discounts, without tax, before any refund. */
  amountMinor: number;
  productId?: string | undefined;
  variantId?: string | undefined;
  categories?: readonly string[] | undefined;
  onSale?: boolean | undefined;
}

/** A line of an order that pays nobody. */
export interface UnpaidLine {
  kind: 'gift_card' | 'tip';
  amountMinor: number;
}

/** Refunded part of a line. */
export interface RefundedItem {
  lineId: string;
  amountMinor: number;
}

/** A refund as its store names it, in minor units of the order's currency. */
export interface RefundFacts {
  refundId: string;
  amountMinor: number;
  at: Date;
  /** Set if the store names the refunded lines. */
  items?: readonly RefundedItem[];
}

/** Refunds as one delivery reports them. */
export interface ReceivedRefunds {
  currency: string;
  refunds: RefundFacts[];
  /** The store's own time of the report. */
  updatedAt: Date;
  /** The list is complete: earlier refunds that are missing were reverted. */
  hasAllRefunds: boolean;
}

/** State of an order in one delivery; `updatedAt` is the store's own time of this state. */
export interface OrderFacts extends ReceivedRefunds, SubscriptionFacts {
  orderId: string;
  /** The number that people know the order by. Undefined or null if the store does not say. */
  orderNumber?: string | null;
  /** Goods after discounts, without tax and shipping, before any refund. */
  baseMinor: number;
  /** Gift cards and tips, which are not among the goods. Undefined if the store's format has none. */
  unpaidLines?: readonly UnpaidLine[];
  occurredAt: Date;
  paidAt: Date | null;
  cancelledAt: Date | null;
  customerEmail: string | null;
  /** The store erased the customer of the order. */
  isErased?: true;
  /** The customer's id at the store. */
  customerId: string | null;
  /** ISO 3166 code of the country that the order is shipped to, else billed to. */
  country: string | null;
  codes: string[];
  clickIds: string[];
  /** A test order, which nobody paid for. */
  isTest: boolean;
  /** Set if the store reports disputes with the order. */
  dispute: BankDispute | null;
  /** The orders that started the subscriptions that this one continues, as the store says that was asked. */
  startedBy?: readonly StartedSubscription[];
  /** Undefined if the store does not report lines. */
  items?: readonly ItemFacts[] | undefined;
}

export const DISPUTE_STATUSES = ['open', 'won', 'lost'] as const;

/** State of a dispute by the customer's bank. */
export interface BankDispute {
  disputeId: string;
  status: (typeof DISPUTE_STATUSES)[number];
  /** Time of the report. */
  at: Date;
}

/** A dispute that the store reports without its order. */
export interface ReportedDispute extends BankDispute {
  orderId: string;
}

/** Refunds that the store reports without their order. */
export interface ReportedRefunds extends ReceivedRefunds {
  orderId: string;
}
