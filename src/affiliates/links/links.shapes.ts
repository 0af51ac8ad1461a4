import { z } from 'zod';
import type { LinkFigures } from '../../analytics/figures/sums.ts';
import { toPlainFields } from '../../analytics/pricing/plain.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { Email } from '../../kit/values/email.ts';
import { campaignId, createdAt, creatorEmail, idField } from '../../kit/values/fields.ts';
import { Currency, fromPpm, toPpm } from '../../kit/values/money.ts';
import {
  booleanParameter,
  ListQuery,
  listSchema,
  Pagination,
  timestamp,
  timestampInput,
} from '../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { withoutMarks } from '../../kit/values/text.ts';
import { MAX_ADDRESS, WebAddress } from '../../kit/values/web-address.ts';
import { toWire } from '../../kit/values/wire.ts';
import { assignedCreatorName, CreatorName } from '../../workflow/creators/creators.shapes.ts';
import { Budgets } from '../../workflow/terms/budgets.ts';
import { TERMS_PLACES } from '../../workflow/terms/places.ts';
import { Terms, TermsInput } from '../../workflow/terms/terms.shapes.ts';
import { getLinkTerms } from '../terms/effective.ts';
import { summarizeTerms } from '../terms/summary.ts';
import { LinkSort } from './link-sorts.ts';
import { NOTHING } from './link-sums.ts';
import type { ListedLink } from './links.ts';

export const LINK_TYPES = ['discount_code', 'link'] as const;
const type = z
  .enum(LINK_TYPES)
  .describe('`discount_code`: customers redeem it at the checkout. `link`: customers click its short URL.')
  .meta({ example: 'discount_code' });
const count = z.number().int();
const linkId = idField('lnk', 'Id of the code or link.');

export const shortUrlField = z
  .string()
  .nullable()
  .describe('Tracked short URL of a link; null for a discount code.')
  .meta({ example: 'https://links.example/r/ana10' });

export const Affiliate = z
  .object({
    id: linkId,
    creator_email: creatorEmail,
    creator_name: assignedCreatorName,
    campaign_id: campaignId,
    type,
    value: z.string().describe('The discount code, or the name of the link.').meta({ example: 'ANA10' }),
    clicks: count.describe('Clicks since the code or link was created, without bots.').meta({ example: 1840 }),
    conversions: count
      .describe('Orders attributed to it since it was created; refunds do not reduce them.')
      .meta({ example: 52 }),
    revenue: z
      .number()
      .describe('Sales minus refunds of its orders in `currency` since it was created, in major units.')
      .meta({ example: 5120.4 }),
    commission: z
      .number()
      .describe(
        'Commission on its orders in `currency` since it was created, in major units: pending, approved and paid, minus refunds of paid commissions.',
      )
      .meta({ example: 412.5 }),
    by_currency: z
      .array(
        z.object({
          currency: Currency.describe('Currency of these orders; never the `currency` of the code or link.'),
          revenue: z
            .number()
            .describe('Sales minus refunds in this currency, in major units.')
            .meta({ example: 310.2 }),
          commission: z.number().describe('Commission in this currency, in major units.').meta({ example: 31.02 }),
        }),
      )
      .describe('Revenue and commission of orders in currencies other than `currency`, one row per currency.'),
    commission_rate: z
      .number()
      .describe('Percent of each new sale that the creator earns. Existing commissions keep their rate.')
      .meta({ example: 12.5 }),
    currency: Currency.describe(
      'Currency of `revenue` and `commission`: that of the connected store, otherwise that of the brand by default.',
    ),
    platform: z
      .string()
      .nullable()
      .describe('Where the creator promotes it; null when not given.')
      .meta({ example: 'photo_app' }),
    last_sync_at: timestamp
      .nullable()
      .describe('When its coupon was last verified at the store; null without a connected store.')
      .meta({ example: '2026-03-02T09:30:00.000Z' }),
    created_at: createdAt,
  })
  .meta({ id: 'Affiliate' });

