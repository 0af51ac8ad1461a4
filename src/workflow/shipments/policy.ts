import type { ShipmentProduct, ShipmentStatus } from './queries.ts';

interface Times {
  shippedAt: Date | null;
  deliveredAt: Date | null;
}

/** How far along a status is; a returned parcel was shipped, but may not have been delivered. */
const STAGE: Record<ShipmentStatus, number> = { created: 0, pending: 0, shipped: 1, delivered: 2, returned: 2 };

/** When a shipment was shipped and delivered, after a move: entering a status sets its time, going back clears it. */
export function timesAfter(old: Times, status: ShipmentStatus, now: Date): Times {
  const stage = STAGE[status];
  const delivered = status === 'delivered' ? (old.deliveredAt ?? now) : old.deliveredAt;
  return {
    shippedAt: stage >= 1 ? (old.shippedAt ?? now) : null,
    deliveredAt: stage >= 2 ? delivered : null,
  };
}

/** "2 × Serum (SKU-1), 1 × Brush". */
export const describeProducts = (products: readonly ShipmentProduct[]): string =>
  products.map(({ name, sku, quantity }) => `${quantity} × ${name}${sku === null ? '' : ` (${sku})`}`).join(', ');
