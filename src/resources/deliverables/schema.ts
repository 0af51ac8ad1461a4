import { z } from 'zod';
import { type EventsOf, events } from '../../outbox/events.ts';
import { ListQuery, timestamp } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { toWire } from '../../values/wire.ts';
import { Email } from '../creators/schema.ts';
import { isLateAt } from './policy.ts';
import type { DeliverableFacts, SubmissionRow } from './queries.ts';
import { DueDate } from './terms-schema.ts';

const STATUSES = [
  'pending',
  'in_progress',
  'submitted',
  'approved',
  'revision_requested',
  'declined',
  'cancelled',
] as const;

export const DeliverableType = z.string().trim().min(1).max(50).meta({ example: 'reel' });
export const Platform = z.enum(['photo_app', 'video_app', 'stream_app']);
/** One piece of work that a creator owes, as lists and events show it. */
export const Deliverable = z
  .object({
    id: z.string(),
    contract_id: z.string().nullable().describe('Null when it was asked for outside of any contract.'),
    campaign_id: z.string().nullable(),
    creator_email: z.string().nullable(),
    creator_name: fromOutside(z.string().nullable()),
    type: z.string().meta({ example: 'reel' }),
    platform: z.string().nullable(),
    status: z.enum(STATUSES),
    content_url: fromOutside(z.string().nullable().describe('Where the latest version is to be seen.')),
    asset_ids: z.array(z.string()).describe('Files of the latest version, in the asset library.'),
    caption: fromOutside(z.string().nullable().describe('What the creator wrote to the latest version.')),
    due_date: z.string().nullable().describe('A day, such as 2027-01-31.'),
    submitted_at: timestamp.nullable().describe('Of the latest version.'),
    is_late: z.boolean().describe('True when the latest version came after the due date, by the UTC day.'),
    version: z.number().int().describe('How often something was submitted.'),
    feedback: z.string().nullable().describe("The brand's, of its latest review."),
    declined_reason: fromOutside(z.string().nullable()),
    approved_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'Deliverable' });
export type Deliverable = z.infer<typeof Deliverable>;

const Submission = z.object({
  version: z.number().int(),
  content_url: fromOutside(z.string().nullable()),
  asset_ids: z.array(z.string()),
  caption: fromOutside(z.string().nullable()),
  is_late: z.boolean(),
  submitted_at: timestamp,
  feedback: z.string().nullable().describe("The brand's, of this version."),
});

export const DeliverableDetail = Deliverable.extend({
  instructions: z.string().nullable().describe('What is asked for; shown to the creator.'),
  track: z.boolean().describe('Whether the post at `content_url` is followed from its approval on.'),
  submissions: z.array(Submission).describe('Every version, newest first.'),
}).meta({ id: 'DeliverableDetail' });

export const DeliverableSaved = Deliverable.pick({ id: true, status: true, feedback: true, updated_at: true }).extend({
  due_date: z.string().nullable(),
});

export const DeliverableCreate = z
  .object({
    creator_email: Email.describe('Of somebody on the roster, or who applied to a campaign.'),
    campaign_id: z.string().max(100).nullable().optional(),
    type: DeliverableType,
    platform: Platform.nullable().optional(),
    instructions: z.string().trim().max(10_000).nullable().optional(),
    due_date: DueDate.nullable().optional(),
    contract_id: z
      .null({ error: 'must be null: what a contract promises is created with the contract' })
      .optional()
      .describe("Always null: a contract's deliverables are created with it."),
  })
  .meta({ id: 'DeliverableCreate' });
export type DeliverableCreate = z.output<typeof DeliverableCreate>;

export const DeliverablePatch = z
  .object({
    status: z.enum(['approved', 'revision_requested', 'cancelled']).optional(),
    feedback: z.string().trim().max(5_000).nullable().optional().describe('Shown to the creator.'),
    due_date: DueDate.nullable().optional(),
    track: z
      .boolean()
      .optional()
      .describe('Follow the post at `content_url` from its approval on, as `POST /v1/content` does.'),
  })
  .meta({ id: 'DeliverablePatch' });
export type DeliverablePatch = z.output<typeof DeliverablePatch>;

export const DeliverableFilter = z.object({
  campaign_id: z.string().max(100).optional(),
  contract_id: z.string().max(100).optional(),
  creator_email: z.email().max(254).optional().describe('In any case.'),
  status: z.enum(STATUSES).optional(),
  ...ListQuery,
});

const isLate = ({ submittedAt, dueDate }: DeliverableFacts): boolean =>
  submittedAt !== null && isLateAt(submittedAt, dueDate);

/** A row as the list item, which is also what events carry. */
export const deliverableOf = (row: DeliverableFacts): Deliverable =>
  Deliverable.parse({ ...toWire(row), is_late: isLate(row) });

const submissionOf = ({ n, at, ...row }: SubmissionRow) => ({
  ...toWire(row),
  version: n,
  submitted_at: at.toISOString(),
});

export const deliverableDetailOf = (row: DeliverableFacts, submissions: readonly SubmissionRow[]) =>
  DeliverableDetail.parse({
    ...toWire(row),
    is_late: isLate(row),
    submissions: submissions.map(submissionOf),
  });

const deliverableEvents = events({
  'deliverable.submitted': {
    data: Deliverable,
    when: 'A creator handed in content for a deliverable.',
    shownTo: ['current'],
  },
  'deliverable.approved': {
    data: Deliverable,
    when: 'A submission was approved.',
    shownTo: ['current', 'legacy'],
    olderName: 'deliverable.completed',
  },
  'deliverable.revision_requested': {
    data: Deliverable,
    when: 'A submission was sent back with notes.',
    shownTo: ['current'],
  },
  'deliverable.declined': {
    data: Deliverable,
    when: 'A creator declined a deliverable.',
    shownTo: ['current'],
  },
  'deliverable.cancelled': {
    data: Deliverable,
    when: 'A deliverable was cancelled before it was completed.',
    shownTo: ['current'],
  },
  'deliverable.track_requested': {
    data: Deliverable,
    when: 'The post of an approved deliverable is to be tracked.',
    shownTo: [],
  },
});
declare module '../../outbox/events.ts' {
  interface Events extends EventsOf<typeof deliverableEvents> {}
}
