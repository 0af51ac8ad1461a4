import { z } from 'zod';
import { type EventsOf, events } from '../../outbox/events.ts';
import { ListQuery, listOf, timestamp } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { Email } from '../creators/schema.ts';

const SHOWN_STATUSES = ['created', 'pending', 'shipped', 'delivered', 'returned'] as const;
/** What a brand may set, and filter by. */
const STATUSES = ['pending', 'shipped', 'delivered', 'returned'] as const;

const line = (max: number) => z.string().trim().min(1).max(max);
const text = (max: number) => line(max).nullable();

const AddressFields = z.object({
  street: text(300),
  line2: text(300),
  city: text(200),
  state: text(200),
  zip: text(50),
  country: text(100),
});

const ShippingAddress = AddressFields.partial()
  .transform((given) => ({ street: null, line2: null, city: null, state: null, zip: null, country: null, ...given }))
  .pipe(AddressFields)
  .describe('Fields that are missing are null.');

const AddressInput = z
  .union([ShippingAddress, line(1_000)], {
    error: 'must be an object of street, line2, city, state, zip, country, or a text',
  })
  .nullable();

const Product = z.object({ name: line(200), sku: text(100), quantity: z.number().int().min(1).max(10_000) });
const ProductInput = z.object({
  name: line(200).meta({ example: 'Serum' }),
  sku: text(100).optional(),
  quantity: z.number().int().min(1).max(10_000).default(1),
});

export const Shipment = z
  .object({
    id: z.string(),
    campaign_id: z.string().nullable(),
    creator_email: z.string().nullable(),
    creator_name: fromOutside(z.string().nullable()),
    carrier: z.string().nullable().describe('In lower case.').meta({ example: 'ups' }),
    tracking_number: z.string().nullable(),
    estimated_arrival: z.iso.date().nullable(),
    product_description: z.string().nullable(),
    shipping_address: z
      .union([AddressFields, z.string()])
      .nullable()
      .describe('In the form it was given: fields, or one text.'),
    notes: z.string().nullable(),
    tracking_status: z
      .string()
      .nullable()
      .describe("The carrier's own word, such as in_transit; null where no carrier is asked. Apart from `status`."),
    creator_confirmed_receipt: z.boolean(),
    status: z.enum(SHOWN_STATUSES),
    created_at: timestamp,
    updated_at: timestamp.nullable(),
    products: z.array(Product).nullable(),
    shipped_at: timestamp.nullable(),
    delivered_at: timestamp.nullable(),
    confirmed_at: timestamp.nullable().describe('When the creator said that it arrived.'),
    reported_missing_at: timestamp.nullable().describe('When the creator said that it did not arrive.'),
  })
  .meta({ id: 'Shipment' });

export const ShipmentDetail = Shipment.extend({
  tracking_events: z
    .array(
      z.object({
        at: z.string().nullable().describe("In the carrier's own words: often without a zone."),
        status: z.string().nullable().meta({ example: 'in_transit' }),
        message: fromOutside(z.string().nullable()),
        location: z.string().nullable(),
      }),
    )
    .describe('What the carrier reported, newest first; at most 50.'),
}).meta({ id: 'ShipmentDetail' });

const fields = {
  campaign_id: z.string().min(1).max(100).nullable().optional(),
  carrier: line(100)
    .transform((name) => name.toLowerCase())
    .pipe(line(100))
    .nullable()
    .optional()
    .meta({ example: 'UPS' }),
  tracking_number: text(200).optional(),
  estimated_arrival: z.iso.date({ error: 'must be a date, such as 2026-12-24' }).nullable().optional(),
  product_description: text(2_000).optional(),
  products: z.array(ProductInput).min(1).max(50).nullable().optional(),
  shipping_address: AddressInput.optional(),
  notes: text(5_000).optional(),
};

export const ShipmentCreate = z
  .object({
    creator_email: Email.describe('Of somebody on the roster, or who applied to a campaign.'),
    notify_creator: z.boolean().default(false).describe('Mails them the page of the parcel.'),
    ...fields,
  })
  .meta({ id: 'ShipmentCreate' });
export type ShipmentCreate = z.output<typeof ShipmentCreate>;

/** Set changes, omit keeps, null clears. */
export const ShipmentPatch = z
  .object({
    status: z.enum(STATUSES).optional().describe('Any may follow any: corrections are allowed.'),
    ...fields,
  })
  .meta({ id: 'ShipmentPatch' });
export type ShipmentPatch = z.output<typeof ShipmentPatch>;

export const ShipmentFilter = z.object({
  creator_email: Email.optional(),
  campaign_id: z.string().min(1).max(100).optional(),
  status: z.enum(STATUSES).optional().describe('`pending` also finds what was just created.'),
  ...ListQuery,
});
export type ShipmentFilter = z.output<typeof ShipmentFilter>;

export const ShipmentList = listOf(Shipment).meta({ id: 'ShipmentList' });

export const Notified = z
  .object({ id: z.string(), creator_email: z.string(), mail: z.enum(['queued', 'suppressed', 'already_sent']) })
  .meta({ id: 'ShipmentNotified' });

const shipmentEvents = events({
  'shipment.delivered': {
    data: Shipment,
    when: 'A shipment arrived.',
    shownTo: ['legacy'],
  },
});
declare module '../../outbox/events.ts' {
  interface Events extends EventsOf<typeof shipmentEvents> {}
}
