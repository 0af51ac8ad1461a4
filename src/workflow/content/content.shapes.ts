import { z } from 'zod';
import { type EventsOf, events } from '../../kit/outbox/events.ts';
import { Email } from '../../kit/values/email.ts';
import { campaignId, creatorEmail, idField, PLATFORM_NAMES } from '../../kit/values/fields.ts';
import { ListQuery, listSchema, timestamp } from '../../kit/values/page.ts';
import { PLATFORMS } from '../../kit/values/platforms.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { toWire } from '../../kit/values/wire.ts';
import { creatorName } from '../campaigns/campaigns.shapes.ts';
import type { ContentRow } from './content.ts';
import { engagementRate, refreshAvailableAt } from './posts.ts';

const count = (what: string, example: number) =>
  z.number().int().nullable().describe(`${what}; null where the platform does not say.`).meta({ example });
const id = idField('cnt', 'Id of the tracked post.');
const status = z.enum(['tracking', 'refreshing']);
const lastRefreshed = timestamp
  .nullable()
  .describe('When the metrics were last read; null before the first reading.')
  .meta({ example: '2026-03-12T06:00:00.000Z' });
const nextRefreshAvailable = timestamp
  .nullable()
  .describe('When the next refresh can be requested; null: now.')
  .meta({ example: '2026-03-12T07:00:00.000Z' });
const platform = z.enum(PLATFORMS);

const Metrics = z.object({
  views: count('Number of views', 88_000),
  likes: count('Number of likes', 5_400),
  comments: count('Number of comments', 120),
  shares: count('Number of shares', 95),
  saves: count('Number of saves', 310),
  engagement_rate: z
    .number()
    .nullable()
    .describe(
      'Likes, comments, shares and saves as a percentage of views, or of followers where views are unknown; null where both are.',
    )
    .meta({ example: 6.73 }),
});

export const Content = z
  .object({
    id,
    url: fromOutside(
      z
        .string()
        .describe('Address of the post, without tracking parameters.')
        .meta({ example: 'https://instagram.com/reel/C1a2b3c4d5e' }),
    ),
    platform: platform.describe(`Platform of the post: ${PLATFORM_NAMES}.`),
    type: z
      .string()
      .nullable()
      .describe('Kind of post, as the platform names it; null when unknown.')
      .meta({ example: 'reel' }),
    creator_email: creatorEmail,
    campaign_id: campaignId,
    metrics: Metrics.describe(
      'Metrics of the last reading, never estimated. Null where nothing was read, except in the answer that starts the tracking, where they are zero.',
    ),
    tracked_at: timestamp.describe('When tracking began.').meta({ example: '2026-03-10T18:00:00.000Z' }),
    last_refreshed: lastRefreshed,
    status: status.describe('Tracking status. `refreshing`: a reading is under way.'),
    creator_name: creatorName,
    caption: fromOutside(
      z
        .string()
        .nullable()
        .describe('Caption of the post; null before the first reading or when it has none.')
        .meta({ example: 'Summer with Acme' }),
    ),
    posted_at: timestamp
      .nullable()
      .describe('When the creator posted it; null before the first reading.')
      .meta({ example: '2026-03-10T17:00:00.000Z' }),
    paid_partnership: z.boolean().nullable().describe('Whether the post is marked as advertising; null when unknown.'),
    refresh_error: z
      .string()
      .nullable()
      .describe(
        'Why the last refresh failed: `no_provider`, `unavailable`, `gone` or `interrupted`; null when it succeeded.',
      )
      .meta({ example: null }),
    next_refresh_available: nextRefreshAvailable,
  })
  .meta({ id: 'Content' });

export const ContentDetail = Content.extend({
  metrics_history: z
    .array(
      z.object({
        date: z.iso.date().describe("Day of the reading, in the brand's time zone.").meta({ example: '2026-03-12' }),
        ...Metrics.omit({ engagement_rate: true }).shape,
      }),
    )
    .describe('The last reading of each day, oldest first.'),
}).meta({ id: 'ContentDetail' });

