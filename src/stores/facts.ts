/** A refund as its store names it, in minor units of the order's currency. */
export interface RefundFacts {
  refundId: string;
  amountMinor: number;
  at: Date;
}

/** Refunds as one delivery reports them. */
export interface ReceivedRefunds {
  currency: string;
  refunds: RefundFacts[];
  /** The store's own time of the report. */
  updatedAt: Date;
  /** They are all that the order has: one that was reported before and is not among them was taken back. */
  hasAllRefunds: boolean;
}

/** What a store says of one order in one delivery; its `updatedAt` is the snapshot's own time. */
export interface OrderFacts extends ReceivedRefunds {
  orderId: string;
  /** Goods after discounts, without tax and shipping, before any refund. */
  baseMinor: number;
  occurredAt: Date;
  paidAt: Date | null;
  cancelledAt: Date | null;
  customerEmail: string | null;
  codes: string[];
  clickIds: string[];
}

/** When a store reports only a refund. */
export interface RefundOfOrder extends ReceivedRefunds {
  orderId: string;
}
