import { z } from 'zod';
import { type EventsOf, events } from '../../kit/outbox/events.ts';
import { Email } from '../../kit/values/email.ts';
import { campaignId, createdAt, creatorEmail, idField, updatedAt } from '../../kit/values/fields.ts';
import { ListQuery, listSchema, timestamp } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { creatorName } from '../campaigns/campaigns.shapes.ts';

const SHOWN_STATUSES = ['created', 'pending', 'shipped', 'delivered', 'returned'] as const;
/** The statuses that a brand may set and filter by. */
const STATUSES = ['pending', 'shipped', 'delivered', 'returned'] as const;

const line = (max: number) => z.string().trim().min(1).max(max);
const text = (max: number) => line(max).nullable();

const AddressFields = z.object({
  street: text(300).describe('Street and number; null when unknown.').meta({ example: '1 Main St' }),
  line2: text(300).describe('Second line, such as the apartment; null for none.').meta({ example: 'Apt 4' }),
  city: text(200).describe('City or town; null when unknown.').meta({ example: 'San Francisco' }),
  state: text(200).describe('State or province; null when unknown.').meta({ example: 'CA' }),
  zip: text(50).describe('Postal code; null when unknown.').meta({ example: '94103' }),
  country: text(100).describe('Country, by name or code; null when unknown.').meta({ example: 'US' }),
});

const ShippingAddress = AddressFields.partial()
  .transform((address) => ({
    street: null,
    line2: null,
    city: null,
    state: null,
    zip: null,
    country: null,
    ...address,
  }))
  .pipe(AddressFields)
  .describe('Fields that are missing are null.');

const AddressInput = z
  .union([ShippingAddress, line(1_000)], {
    error: 'must be an object of street, line2, city, state, zip, country, or a text',
  })
  .nullable()
  .describe('Delivery address, as fields or as one text.');

const productName = line(200).describe('Product name.').meta({ example: 'Serum' });
const sku = text(100).describe("The product's SKU; null for none.").meta({ example: 'SERUM-30' });
const quantity = z.number().int().min(1).max(10_000);
const Product = z.object({
  name: productName,
  sku,
  quantity: quantity.describe('Number of units in the parcel.').meta({ example: 2 }),
});
const ProductInput = z.object({
  name: productName,
  sku: sku.optional(),
  quantity: quantity.default(1).describe('Number of units in the parcel.'),
});

const carrier = z.string().nullable().describe('Carrier, in lower case; null when unknown.').meta({ example: 'ups' });
const texts = {
  tracking_number: "The carrier's tracking number; null for none.",
  estimated_arrival: 'Day the parcel should arrive; null when unknown.',
  product_description: 'Contents in words. Made from `products` when only those are given.',
  products: 'Contents, product by product; null when not itemized.',
  notes: "The brand's notes; never shown to the creator.",
};
const examples = {
  tracking_number: '1Z999AA10123456784',
  estimated_arrival: '2026-03-08',
  product_description: '2 × Serum (SERUM-30)',
  notes: 'Leave at the door.',
};

export const Shipment = z
  .object({
    id: idField('shp', 'Shipment id.'),
    campaign_id: campaignId,
    creator_email: creatorEmail,
    creator_name: creatorName,
    carrier,
    tracking_number: z.string().nullable().describe(texts.tracking_number).meta({ example: examples.tracking_number }),
    estimated_arrival: z.iso
      .date()
      .nullable()
      .describe(texts.estimated_arrival)
      .meta({ example: examples.estimated_arrival }),
    product_description: z
      .string()
      .nullable()
      .describe('Contents in words; null when not described.')
      .meta({ example: examples.product_description }),
    shipping_address: z
      .union([AddressFields, z.string()])
      .nullable()
      .describe('Delivery address in the form it was given, fields or one text; null for none.'),
    notes: z.string().nullable().describe(texts.notes).meta({ example: examples.notes }),
    tracking_status: z
      .string()
      .nullable()
      .describe("The carrier's last status, independent of `status`; null when no carrier has reported one.")
      .meta({ example: 'in_transit' }),
    tracking_error: fromOutside(
      z
        .string()
        .nullable()
        .describe(
          'Why the carrier service does not track the parcel; null if it does. It is queried again once the carrier or the number changes.',
        )
        .meta({ example: null }),
    ),
    creator_confirmed_receipt: z.boolean().describe('Whether the creator confirmed that it arrived.'),
    status: z
      .enum(SHOWN_STATUSES)
      .describe('Shipment status. `created` is the state of a new shipment; the brand or the carrier moves it on.'),
    created_at: createdAt,
    updated_at: updatedAt,
    products: z.array(Product).nullable().describe(texts.products),
    shipped_at: timestamp
      .nullable()
      .describe('When it became `shipped`; null until then.')
      .meta({ example: '2026-03-05T10:00:00.000Z' }),
    delivered_at: timestamp
      .nullable()
      .describe('When it became `delivered`; null until then.')
      .meta({ example: '2026-03-08T14:00:00.000Z' }),
    confirmed_at: timestamp
      .nullable()
      .describe('When the creator confirmed that it arrived; null until then.')
      .meta({ example: '2026-03-08T15:00:00.000Z' }),
    reported_missing_at: timestamp
      .nullable()
      .describe('When the creator reported that it did not arrive; null if never.')
      .meta({ example: null }),
  })
  .meta({ id: 'Shipment' });

