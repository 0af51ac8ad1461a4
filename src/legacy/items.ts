import { z } from 'zod';
import { timestamp } from '../values/page.ts';

/*
 * The items that read differently in the older interface, each made of the current item or of the whole row as it goes
 * over the wire: the facts are the same, under other names.
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
  const status = z.enum(['live', 'draft', 'paused', 'completed']);
  return shownAs(shape.extend({ status }), (item) => ({
    ...item,
    status: olderWord(item.status),
    campaign_type: olderWord(item.campaign_type),
  }));
}

const LegacyLinkShape = z
  .object({
    id: z.string(),
    creator_email: text,
    creator_name: text,
    campaign_id: text,
    type: z.enum(['discount_code', 'link']),
    code: z.string().describe('The code, or the name of the link.'),
    discount_percent: z
      .number()
      .nullable()
      .describe("Of the store's coupon when it was verified; null for links and for codes that no store knows."),
    url: text.describe('The tracked short URL of a link; null of a code.'),
    status: z.enum(['active', 'expired', 'disabled']),
    expires_at: wireTime.describe("The coupon's end, as the store reported it; null when unknown."),
    clicks: z.number().int(),
    conversions: z.number().int(),
    revenue: z.number(),
    commission: z.number(),
    currency: z.string(),
    platform: text,
    last_sync_at: wireTime,
    created_at: timestamp,
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
    id: z.string(),
    creator_email: text,
    creator_name: text,
    order_id: text,
    order_amount: z.number().describe('What the order came to, in major units.').meta({ example: 125.5 }),
    commission_amount: z.number().describe('In major units.').meta({ example: 12.55 }),
    commission_rate: z.number().nullable(),
    status: z.enum(['pending', 'approved', 'rejected', 'paid']),
    source: z.enum(['discount_code', 'link', 'manual']).describe('What won the order.'),
    code: text,
    created_at: timestamp,
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

const Town = z.object({ city: text, state: text, country: text }).describe('Where it is sent to, without the street.');
const Address = z.looseObject({ city: text, state: text, country: text }).transform(({ city, state, country }) => ({
  ...{ city, state, country },
}));

/** A shipment's shape with the three address fields of the older interface. */
export function legacyShipment<R extends z.ZodObject>(shape: R) {
  return shownAs(shape.extend({ address: Town }), (item) => ({
    ...item,
    address: Address.catch({ city: null, state: null, country: null }).parse(item.shipping_address),
  }));
}
