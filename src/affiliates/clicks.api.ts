import { z } from 'zod';
import { type ListedClick, listClicks } from '../analytics/figures/clicks.ts';
import { withFreshness } from '../analytics/figures/freshness.ts';
import { Boundary, FRESHNESS, toEnd, toStart } from '../analytics/figures/sums.ts';
import type { Db } from '../kit/engines/postgres/open.ts';
import type { Context } from '../kit/operation/context.ts';
import { read } from '../kit/operation/kit.ts';
import { getTimeZone } from '../kit/operation/local-days.ts';
import { noun } from '../kit/operation/noun.ts';
import { DAY_MS } from '../kit/values/duration.ts';
import { idField } from '../kit/values/fields.ts';
import { clampedParameter, timestamp, timeZoneInput } from '../kit/values/page.ts';
import { fromOutside } from '../kit/values/untrusted.ts';
import { CLICK_KINDS } from '../kit/values/visitor.ts';

const MOST = 100;

const utmFilter = (name: string, example: string) =>
  z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe(`Only clicks that brought this \`${name}\` to the shop.`)
    .meta({ example });

const utmField = (name: string, example: string) =>
  fromOutside(
    z
      .string()
      .nullable()
      .describe(`The \`${name}\` that the short link was opened with and the shop received; null without one.`)
      .meta({ example }),
  );

const ClickFilter = z.object({
  link_id: z.string().max(100).describe('Only clicks on this link.').optional(),
  kind: z.enum(CLICK_KINDS).describe('Only clicks of this kind; figures count `counted`.').optional(),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be an ISO 3166 code such as `DE`')
    .refine((code) => code !== 'UK', 'must be the ISO 3166 code GB')
    .describe('Only clicks from this country.')
    .optional(),
  device: z.enum(['mobile', 'tablet', 'desktop', 'bot']).describe('Only clicks on this kind of device.').optional(),
  referrer: z.string().min(1).max(253).describe('Only clicks from pages of this host.').optional(),
  utm_source: utmFilter('utm_source', 'instagram'),
  utm_medium: utmFilter('utm_medium', 'story'),
  utm_campaign: utmFilter('utm_campaign', 'spring'),
  utm_term: utmFilter('utm_term', 'serum'),
  utm_content: utmFilter('utm_content', 'bio'),
  from: Boundary.describe('Only clicks at or after this time; at most 90 days ago, which is the default.').optional(),
  to: Boundary.describe(
    'Only clicks at or before this time; a date includes the whole day. Omitted: until now.',
  ).optional(),
  after: z
    .string()
    .regex(/^clk_[0-9A-Za-z]{20}$/, 'must be `next_after` of the page before')
    .describe('`next_after` of the previous page: only older clicks are returned.')
    .optional(),
  time_zone: timeZoneInput,
  limit: clampedParameter(MOST).default(20).describe('Clicks per page; larger values are clamped to 100.'),
});
type ClickFilter = z.output<typeof ClickFilter>;

const Click = z
  .object({
    id: idField('clk', 'Public id of the click, as commissions and explanations name it.'),
    at: timestamp.describe('When the short link was opened.').meta({ example: '2026-03-01T18:05:00.000Z' }),
    kind: z
      .enum(CLICK_KINDS)
      .describe(
        'Whether figures count it. `repeat`: the same visitor within 30 seconds. `bot`: a program. `prefetch`: a browser loaded the link before a person clicked. `head`: a program requested only the headers.',
      ),
    link_id: z
      .string()
      .describe('Link that was opened, in `/v1/affiliates/links`.')
      .meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
    creator_id: idField('crt', 'Creator of that link.'),
    country: z
      .string()
      .nullable()
      .describe('Country of the visitor as an ISO 3166 code; null when unknown.')
      .meta({ example: 'DE' }),
    device: z.string().nullable().describe('`mobile`, `tablet`, `desktop` or `bot`.').meta({ example: 'mobile' }),
    referrer: fromOutside(
      z
        .string()
        .nullable()
        .describe('Host of the page with the link; null when the browser did not say.')
        .meta({ example: 'l.instagram.com' }),
    ),
    rule: z
      .string()
      .nullable()
      .describe('The rule by which the user agent was read as a person’s or a program’s; null when none applied.')
      .meta({ example: 'isbot' }),
    utm_source: utmField('utm_source', 'instagram'),
    utm_medium: utmField('utm_medium', 'story'),
    utm_campaign: utmField('utm_campaign', 'spring'),
    utm_term: utmField('utm_term', 'serum'),
    utm_content: utmField('utm_content', 'bio'),
    has_order: z.boolean().describe('Whether it won an order that was paid.').meta({ example: false }),
  })
  .meta({ id: 'Click' });

