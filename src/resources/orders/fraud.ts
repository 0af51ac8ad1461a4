import type { FraudFlag } from '../commissions/schema.ts';

export const VELOCITY_WINDOW_MS = 10 * 60 * 1_000;
/** A customer who corrects an order may place two or three in a row; a fourth within ten minutes is unusual. */
export const MAX_ORDERS_OF_CUSTOMER = 3;
/** A creator who posts a code gets a burst: three orders a minute for ten minutes is still one. */
export const MAX_ORDERS_OF_LINK = 30;

export interface Suspicion {
  customerHash: Buffer | null;
  creatorHash: Buffer | null;
  /** Of the customer, and of the winning assignment, in the ten minutes up to this order, which counts too. */
  ordersOfCustomer: number;
  ordersOfLink: number;
  at: Date;
}

/** Fraud flags of an attributed order. A high flag prevents automatic approval. */
export function flagsOf(suspicion: Suspicion): FraudFlag[] {
  const { customerHash, creatorHash, ordersOfCustomer, ordersOfLink, at } = suspicion;
  const detected_at = at.toISOString();
  const flags: FraudFlag[] = [];
  if (customerHash && creatorHash?.equals(customerHash)) {
    const detail = "The customer's e-mail address is the creator's.";
    flags.push({ code: 'self_referral', severity: 'high', detail, detected_at });
  }
  const bursts = [
    { who: 'One customer', count: ordersOfCustomer, most: MAX_ORDERS_OF_CUSTOMER },
    { who: 'One code or link', count: ordersOfLink, most: MAX_ORDERS_OF_LINK },
  ];
  for (const { who, count, most } of bursts) {
    if (count <= most) continue;
    const detail = `${who} had more than ${most} orders within 10 minutes.`;
    flags.push({ code: 'velocity', severity: 'medium', detail, detected_at });
  }
  return flags;
}
