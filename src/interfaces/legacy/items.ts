import { z } from 'zod';
import { COMMISSION_STATUSES } from '../../affiliates/commissions/commissions.shapes.ts';
import { LINK_TYPES, Link } from '../../affiliates/links/links.shapes.ts';
import { campaignId, createdAt, creatorEmail, currencyField, idField } from '../../kit/values/fields.ts';
import { timestamp } from '../../kit/values/page.ts';
import { assignedCreatorName } from '../../workflow/creators/creators.shapes.ts';

/*
 * The items that differ in the older interface, each derived from the current item or from the whole row on the wire:
 * the same facts under other names.
 */
const text = z.string().nullable();
const wireTime = timestamp.nullable();

/** Converts a current item to the older shape. */
const shownAs = <R extends z.ZodObject>(shape: R, translate: (item: Record<string, unknown>) => object) =>
  z.looseObject({}).transform(translate).pipe(shape);

/** The older values of a campaign's fields. Other values are unchanged. */
const OLDER: Readonly<Record<string, string>> = { active: 'live', ugc: 'organic_ugc' };
const CURRENT: Readonly<Record<string, string>> = { live: 'active', organic_ugc: 'ugc' };
const olderWord = (word: unknown): unknown => (typeof word === 'string' ? (OLDER[word] ?? word) : word);
export const currentWord = (word: unknown): unknown => (typeof word === 'string' ? (CURRENT[word] ?? word) : word);

/** A campaign's shape with the older values. */
export function legacyCampaign<R extends z.ZodObject>(shape: R) {
  const status = z
    .enum(['live', 'draft', 'paused', 'completed'])
    .describe('`live`: creators can apply. `draft`: not published yet.');
  return shownAs(shape.extend({ status }), (item) => ({
    ...item,
    status: olderWord(item.status),
    campaign_type: olderWord(item.campaign_type),
  }));
}

const linkStatus = z
  .enum(['active', 'expired', 'disabled'])
  .describe('`expired`: the coupon has ended at its store. `disabled`: deactivated by the brand.');
const commissionStatus = z
  .enum(COMMISSION_STATUSES)
  .describe('`pending`: awaiting review. `approved`: to be paid. `paid`: covered by a payout.');

const LegacyLinkShape = z
  .object({
    id: idField('lnk', 'Id of the link.'),
    creator_email: creatorEmail,
    creator_name: assignedCreatorName,
    campaign_id: campaignId,
    type: z.enum(LINK_TYPES).describe('`discount_code`: a code for the checkout. `link`: a tracked link.'),
    code: z.string().describe('The code, or the name of the link.').meta({ example: 'ANA10' }),
    discount_percent: z
      .number()
      .nullable()
      .describe("Of the store's coupon when it was verified; null for links and for codes that no store knows."),
    url: text
      .describe('The tracked short URL of a link; null of a code.')
      .meta({ example: 'https://links.example/r/ana-summer' }),
    destination_url: Link.shape.destination_url,
    status: linkStatus,
    expires_at: wireTime.describe("The coupon's end, as the store reported it; null when unknown."),
    clicks: z.number().int().describe('Visits over its lifetime, without bots.').meta({ example: 1840 }),
    conversions: z.number().int().describe('Orders over its lifetime.').meta({ example: 52 }),
    revenue: z.number().describe('Sales minus refunds, in major units of `currency`.').meta({ example: 5120.4 }),
    commission: z.number().describe('Commission on its sales, in major units of `currency`.').meta({ example: 412.5 }),
    currency: currencyField,
    platform: text
      .describe('Where the creator shares it: `photo_app`, `video_app` or `stream_app`.')
      .meta({ example: 'photo_app' }),
    last_sync_at: wireTime
      .describe('When its figures were last updated.')
      .meta({ example: '2026-03-02T09:30:00.000Z' }),
    created_at: createdAt,
  })
  .meta({ id: 'LegacyLink' });

/** `now` decides whether a coupon has expired. */
export const legacyLink = (now: () => Date) =>
  shownAs(LegacyLinkShape, ({ value, active, expires_at: expiresAt, ...item }) => {
    const isPast = typeof expiresAt === 'string' && Date.parse(expiresAt) <= now().getTime();
    const status = active === false ? 'disabled' : isPast ? 'expired' : 'active';
    return { ...item, code: value, expires_at: expiresAt, status };
  });

const LegacyCommissionShape = z
  .object({
    id: idField('com', 'Id of the commission.'),
    creator_email: creatorEmail,
    creator_name: assignedCreatorName,
    order_id: text.describe("The order's id at its store; null for a manual commission.").meta({ example: '1001' }),
    order_amount: z.number().describe('What the order came to, in major units.').meta({ example: 125.5 }),
    commission_amount: z.number().describe('In major units.').meta({ example: 12.55 }),
    commission_rate: z.number().nullable().describe('Percent; null for a manual commission.').meta({ example: 10 }),
    status: commissionStatus,
    source: z.enum(['discount_code', 'link', 'manual']).describe('What won the order.'),
    code: text.describe('The code that the customer used; null without one.').meta({ example: 'ANA10' }),
    created_at: createdAt,
  })
  .meta({ id: 'LegacyCommission' });

export const legacyCommission = shownAs(LegacyCommissionShape, (item) => {
  const { amount, commission, discount_code: redeemed, affiliate_code: own, type } = item;
  const isManual = type === 'manual';
  const won = typeof redeemed === 'string' ? 'discount_code' : 'link';
  return {
    ...item,
    order_amount: amount,
    commission_amount: commission,
    source: isManual ? 'manual' : won,
    code: isManual ? null : (redeemed ?? own),
    created_at: item.created_at ?? item.synced_at,
  };
});

const city = text.describe('City of the delivery address.').meta({ example: 'San Francisco' });
const state = text.describe('State of the delivery address.').meta({ example: 'CA' });
const country = text.describe('Country of the delivery address.').meta({ example: 'US' });
export const Town = z.object({ city, state, country }).describe('Where it is sent to, without the street.');
const Address = z.looseObject({ city: text, state: text, country: text }).transform(({ city, state, country }) => ({
  city,
  state,
  country,
}));

/** A shipment's shape with the three address fields of the older interface. */
export function legacyShipment<R extends z.ZodObject>(shape: R) {
  return shownAs(shape.extend({ address: Town }), (item) => ({
    ...item,
    address: Address.catch({ city: null, state: null, country: null }).parse(item.shipping_address),
  }));
}
