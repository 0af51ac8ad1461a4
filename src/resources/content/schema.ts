import { z } from 'zod';
import { type EventsOf, events } from '../../outbox/events.ts';
import { ListQuery, listOf, timestamp } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { Email } from '../creators/schema.ts';

const count = z.number().int().nullable().describe('Null where the platform does not say.');
const platform = z.enum(['photo_app', 'video_app', 'stream_app']);

const Metrics = z.object({
  views: count,
  likes: count,
  comments: count,
  shares: count,
  saves: count,
  engagement_rate: z
    .number()
    .nullable()
    .describe('Percent: likes, comments, shares and saves of views, or of followers where views are unknown.'),
});

export const Content = z
  .object({
    id: z.string(),
    url: fromOutside(z.string().describe('Without what only tracks whoever opens it.')),
    platform,
    type: z.string().nullable().meta({ example: 'reel' }),
    creator_email: z.string().nullable(),
    campaign_id: z.string().nullable(),
    metrics: Metrics.describe(
      'Zero until the first reading, when `last_refreshed` is null; null where a reading did not say; never estimated.',
    ),
    tracked_at: timestamp,
    last_refreshed: timestamp.nullable(),
    status: z.enum(['tracking', 'refreshing']),
    creator_name: fromOutside(z.string().nullable()),
    caption: fromOutside(z.string().nullable()),
    posted_at: timestamp.nullable(),
    paid_partnership: z.boolean().nullable().describe('Whether the post is marked as advertising.'),
    refresh_error: z
      .string()
      .nullable()
      .describe('Why the last refresh brought nothing: no_provider, unavailable, gone or interrupted.'),
    next_refresh_available: timestamp.nullable().describe('From when a refresh does something; null: now.'),
  })
  .meta({ id: 'Content' });

export const ContentDetail = Content.extend({
  metrics_history: z
    .array(z.object({ date: z.iso.date(), ...Metrics.omit({ engagement_rate: true }).shape }))
    .describe("Each day's last reading, oldest first."),
}).meta({ id: 'ContentDetail' });

export const ContentCreate = z
  .object({
    url: z.string().trim().min(1).max(2_000).describe('A post on a supported platform.').meta({
      example: 'https://www.instagram.com/reel/C1a2b3c4d5e/',
    }),
    creator_email: Email.nullable().optional().describe('Of somebody on the roster, or who applied to a campaign.'),
    campaign_id: z.string().min(1).max(100).nullable().optional(),
  })
  .meta({ id: 'ContentCreate' });
export type ContentCreate = z.output<typeof ContentCreate>;

export const ContentFilter = z.object({
  creator_email: Email.optional(),
  platform: platform.optional(),
  campaign_id: z.string().min(1).max(100).optional(),
  ...ListQuery,
});
export type ContentFilter = z.output<typeof ContentFilter>;

const total = z.number().int();
export const ContentList = listOf(Content)
  .extend({
    summary: z
      .object({
        content_count: total,
        total_views: total,
        total_likes: total,
        total_comments: total,
        total_shares: total,
        total_saves: total,
      })
      .describe('Over all matching rows, not the page.'),
  })
  .meta({ id: 'ContentList' });

export const ContentRefresh = z
  .object({
    id: z.string(),
    status: z.enum(['tracking', 'refreshing']).describe('`tracking`: it was refreshed less than an hour ago.'),
    last_refreshed: timestamp.nullable(),
    next_refresh_available: timestamp.nullable(),
  })
  .meta({ id: 'ContentRefresh' });

export const ContentDeleted = z.object({ deleted: z.literal(true), id: z.string() }).meta({ id: 'ContentDeleted' });

const contentEvents = events({
  'content.tracked': {
    data: Content,
    when: 'A post is tracked from now on.',
    shownTo: ['legacy'],
  },
  'content.refreshed': {
    data: Content.extend({ previous_metrics: Metrics.describe('Before this reading.') }),
    when: "A tracked post's metrics were read again.",
    shownTo: ['current', 'legacy'],
    olderName: 'content.metrics_updated',
  },
});
declare module '../../outbox/events.ts' {
  interface Events extends EventsOf<typeof contentEvents> {}
}
