import { z } from 'zod';
import { type EventsOf, events } from '../../outbox/events.ts';
import { ListQuery, listOf, timestamp } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { toWire } from '../../values/wire.ts';

const status = z.enum(['pending', 'accepted', 'rejected', 'shortlisted']);

export const Application = z
  .object({
    id: z.string(),
    campaign_id: z.string(),
    creator_email: z.string(),
    creator_name: fromOutside(z.string().nullable()),
    creator_photo_app: fromOutside(z.string().nullable().describe('Handle, without a leading @.')),
    creator_video_app: fromOutside(z.string().nullable().describe('Handle, without a leading @.')),
    status,
    message: fromOutside(z.string().nullable()),
    portfolio_urls: fromOutside(z.array(z.string())),
    applied_at: timestamp,
  })
  .meta({ id: 'Application' });
export type Application = z.infer<typeof Application>;

export const ApplicationOfCampaign = Application.extend({ campaign_title: z.string() }).meta({
  id: 'ApplicationOfCampaign',
});

export const ApplicationDetail = ApplicationOfCampaign.extend({
  note: z.string().nullable().describe("The brand's own, never shown to the creator."),
  updated_at: timestamp.nullable(),
}).meta({ id: 'ApplicationDetail' });

export const ApplicationSaved = ApplicationDetail.pick({ id: true, status: true, note: true, updated_at: true });

/** Set changes, omit keeps, null clears the note. No application is made pending again. */
export const ApplicationPatch = z
  .object({
    status: status.exclude(['pending']).optional(),
    note: z.string().max(5_000).nullable().optional(),
  })
  .meta({ id: 'ApplicationPatch' });
export type ApplicationPatch = z.output<typeof ApplicationPatch>;

export const CampaignApplicationFilter = z.object({ status: status.optional(), ...ListQuery });
export type CampaignApplicationFilter = z.output<typeof CampaignApplicationFilter>;

export const ApplicationFilter = CampaignApplicationFilter.extend({
  campaign_id: z.string().max(100).optional(),
  creator_email: z.email().max(254).optional().describe('In any case.'),
});

export const ApplicationList = listOf(Application);

/** A row as the list item, which is also what events carry. */
export const applicationOf = (row: object): Application => Application.parse(toWire(row));

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
    data: Application.extend({ previous_status: z.string().describe('The status before the review.') }),
    when: 'An application was reviewed.',
    shownTo: ['legacy'],
  },
});
declare module '../../outbox/events.ts' {
  interface Events extends EventsOf<typeof applicationEvents> {}
}