export const ShipmentDetail = Shipment.extend({
  tracking_events: z
    .array(
      z.object({
        at: z
          .string()
          .nullable()
          .describe('Time as the carrier writes it, often without a time zone.')
          .meta({ example: '2026-03-07T08:15:00' }),
        status: z
          .string()
          .nullable()
          .describe("The carrier's status after this event.")
          .meta({ example: 'in_transit' }),
        message: fromOutside(
          z
            .string()
            .nullable()
            .describe("The carrier's description of the event.")
            .meta({ example: 'Departed facility' }),
        ),
        location: z
          .string()
          .nullable()
          .describe('Where it happened; null when unknown.')
          .meta({ example: 'Oakland, CA' }),
      }),
    )
    .describe('Events that the carrier reported, newest first; at most 50.'),
}).meta({ id: 'ShipmentDetail' });

const fields = {
  campaign_id: z
    .string()
    .min(1)
    .max(100)
    .nullable()
    .optional()
    .describe('Campaign it belongs to; null for none.')
    .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' }),
  carrier: line(100)
    .transform((name) => name.toLowerCase())
    .pipe(line(100))
    .nullable()
    .optional()
    .describe('Carrier; stored in lower case.')
    .meta({ example: 'UPS' }),
  tracking_number: text(200).optional().describe(texts.tracking_number).meta({ example: examples.tracking_number }),
  estimated_arrival: z.iso
    .date({ error: 'must be a date, such as 2026-12-24' })
    .nullable()
    .optional()
    .describe(texts.estimated_arrival)
    .meta({ example: examples.estimated_arrival }),
  product_description: text(2_000)
    .optional()
    .describe(texts.product_description)
    .meta({ example: examples.product_description }),
  products: z.array(ProductInput).min(1).max(50).nullable().optional().describe(texts.products),
  shipping_address: AddressInput.optional(),
  notes: text(5_000).optional().describe(texts.notes).meta({ example: examples.notes }),
};

export const ShipmentCreate = z
  .object({
    creator_email: Email.describe('A creator on the roster, or an applicant.'),
    notify_creator: z.boolean().default(false).describe('Email the creator a link to the page of the parcel.'),
    ...fields,
  })
  .meta({ id: 'ShipmentCreate' });
export type ShipmentCreate = z.output<typeof ShipmentCreate>;

/** Set changes, omit keeps, null clears. */
export const ShipmentPatch = z
  .object({
    status: z
      .enum(STATUSES)
      .optional()
      .describe('New status. Any status may follow any other, so mistakes can be corrected.'),
    ...fields,
  })
  .meta({ id: 'ShipmentPatch' });
export type ShipmentPatch = z.output<typeof ShipmentPatch>;

export const ShipmentFilter = z.object({
  creator_email: Email.optional().describe('Only shipments to this creator; case is ignored.'),
  campaign_id: z.string().min(1).max(100).optional().describe('Only shipments of this campaign.'),
  status: z
    .enum(STATUSES)
    .optional()
    .describe('Only shipments with this status; `pending` includes those that are `created`.'),
  ...ListQuery,
});
export type ShipmentFilter = z.output<typeof ShipmentFilter>;

export const ShipmentList = listSchema(Shipment).meta({ id: 'ShipmentList' });

export const Notified = z
  .object({
    id: idField('shp', 'Shipment that the email is about.'),
    creator_email: z.string().describe('Email address of the creator.').meta({ example: 'ana@example.com' }),
    mail: z
      .enum(['queued', 'suppressed', 'already_sent'])
      .describe('`suppressed`: the address accepts no email; `already_sent`: they were emailed about this status.'),
  })
  .meta({ id: 'ShipmentNotified' });

const shipmentEvents = events({
  'shipment.delivered': {
    data: Shipment,
    when: 'A shipment arrived.',
    shownTo: ['legacy'],
  },
});
declare module '../../kit/outbox/events.ts' {
  interface Events extends EventsOf<typeof shipmentEvents> {}
}