export const Link = Affiliate.extend({
  url: shortUrlField,
  destination_url: z
    .string()
    .nullable()
    .describe('The page that the short URL redirects to, before the click id is added; null for a code without one.')
    .meta({ example: 'https://shop.example/summer' }),
  active: z
    .boolean()
    .describe(
      'Whether it is in use. Orders placed while a code is inactive earn nothing; an inactive short URL no longer redirects.',
    )
    .meta({ example: true }),
  discount_percent: z
    .number()
    .nullable()
    .describe('Percent that the coupon takes off at the store, as of `last_sync_at`; null without a connected store.')
    .meta({ example: 10 }),
  expires_at: timestamp
    .nullable()
    .describe('When the coupon ends at the store, as of `last_sync_at`; null when it does not end.'),
  pays_renewals: z
    .boolean()
    .describe('Whether it also earns on orders that renew a subscription; otherwise only the first order pays.')
    .meta({ example: false }),
  forward_parameters: z
    .boolean()
    .describe('Whether the short URL takes the parameters that it is opened with along to the destination.')
    .meta({ example: true }),
  terms: Terms.nullable().describe(
    "Its own terms; null if it takes those of its creator's group, its campaign or the brand.",
  ),
  effective_terms: Terms.describe('The terms that later orders are decided by.'),
  terms_source: z
    .enum(TERMS_PLACES)
    .describe('Where these terms are from: the first of these places that has terms.')
    .meta({ example: 'link' }),
  terms_summary: z
    .string()
    .describe('These terms in a sentence.')
    .meta({ example: '10% of each order; also on renewals of the subscription.' }),
  budget: Budgets,
}).meta({ id: 'AffiliateLink' });

const totals = {
  total_revenue: z
    .number()
    .describe('Sales minus refunds of all matching codes and links, in major units of one currency.')
    .meta({ example: 5120.4 }),
  total_commissions: z
    .number()
    .describe('Commission on these sales, minus what refunds took back after payment, in major units.')
    .meta({ example: 412.5 }),
};

export const AffiliateList = z.object({
  data: z.array(Affiliate),
  pagination: Pagination,
  summary: z
    .object({
      ...totals,
      total_clicks: count.describe('Clicks on all matching links, without bots.').meta({ example: 1840 }),
      total_conversions: count
        .describe('Orders attributed to all matching codes and links, in any currency.')
        .meta({ example: 52 }),
      by_currency: z
        .array(
          z.object({
            currency: Currency.describe("A currency other than the brand's."),
            ...totals,
            total_clicks: count
              .describe('Clicks on matching links of this currency; already counted in the summary.')
              .meta({ example: 40 }),
            total_conversions: count
              .describe('Attributed orders in this currency; already counted in the summary.')
              .meta({ example: 3 }),
          }),
        )
        .describe("Totals in currencies other than the brand's, one row per currency."),
    })
    .describe("Lifetime totals of all matching rows, not just this page. Money is in the brand's currency."),
});
export type LinkSummary = z.input<typeof AffiliateList>['summary'];

export const LinkList = listSchema(Link);
export const LinkDeactivated = z.object({
  id: linkId,
  active: z.literal(false).describe('Always false: it no longer earns orders.'),
  deactivated: z.literal(true).describe('Always true, even if it was inactive before.'),
});

export const LinkFilter = z.object({
  creator_email: Email.describe("Only this creator's codes and links. Case does not matter.").optional(),
  campaign_id: z
    .string()
    .max(100)
    .optional()
    .describe('Only codes and links of this campaign.')
    .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' }),
  type: type.optional().describe('Only discount codes, or only links.'),
  active: booleanParameter().optional().describe('`true`: only active codes and links; `false`: only inactive ones.'),
  search: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .describe('Part of the code or link name. Case does not matter.')
    .meta({ example: 'ana' })
    .optional(),
  group_id: z.string().max(100).optional().describe('Only codes and links of creators who are in this group now.'),
  ...ListQuery,
  sort: LinkSort,
});
export type LinkFilter = z.output<typeof LinkFilter>;

export const Destination = WebAddress.meta({ example: 'https://shop.example/summer' });

export const Rate = z
  .number()
  .min(0)
  .max(100)
  .refine((percent) => toPpm(percent) !== undefined, 'must have at most 4 decimals')
  .describe('Percent of each sale that the creator earns, with at most 4 decimals.')
  .meta({ example: 12.5 });

export const ForwardParameters = z
  .boolean()
  .describe(
    'Parameters that the short URL is opened with, up to 1,000 bytes, reach the destination and replace its own of the same ' +
      'name; `false`: they do not.',
  )
  .meta({ example: true });

export const Notify = z
  .boolean()
  .default(false)
  .describe('`true`: emailed at once. `false`: only a link or a verified code is; any other with its first order.')
  .meta({ example: true });
const MAX_VALUE = 255;
/** A code is often copied from a chat, whose invisible marks no customer types, or a file name, whose accents are apart. */
const anyValue = z
  .string()
  .overwrite((text) => withoutMarks(text).normalize())
  .trim()
  .min(1)
  .refine((text) => !/\p{Cc}/u.test(text), 'must not have control characters');
const value = anyValue.max(MAX_VALUE);
const platform = z
  .string()
  .trim()
  .min(1)
  .max(50)
  .nullable()
  .describe('Where the creator promotes it, in your own words.')
  .meta({ example: 'photo_app' });