export const ContentCreate = z
  .object({
    url: z.string().trim().min(1).max(2_000).describe('Address of a post on Instagram, TikTok or YouTube.').meta({
      example: 'https://www.instagram.com/reel/C1a2b3c4d5e/',
    }),
    creator_email: Email.nullable().optional().describe('A creator on the roster, or an applicant.'),
    campaign_id: z
      .string()
      .min(1)
      .max(100)
      .nullable()
      .optional()
      .describe('Campaign it belongs to; null for none.')
      .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' }),
  })
  .meta({ id: 'ContentCreate' });
export type ContentCreate = z.output<typeof ContentCreate>;

export const ContentFilter = z.object({
  creator_email: Email.optional().describe('Only posts of this creator; case is ignored.'),
  platform: platform.optional().describe(`Platform of the posts: ${PLATFORM_NAMES}.`),
  campaign_id: z.string().min(1).max(100).optional().describe('Only posts of this campaign.'),
  ...ListQuery,
  sort: z
    .enum(['newest', 'oldest', 'views', 'likes', 'comments', 'engagement'])
    .default('newest')
    .describe(
      '`views`, `likes`, `comments`, `engagement`: by that metric, largest first. The others sort by the time when tracking began.',
    ),
});
export type ContentFilter = z.output<typeof ContentFilter>;

const total = (what: string, example: number) => z.number().int().describe(what).meta({ example });
export const ContentList = listSchema(Content)
  .extend({
    summary: z
      .object({
        content_count: total('Number of matching posts.', 7),
        total_views: total('Views of the matching posts, as far as known.', 88_000),
        total_likes: total('Likes of the matching posts, as far as known.', 5_400),
        total_comments: total('Comments on the matching posts, as far as known.', 120),
        total_shares: total('Shares of the matching posts, as far as known.', 95),
        total_saves: total('Saves of the matching posts, as far as known.', 310),
      })
      .describe('Sums over all matching posts, not only this page.'),
  })
  .meta({ id: 'ContentList' });

export const ContentRefresh = z
  .object({
    id,
    status: status.describe('`refreshing`: a reading is under way; `tracking`: the last request is too recent.'),
    last_refreshed: lastRefreshed,
    next_refresh_available: nextRefreshAvailable,
  })
  .meta({ id: 'ContentRefresh' });

export const ContentDeleted = z
  .object({ deleted: z.literal(true).describe('Always true: the post is no longer tracked.'), id })
  .meta({ id: 'ContentDeleted' });

const contentEvents = events({
  'content.tracked': {
    data: Content,
    when: 'The brand began to track a post.',
    shownTo: ['legacy'],
  },
  'content.refreshed': {
    data: Content.extend({ previous_metrics: Metrics.describe('Metrics before this reading.') }),
    when: "A tracked post's metrics were read again.",
    shownTo: ['current', 'legacy'],
    olderName: 'content.metrics_updated',
  },
});
declare module '../../kit/outbox/events.ts' {
  interface Events extends EventsOf<typeof contentEvents> {}
}

/** The wire shape of a tracked post; `now` decides whether a refresh would have an effect. */
export function toContent(row: ContentRow, now: Date): z.infer<typeof Content> {
  const nextRefreshAvailable = refreshAvailableAt(row.refreshRequestedAt, now);
  const { views, likes, comments, shares, saves } = row;
  const metrics = { views, likes, comments, shares, saves, engagement_rate: engagementRate(row) };
  return Content.parse({ ...toWire({ ...row, nextRefreshAvailable }), metrics });
}

/** A post as returned when tracking begins: its metrics are zero, and unknown until the first reading. */
export function toNewContent(row: ContentRow, now: Date): z.infer<typeof Content> {
  const metrics = { views: 0, likes: 0, comments: 0, shares: 0, saves: 0, engagement_rate: 0 };
  return { ...toContent(row, now), metrics };
}
