import { z } from 'zod';
import { timestamp } from '../values/page.ts';

/*
 * What each event carries as `data`: the REST item of its noun. The shapes stand here because whoever emits is above the
 * outbox; a test compares them with the nouns' own.
 */
const email = z.string().nullable().describe("The creator's; null when the brand knows only handles.");
const name = z.string().nullable();
const money = z.number().describe('In major units of `currency`.');

export const ApplicationPayload = z.object({
  id: z.string(),
  campaign_id: z.string(),
  creator_email: z.string(),
  creator_name: name,
  creator_photo_app: z.string().nullable().meta({ example: 'ana.ortiz' }),
  creator_video_app: z.string().nullable().meta({ example: 'anaortiz' }),
  status: z.enum(['pending', 'accepted', 'rejected', 'shortlisted']),
  message: z.string().nullable(),
  portfolio_urls: z.array(z.string()),
  applied_at: timestamp,
});

export const CommissionPayload = z.object({
  id: z.string(),
  link_id: z.string().nullable(),
  creator_email: email,
  campaign_id: z.string().nullable(),
  type: z.string().meta({ example: 'sale' }),
  source: z.string(),
  integration_id: z.string().nullable(),
  amount: money,
  commission: money,
  commission_at_rate: money.meta({ example: 12.55 }),
  commission_rate: z.number().meta({ example: 10 }),
  order_id: z.string().nullable(),
  order_paid: z.boolean(),
  order_paid_at: timestamp.nullable(),
  approvable_at: timestamp.nullable(),
  customer_email: z.string().nullable().describe('Masked.').meta({ example: 'j***@e***.com' }),
  discount_code: z.string().nullable().meta({ example: 'ANA10' }),
  affiliate_code: z.string().nullable().meta({ example: 'ANA10' }),
  currency: z.string(),
  status: z.enum(['pending', 'approved', 'rejected', 'paid']),
  status_updated_at: timestamp.nullable(),
  status_note: z.string().nullable(),
  rejected_by: z.enum(['review', 'order']).nullable(),
  fraud_flags: z.array(
    z.object({ code: z.string(), severity: z.string(), detail: z.string(), detected_at: timestamp }),
  ),
  occurred_at: timestamp,
  synced_at: timestamp,
  creator_name: name,
  commission_amount: money.describe('The same as `commission`.').meta({ example: 12.55 }),
});

export const PayoutPayload = z.object({
  id: z.string(),
  creator_email: email,
  creator_name: name,
  amount: money,
  currency: z.string(),
  method: z.enum(['wallet', 'bank_transfer', 'manual']),
  wallet_email: z.string().nullable(),
  status: z.enum(['completed', 'paid']),
  note: z.string().nullable(),
  created_at: timestamp,
  reference: z.string().nullable(),
  paid_at: timestamp.nullable(),
  allocated_amount: money,
  netted_amount: money,
  unallocated_amount: money,
  unallocated: money,
  is_fee: z.boolean().meta({ example: false }),
});

export const DeliverablePayload = z.object({
  id: z.string(),
  contract_id: z.string().nullable(),
  campaign_id: z.string().nullable(),
  creator_email: email,
  creator_name: name,
  type: z.string().meta({ example: 'reel' }),
  platform: z.string().nullable(),
  status: z.enum(['pending', 'in_progress', 'submitted', 'approved', 'revision_requested', 'declined', 'cancelled']),
  content_url: z.string().nullable(),
  asset_ids: z.array(z.string()),
  caption: z.string().nullable(),
  due_date: z.string().nullable().meta({ example: '2026-03-20' }),
  submitted_at: timestamp.nullable(),
  is_late: z.boolean(),
  version: z.number().int(),
  feedback: z.string().nullable().meta({ example: 'Lovely. Please show the bottle in the first second.' }),
  declined_reason: z.string().nullable(),
  approved_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp.nullable(),
});

export const MessagePayload = z.object({
  id: z.string(),
  conversation_id: z.string(),
  creator_email: email,
  creator_name: name,
  subject: z.string().nullable(),
  body: z.string(),
  sender: z.enum(['creator', 'brand']),
  sent_at: timestamp,
  read_at: timestamp.nullable(),
  email_sent: z.boolean(),
});

const count = z.number().int();
const metric = count.nullable();
const ContentMetrics = z.object({
  views: metric,
  likes: metric,
  comments: metric,
  shares: metric,
  saves: metric,
  engagement_rate: z.number().nullable(),
});
export const ContentPayload = z.object({
  id: z.string(),
  url: z.string().meta({ example: 'https://instagram.com/reel/C1a2b3c4d5e' }),
  platform: z.string(),
  type: z.string().nullable().meta({ example: 'reel' }),
  creator_email: email,
  campaign_id: z.string().nullable(),
  metrics: ContentMetrics,
  tracked_at: timestamp,
  last_refreshed: timestamp.nullable(),
  status: z.enum(['tracking', 'refreshing']),
  creator_name: name,
  caption: z.string().nullable(),
  posted_at: timestamp.nullable(),
  paid_partnership: z.boolean().nullable(),
  refresh_error: z.string().nullable().meta({ example: null }),
  next_refresh_available: timestamp.nullable(),
});

export const ContentRefreshedPayload = ContentPayload.extend({
  previous_metrics: ContentMetrics.describe('Before this reading.'),
});

export const ContractPayload = z.object({
  id: z.string(),
  creator_email: email,
  creator_name: name,
  campaign_id: z.string().nullable(),
  title: z.string(),
  status: z.enum(['draft', 'sent', 'signed', 'expired']),
  compensation: z
    .object({ type: z.string(), amount: z.number().nullable(), currency: z.string().nullable() })
    .nullable(),
  deliverables: z.array(
    z.object({ type: z.string(), platform: z.string().nullable(), quantity: count, due_date: z.string().nullable() }),
  ),
  signed_at: timestamp.nullable(),
  expires_at: timestamp.nullable(),
  created_at: timestamp,
  sent_at: timestamp.nullable(),
  expired_reason: z.string().nullable(),
  updated_at: timestamp.nullable(),
});

const part = z.string().nullable();
export const ShipmentPayload = z.object({
  id: z.string(),
  campaign_id: z.string().nullable(),
  creator_email: email,
  creator_name: name,
  carrier: z.string().nullable(),
  tracking_number: z.string().nullable(),
  estimated_arrival: z.string().nullable(),
  product_description: z.string().nullable(),
  shipping_address: z
    .union([z.object({ street: part, line2: part, city: part, state: part, zip: part, country: part }), z.string()])
    .nullable(),
  notes: z.string().nullable(),
  tracking_status: z.string().nullable(),
  creator_confirmed_receipt: z.boolean(),
  status: z.enum(['created', 'pending', 'shipped', 'delivered', 'returned']),
  created_at: timestamp,
  updated_at: timestamp.nullable(),
  products: z.array(z.object({ name: z.string(), sku: z.string().nullable(), quantity: count })).nullable(),
  shipped_at: timestamp.nullable(),
  delivered_at: timestamp.nullable(),
  confirmed_at: timestamp.nullable(),
  reported_missing_at: timestamp.nullable(),
});

export const CampaignPayload = z.object({
  id: z.string(),
  title: z.string(),
  status: z.enum(['active', 'draft', 'paused', 'completed']),
  campaign_type: z.string().nullable(),
  compensation_label: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp.nullable(),
});

export const RosterPayload = z.object({
  id: z.string(),
  creator_id: z.string(),
  creator_email: email,
  creator_name: name,
  status: z.string(),
  added_at: timestamp,
});