const assignedName = CreatorName.nullable()
  .describe("Name of the creator in lists of codes and links, for this one only; null shows the creator's own name.")
  .meta({ example: 'Ana Ortiz' });
const reference = z.string().min(1).max(100);

/** An https address as the value of a link becomes its destination. */
export const isAddress = (text: string) => URL.canParse(text) && new URL(text).protocol === 'https:';

const tooLong = (input: string, maximum: number) => ({
  code: 'too_big' as const,
  origin: 'string' as const,
  inclusive: true,
  maximum,
  input,
});

/** An address may be as long as any destination, because it becomes the destination and the value is generated. */
const valueOrAddress = anyValue
  .check(({ value, issues }) => {
    if (value.length <= MAX_VALUE) return;
    const maximum = isAddress(value) ? MAX_ADDRESS : MAX_VALUE;
    if (value.length > maximum) issues.push(tooLong(value, maximum));
  })
  .meta({ maxLength: MAX_ADDRESS });

/** Reports a value that does not fit its type. */
function checkValue(value: string, type: unknown, context: z.RefinementCtx): void {
  if (type === 'discount_code' && value.length > MAX_VALUE) {
    context.addIssue({ ...tooLong(value, MAX_VALUE), path: ['value'] });
  }
  if (type !== 'link' || !isAddress(value)) return;
  const { error } = Destination.safeParse(value);
  const message = error?.issues[0]?.message;
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['value'], message, input: value });
}

/** Terms say the whole deal, so that a rate beside them would contradict them. */
export function checkDeal(
  deal: Unchecked<'terms' | 'commission_rate' | 'pays_renewals'>,
  context: z.RefinementCtx,
): void {
  if (deal.terms === undefined) return;
  for (const field of ['commission_rate', 'pays_renewals'] as const) {
    const input = deal[field];
    if (input === undefined) continue;
    const message = 'cannot stand beside `terms`, which say it';
    context.addIssue({ code: 'custom', path: [field], input, params: { code: 'conflict' }, message });
  }
}

export const LinkCreate = z
  .object({
    creator_email: Email.describe('A creator on the roster.'),
    value: valueOrAddress
      .describe('The code, the name of the link, or the https address that it redirects to.')
      .meta({ example: 'ANNA10' }),
    type: type.default('discount_code').describe('A code for the checkout, or a link with a short URL.'),
    commission_rate: Rate.optional().describe(
      "Percent of each sale that the creator earns. When omitted, the terms of the creator's group, the campaign or the brand apply; without any, the brand's `default_commission_rate`.",
    ),
    campaign_id: reference
      .nullable()
      .optional()
      .describe('Campaign that its sales count for; null or omitted for none.')
      .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' }),
    creator_name: assignedName.optional(),
    platform: platform.optional(),
    integration_id: reference
      .nullable()
      .describe('Store that verifies the coupon and whose currency is used. Without it, nothing is verified.')
      .meta({ example: 'int_0Uo3xK2mVdT2aXs7LpRb' })
      .optional(),
    hold_days: z
      .number()
      .int()
      .min(0)
      .max(90)
      .optional()
      .describe(
        "Review period in days, 30 by default or as the creator's group says. It runs from the payment of the order until its commission can be approved.",
      )
      .meta({ example: 30 }),
    attribution_days: z
      .number()
      .int()
      .min(1)
      .max(90)
      .optional()
      .describe(
        "Days after a click in which an order is attributed to it, 30 by default or as the creator's group says.",
      )
      .meta({ example: 30 }),
    pays_renewals: z
      .boolean()
      .optional()
      .describe('Whether orders that renew a subscription pay, too. By default they do not.')
      .meta({ example: false }),
    forward_parameters: ForwardParameters.default(true),
    terms: TermsInput.optional().describe(
      'What it pays and for how long, instead of `commission_rate` and `pays_renewals`.',
    ),
    destination_url: Destination.nullable()
      .describe(
        'Page that the link redirects to. Required for a link, unless `value` is an https address. With `integration_id` it must be a page of that store.',
      )
      .optional(),
    currency: Currency.describe(
      "Currency of the figures; the brand's when omitted. With `integration_id` it is always the store's.",
    ).optional(),
    notify: Notify,
  })
  .superRefine(({ type, value, destination_url }: Unchecked<'type' | 'value' | 'destination_url'>, context) => {
    const { data: usable } = valueOrAddress.safeParse(value);
    if (usable !== undefined) checkValue(usable, type, context);
    const leadsToValue = typeof value === 'string' && isAddress(value);
    if (type !== 'link' || leadsToValue || (destination_url ?? null) !== null) return;
    const message = 'is required for a link, unless `value` is an https address';
    context.addIssue({ code: 'custom', path: ['destination_url'], params: { code: 'required' }, message });
  }, besideOthers)
  .superRefine(checkDeal, besideOthers)
  .meta({ id: 'AffiliateLinkCreate' });
