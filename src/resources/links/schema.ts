import { z } from 'zod';
import type { CurrencyFigures, LinkFigures } from '../../figures/schema.ts';
import { Currency, fromMinor, fromPpm, toPpm } from '../../values/money.ts';
import { booleanParameter, ListQuery, listOf, Pagination, timestamp } from '../../values/page.ts';
import { besideOthers, type Unchecked } from '../../values/problems.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { MAX_ADDRESS, WebAddress } from '../../values/web-address.ts';
import { toWire } from '../../values/wire.ts';
import { CreatorName, Email } from '../creators/schema.ts';
import type { ListedLink } from './queries.ts';

/** What a link brought that was made just now. */
const NOTHING = { clicks: 0, conversions: 0, revenueMinor: 0, commissionMinor: 0 };
const NOTHING_YET: LinkFigures = { ...NOTHING, others: [] };

const type = z.enum(['discount_code', 'link']);
const count = z.number().int();

export const Affiliate = z
  .object({
    id: z.string(),
    creator_email: z.string().nullable(),
    creator_name: fromOutside(z.string().nullable()),
    campaign_id: z.string().nullable(),
    type,
    value: z.string().describe('The code, or the name of the link.'),
    clicks: count.describe('Lifetime.'),
    conversions: count.describe('Lifetime: attributed orders.'),
    revenue: z.number().describe('Lifetime, in `currency`: sales less refunds.'),
    commission: z.number().describe('Lifetime, in `currency`.'),
    by_currency: z
      .array(z.object({ currency: Currency, revenue: z.number(), commission: z.number() }))
      .describe('Lifetime, of orders in other currencies than `currency`.'),
    commission_rate: z.number().describe('Percent paid to the creator.'),
    currency: Currency,
    platform: z.string().nullable(),
    last_sync_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Affiliate' });

export const Link = Affiliate.extend({
  url: z.string().nullable().describe('The tracked short URL of a link; null of a code.'),
  destination_url: z.string().nullable().describe('Where it leads, before the click id is added.'),
  active: z.boolean(),
  discount_percent: z
    .number()
    .nullable()
    .describe("What the store's coupon takes off, as of when it was verified; null where no store was asked."),
  expires_at: timestamp.nullable().describe("The coupon's end, as of when it was verified; null when it has none."),
}).meta({ id: 'AffiliateLink' });

const totals = {
  total_revenue: z.number(),
  total_commissions: z.number(),
  total_clicks: count,
  total_conversions: count,
};

export const AffiliateList = z.object({
  data: z.array(Affiliate),
  pagination: Pagination,
  summary: z
    .object({
      ...totals,
      by_currency: z
        .array(z.object({ currency: Currency, ...totals }))
        .describe("What came in other currencies than the brand's."),
    })
    .describe("Over all matching rows. Money is in the brand's currency; other currencies stand in `by_currency`."),
});
export type Summary = z.input<typeof AffiliateList>['summary'];

export const LinkList = listOf(Link);
export const LinkDeactivated = z.object({
  id: z.string(),
  active: z.literal(false),
  deactivated: z.literal(true),
});

export const LinkFilter = z.object({
  creator_email: Email.describe('In any case.').optional(),
  campaign_id: z.string().max(100).optional(),
  type: type.optional(),
  active: booleanParameter().optional(),
  search: z.string().trim().min(1).max(200).describe('Part of the code or name, in any case.').optional(),
  ...ListQuery,
});
export type LinkFilter = z.output<typeof LinkFilter>;

export const Destination = WebAddress.meta({ example: 'https://shop.example/summer' });

export const Rate = z
  .number()
  .min(0)
  .max(100)
  .refine((percent) => toPpm(percent) !== undefined, 'must have at most 4 decimals')
  .describe('Percent paid to the creator.')
  .meta({ example: 12.5 });

const MAX_VALUE = 255;
const anyValue = z
  .string()
  .trim()
  .min(1)
  .refine((text) => !/\p{Cc}/u.test(text), 'must not have control characters');
const value = anyValue.max(MAX_VALUE);
const platform = z.string().trim().min(1).max(50).nullable();
const reference = z.string().min(1).max(100);

/** Whether the value of a link is the address it leads to. */
export const isAddress = (text: string) => URL.canParse(text) && new URL(text).protocol === 'https:';

const tooLong = (input: string, maximum: number) => ({
  ...({ code: 'too_big', origin: 'string', inclusive: true } as const),
  maximum,
  input,
});

/** An address may be as long as any destination: it is not kept as the value, which is generated then. */
const valueOrAddress = anyValue
  .check(({ value, issues }) => {
    if (value.length <= MAX_VALUE) return;
    const maximum = isAddress(value) ? MAX_ADDRESS : MAX_VALUE;
    if (value.length > maximum) issues.push(tooLong(value, maximum));
  })
  .meta({ maxLength: MAX_ADDRESS });

/** What is wrong with a value for its type of assignment. */
function checkValue(value: string, type: unknown, context: z.RefinementCtx): void {
  if (type === 'discount_code' && value.length > MAX_VALUE) {
    context.addIssue({ ...tooLong(value, MAX_VALUE), path: ['value'] });
  }
  if (type !== 'link' || !isAddress(value)) return;
  const { error } = Destination.safeParse(value);
  const message = error?.issues[0]?.message;
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['value'], message, input: value });
}