const Clicks = z.object({
  data: z.array(Click).describe('Clicks, newest first.'),
  has_more: z.boolean().describe('Whether there are older clicks.'),
  next_after: z
    .string()
    .nullable()
    .describe('Send it as `after` for the next page; null on the last.')
    .meta({ example: 'clk_0Uo3xK2mVdT2aXs7LpRb' }),
});

const KEPT_DAYS = 90;

const toClick = ({ click_id, at, ...row }: ListedClick): Omit<z.input<typeof Click>, 'has_order'> => ({
  id: click_id,
  at: `${at.replace(' ', 'T')}Z`,
  kind: row.kind,
  link_id: row.link_id,
  creator_id: row.creator_id,
  country: row.country || null,
  device: row.device || null,
  referrer: row.referrer_host || null,
  rule: row.rule || null,
  utm_source: row.utm_source || null,
  utm_medium: row.utm_medium || null,
  utm_campaign: row.utm_campaign || null,
  utm_term: row.utm_term || null,
  utm_content: row.utm_content || null,
});

/** The clicks of a page that won an order. */
async function listWinners(db: Db, brandId: string, page: readonly ListedClick[]): Promise<ReadonlySet<string | null>> {
  if (page.length === 0) return new Set();
  const rows = await db
    .selectFrom('commissions')
    .select('clickId')
    .where('brandId', '=', brandId)
    .where('paidAt', 'is not', null)
    .where('clickId', 'is not', null)
    .where(
      'clickId',
      'in',
      page.map(({ click_id }) => click_id),
    )
    .execute();
  return new Set(rows.map(({ clickId }) => clickId));
}

async function listClicksPage(
  { clickhouse, clock, postgres }: Pick<Context, 'clickhouse' | 'clock' | 'postgres'>,
  brandId: string,
  { from, to, limit, link_id: link, time_zone: named, ...only }: ClickFilter,
) {
  const now = clock.now();
  const earliest = new Date(now.getTime() - KEPT_DAYS * DAY_MS);
  const timeZone = named ?? (await getTimeZone(postgres.db, brandId));
  const start = from === undefined ? earliest : toStart(from, timeZone);
  const where = {
    from: start > earliest ? start : earliest,
    until: to === undefined ? new Date(now.getTime() + DAY_MS) : toEnd(to, timeZone),
  };
  const rows = await listClicks(clickhouse, brandId, { ...only, ...where, link }, limit + 1);
  const page = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  const winners = await listWinners(postgres.db, brandId, page);
  const data = page.map((row) => ({ ...toClick(row), has_order: winners.has(row.click_id) }));
  return { data, has_more: hasMore, next_after: hasMore ? (page.at(-1)?.click_id ?? null) : null };
}

const clickOperations = [
  read({
    id: 'list_clicks',
    path: '/v1/clicks',
    tag: 'Clicks',
    summary: 'List clicks',
    description:
      'Clicks on the brand’s short links in the last 90 days, counted or not, newest first. Send `next_after` as `after` ' +
      `for older ones. ${FRESHNESS}`,
    // Agents have breakdowns.
    forAgents: { isListed: false },
    query: ClickFilter,
    response: Clicks,
    handler: (context, call) =>
      withFreshness(context, call, () => listClicksPage(context, call.caller.brandId, call.query)),
  }),
] as const;

export const clicks = noun({
  name: 'clicks',
  tag: { name: 'Clicks', about: 'Visits to the short links of creators, one by one.' },
  operations: clickOperations,
});