export type LinkCreate = z.output<typeof LinkCreate>;

/** A value changes a field, omitting it keeps it, null clears it. New terms apply to later orders. */
export const LinkPatch = z
  .object({
    value: value
      .describe('New code or link name. A link gets a new short URL, and the old one keeps redirecting.')
      .meta({ example: 'ANNA15' })
      .optional(),
    commission_rate: Rate.optional().describe(
      'Percent of later sales that the creator earns, with at most 4 decimals.',
    ),
    pays_renewals: z
      .boolean()
      .optional()
      .describe('Whether later orders that renew a subscription pay the creator.')
      .meta({ example: true }),
    forward_parameters: ForwardParameters.optional(),
    terms: TermsInput.nullable()
      .optional()
      .describe(
        "What later orders pay and for how long; null for the terms of its creator's group, its campaign or the brand.",
      ),
    hold_days: z
      .number()
      .int()
      .min(0)
      .max(90)
      .optional()
      .describe('Review period of the commissions of later orders, in days.')
      .meta({ example: 14 }),
    attribution_days: z
      .number()
      .int()
      .min(1)
      .max(90)
      .optional()
      .describe(
        'Days after a click in which an order is attributed to it. A change applies to later orders, also after earlier clicks.',
      )
      .meta({ example: 7 }),
    active: z.boolean().optional().describe('`false` deactivates it; `true` activates it again.'),
    creator_name: assignedName.optional(),
    platform: platform.optional(),
    campaign_id: reference
      .nullable()
      .describe('Campaign that its sales count for; null removes it from its campaign.')
      .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' })
      .optional(),
    destination_url: Destination.nullable()
      .describe('Page that the short URL redirects to from now on. A link must have one.')
      .optional(),
    url: Destination.nullable().describe('Alias of `destination_url`, which wins when both are given.').optional(),
    notify: z
      .boolean()
      .optional()
      .describe('`true`: emails the creator the code or link, if they have not had it, and changed terms in words.')
      .meta({ example: true }),
  })
  .superRefine(checkDeal, besideOthers)
  .meta({ id: 'AffiliateLinkPatch' });
export type LinkPatch = z.output<typeof LinkPatch>;

export const LinkRotation = z
  .object({
    value: value
      .describe(
        'The new code, which must exist at the connected store. When omitted, a readable one is generated; add it to the store.',
      )
      .meta({ example: 'ANNA15' })
      .optional(),
    old_pays_until: timestampInput
      .describe(
        'End of the time in which orders with the old code pay: at most 90 days from now, 14 days when omitted. The present time ends it at once.',
      )
      .optional(),
    notify: Notify.describe(
      '`true`: emails the new code at once. `false`: emails it once the connected store or an order has it.',
    ),
  })
  .meta({ id: 'AffiliateLinkRotation' });
export type LinkRotation = z.output<typeof LinkRotation>;

export const RotatedLink = Link.extend({
  old_code: z.string().describe('The code that was replaced.').meta({ example: 'ANA10' }),
  old_pays_until: timestamp
    .describe('Orders that are placed until then with the old code still pay.')
    .meta({ example: '2026-03-16T09:30:00.000Z' }),
}).meta({ id: 'RotatedAffiliateLink' });

/** `linksUrl` is the base URL of the links host. */
export const shortUrl = (linksUrl: string, slug: string | null) => (slug === null ? null : `${linksUrl}/r/${slug}`);

export function toLink(
  linksUrl: string,
  row: ListedLink,
  {
    figures = { ...NOTHING, others: [] },
    budget = [],
  }: { figures?: LinkFigures | undefined; budget?: z.output<typeof Budgets> | undefined } = {},
) {
  const { slug, currency } = row;
  const { terms, source } = getLinkTerms(row);
  const { percent, paysRenewals } = toPlainFields(terms);
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
    commission_rate: percent,
    discount_percent: row.discountPpm === null ? null : fromPpm(row.discountPpm),
    url: shortUrl(linksUrl, slug),
    pays_renewals: paysRenewals,
    forward_parameters: row.forwardParameters ?? true,
    terms: source === 'link' ? terms : null,
    effective_terms: terms,
    terms_source: source,
    terms_summary: summarizeTerms(terms),
    budget,
  };
}