export const LinkCreate = z
  .object({
    creator_email: Email.describe("Of somebody on the brand's roster."),
    value: valueOrAddress
      .describe('The code, the name of the link, or the https address the link leads to.')
      .meta({ example: 'ANNA10' }),
    type: type.default('discount_code'),
    commission_rate: Rate.optional().describe("Percent; the brand's `default_commission_rate` when omitted."),
    campaign_id: reference.nullable().optional(),
    creator_name: CreatorName.nullable().optional(),
    platform: platform.optional(),
    integration_id: reference
      .nullable()
      .describe('A connected store: its coupon is verified, and its currency is used.')
      .optional(),
    hold_days: z.number().int().min(0).max(90).default(30).describe('Review period after payment.'),
    attribution_days: z.number().int().min(1).max(90).default(30).describe('How long a click counts.'),
    destination_url: Destination.nullable()
      .describe('Required of a link, unless `value` is an https address. Of a connected offer: at the store.')
      .optional(),
    currency: Currency.describe("The brand's by default; a connected offer has its store's.").optional(),
  })
  .superRefine(({ type, value, destination_url }: Unchecked<'type' | 'value' | 'destination_url'>, context) => {
    const { data: usable } = valueOrAddress.safeParse(value);
    if (usable !== undefined) checkValue(usable, type, context);
    const leadsToValue = typeof value === 'string' && isAddress(value);
    if (type !== 'link' || leadsToValue || (destination_url ?? null) !== null) return;
    const message = 'is required of a link, unless `value` is an https address';
    context.addIssue({ code: 'custom', path: ['destination_url'], params: { code: 'required' }, message });
  }, besideOthers)
  .meta({ id: 'AffiliateLinkCreate' });
export type LinkCreate = z.output<typeof LinkCreate>;

/** Set changes, omit keeps, null clears. New terms are for later orders. */
export const LinkPatch = z
  .object({
    value: value.describe('Of a link: also a new short URL; the old one leads on.').optional(),
    commission_rate: Rate.optional(),
    active: z.boolean().optional(),
    creator_name: CreatorName.nullable().optional(),
    platform: platform.optional(),
    campaign_id: reference.nullable().describe('Null unlinks.').optional(),
    destination_url: Destination.nullable().optional(),
    url: Destination.nullable().describe('Another name of `destination_url`, which wins.').optional(),
  })
  .meta({ id: 'AffiliateLinkPatch' });
export type LinkPatch = z.output<typeof LinkPatch>;

/** `linksUrl` is the links host. */
export const shortUrl = (linksUrl: string, slug: string | null) => (slug === null ? null : `${linksUrl}/r/${slug}`);

export function linkOf(linksUrl: string, row: ListedLink, figures: LinkFigures = NOTHING_YET) {
  const { commissionRatePpm, slug, currency } = row;
  return {
    ...toWire(row),
    clicks: figures.clicks,
    conversions: figures.conversions,
    revenue: fromMinor(figures.revenueMinor, currency),
    commission: fromMinor(figures.commissionMinor, currency),
    by_currency: figures.others.map((one) => ({
      currency: one.currency,
      revenue: fromMinor(one.revenueMinor, one.currency),
      commission: fromMinor(one.commissionMinor, one.currency),
    })),
    commission_rate: fromPpm(commissionRatePpm),
    discount_percent: row.discountPpm === null ? null : fromPpm(row.discountPpm),
    url: shortUrl(linksUrl, slug),
  };
}

const totalsOf = ({ currency, clicks, conversions, revenueMinor, commissionMinor }: CurrencyFigures) => ({
  total_revenue: fromMinor(revenueMinor, currency),
  total_commissions: fromMinor(commissionMinor, currency),
  total_clicks: clicks,
  total_conversions: conversions,
});

/** Counts are over all currencies; money is never added across them. */
export function summaryOf(currency: string, { others, ...figures }: LinkFigures): Summary {
  return {
    ...totalsOf({ currency, ...figures }),
    by_currency: others.map((one) => ({ currency: one.currency, ...totalsOf(one) })),
  };
}

const isAnything = ({ clicks, conversions, revenueMinor, commissionMinor }: CurrencyFigures) =>
  [clicks, conversions, revenueMinor, commissionMinor].some((figure) => figure !== 0);

/** Figures of many currencies as one: money in the brand's, beside it others in which anything came. */
export function sumOf(brandCurrency: string, figures: readonly CurrencyFigures[]): LinkFigures {
  const sums = new Map<string, CurrencyFigures>();
  for (const one of figures) {
    const sum = sums.get(one.currency) ?? { ...NOTHING, currency: one.currency };
    sums.set(one.currency, {
      currency: one.currency,
      clicks: sum.clicks + one.clicks,
      conversions: sum.conversions + one.conversions,
      revenueMinor: sum.revenueMinor + one.revenueMinor,
      commissionMinor: sum.commissionMinor + one.commissionMinor,
    });
  }
  const own = sums.get(brandCurrency) ?? NOTHING;
  const all = [...sums.values()];
  return {
    clicks: all.reduce((sum, one) => sum + one.clicks, 0),
    conversions: all.reduce((sum, one) => sum + one.conversions, 0),
    revenueMinor: own.revenueMinor,
    commissionMinor: own.commissionMinor,
    others: all.filter((sum) => sum.currency !== brandCurrency && isAnything(sum)),
  };
}
