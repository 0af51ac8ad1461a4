import type { ColumnType, Generated } from 'kysely';

type CreatedAt = ColumnType<Date, Date, never>;
/** Written as JSON text, read as parsed JSON. */
type Json<T> = ColumnType<T, string, string>;

export type ShipmentStatus = 'created' | 'pending' | 'shipped' | 'delivered' | 'returned';

export interface ShipmentProduct {
  name: string;
  sku: string | null;
  quantity: number;
}

export interface ShippingAddress {
  street: string | null;
  line2: string | null;
  city: string | null;
  state: string | null;
  zip: string | null;
  country: string | null;
}

export interface TrackingEvent {
  at: string | null;
  status: string | null;
  message: string | null;
  location: string | null;
}

export interface ShipmentsTable {
  id: string;
  brandId: string;
  creatorId: string;
  campaignId: string | null;
  carrier: string | null;
  trackingNumber: string | null;
  /** `YYYY-MM-DD`. */
  estimatedArrival: string | null;
  productDescription: string | null;
  products: Json<ShipmentProduct[]> | null;
  /** As it was submitted: fields or one text. */
  shippingAddress: Json<ShippingAddress | string> | null;
  notes: string | null;
  status: ShipmentStatus;
  /** Why the tracking provider does not track the parcel. */
  trackingError: string | null;
  trackingStatus: string | null;
  trackingEvents: ColumnType<TrackingEvent[], string | undefined, string>;
  trackingRef: string | null;
  trackAt: Date | null;
  creatorConfirmedReceipt: Generated<boolean>;
  confirmedAt: Date | null;
  reportedMissingAt: Date | null;
  shippedAt: Date | null;
  deliveredAt: Date | null;
  linkVersion: Generated<number>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface ShipmentSharesTable {
  shareId: string;
  brandId: string;
  campaignId: string | null;
  title: string | null;
  campaignName: string | null;
  logoUrl: string | null;
  createdAt: CreatedAt;
  revokedAt: Date | null;
}

export interface ShipmentTables {
  shipments: ShipmentsTable;
  shipmentShares: ShipmentSharesTable;
}
