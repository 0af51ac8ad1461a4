import { z } from 'zod';
import { type EventsOf, events } from '../../kit/outbox/events.ts';
import { idField, updatedAt } from '../../kit/values/fields.ts';
import { listSchema, timestamp, WaitingListQuery } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { toWire } from '../../kit/values/wire.ts';
import { campaignFilter, creatorFilter, creatorName } from '../campaigns/campaigns.shapes.ts';

const status = z
  .enum(['pending', 'accepted', 'rejected', 'shortlisted'])
  .describe(
    'Application status. `pending` means the brand has not reviewed it; `accepted` puts the creator on the roster.',
  );
const note = z.string().describe("The brand's note; never shown to the creator.").meta({ example: 'Met at the fair.' });

export const Application = z
  .object({
    id: idField('app', 'Application id.'),
    campaign_id: idField('cmp', 'Campaign that the creator applied to.'),
    creator_email: z.string().describe('Email address that the creator gave.').meta({ example: 'ana@example.com' }),
    creator_name: creatorName,
    creator_photo_app: fromOutside(
      z
        .string()
        .nullable()
        .describe('Instagram handle (`photo_app`), without a leading @; null when none was given.')
        .meta({ example: 'anaeats' }),
    ),
    creator_video_app: fromOutside(
      z
        .string()
        .nullable()
        .describe('TikTok handle (`video_app`), without a leading @; null when none was given.')
        .meta({ example: 'ana.eats' }),
    ),
    status,
    message: fromOutside(
      z
        .string()
        .nullable()
        .describe("The creator's message to the brand; null when they wrote none.")
        .meta({ example: 'I would love to work with you.' }),
    ),
    portfolio_urls: fromOutside(
      z
        .array(z.string())
        .describe('Links to earlier work; empty when none were given.')
        .meta({ example: ['https://ana.example/work'] }),
    ),
    applied_at: timestamp.describe('When the creator applied.').meta({ example: '2026-03-02T09:30:00.000Z' }),
  })
  .meta({ id: 'Application' });
export type Application = z.infer<typeof Application>;

export const ApplicationOfCampaign = Application.extend({
  campaign_title: z.string().describe('Title of that campaign.').meta({ example: 'Summer launch' }),
}).meta({
  id: 'ApplicationOfCampaign',
});

export const ApplicationDetail = ApplicationOfCampaign.extend({
  note: note.nullable().describe("The brand's note, never shown to the creator; null when there is none."),
  updated_at: updatedAt,
}).meta({ id: 'ApplicationDetail' });

export const ApplicationSaved = ApplicationDetail.pick({ id: true, status: true, note: true, updated_at: true });

/** Set changes, omit keeps, null clears the note. A reviewed application cannot become pending again. */
export const ApplicationPatch = z
  .object({
    status: status.exclude(['pending']).optional().describe("The review's outcome."),
    note: note.max(5_000).nullable().optional().describe('Never shown to the creator.'),
  })
  .meta({ id: 'ApplicationPatch' });
export type ApplicationPatch = z.output<typeof ApplicationPatch>;

export const CampaignApplicationFilter = z.object({
  status: status.optional().describe('Only applications with this status.'),
  ...WaitingListQuery,
});
export type CampaignApplicationFilter = z.output<typeof CampaignApplicationFilter>;

export const ApplicationFilter = CampaignApplicationFilter.extend({
  campaign_id: campaignFilter,
  creator_email: creatorFilter,
});
export type ApplicationFilter = z.output<typeof ApplicationFilter>;

export const ApplicationList = listSchema(Application);

/** The list item of a row. Events carry it too. */
export const toApplication = (row: object): Application => Application.parse(toWire(row));

const applicationEvents = events({
  'application.received': {
    data: Application,
    when: 'A creator applied to a campaign.',
    shownTo: ['current', 'legacy'],
  },
  'application.approved': {
    data: Application,
    when: 'An application was accepted.',
    shownTo: ['current'],
  },
  'application.status_changed': {
    data: Application.extend({
      previous_status: z.string().describe('The status before the review.').meta({ example: 'pending' }),
    }),
    when: 'An application was reviewed.',
    shownTo: ['legacy'],
  },
});
declare module '../../kit/outbox/events.ts' {
  interface Events extends EventsOf<typeof applicationEvents> {}
}
