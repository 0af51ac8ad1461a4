import { z } from 'zod';
import { type EventsOf, events } from '../../kit/outbox/events.ts';
import { Email } from '../../kit/values/email.ts';
import { campaignId, createdAt, creatorEmail, idField, PLATFORM_NAMES, updatedAt } from '../../kit/values/fields.ts';
import { booleanParameter, ListQuery, timestamp } from '../../kit/values/page.ts';
import { PLATFORMS } from '../../kit/values/platforms.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { toWire } from '../../kit/values/wire.ts';
import { UsageTerms } from '../assets/assets.shapes.ts';
import { campaignFilter, campaignIdInput, creatorFilter, creatorName } from '../campaigns/campaigns.shapes.ts';
import type { DeliverableFacts, SubmissionRow } from './deliverables.ts';

const STATUSES = [
  'pending',
  'in_progress',
  'submitted',
  'approved',
  'revision_requested',
  'declined',
  'cancelled',
] as const;

/** A calendar day between 2000 and 2199. */
export const DueDate = z.iso
  .date({ error: 'must be a date such as 2027-01-31' })
  .refine((day) => day >= '2000-01-01' && day <= '2199-12-31', 'must be a date between 2000 and 2199')
  .meta({ example: '2027-01-31' });

/** Usage rights as data, from which the end of an asset's rights is computed. */
export const ContractTerms = z
  .object({
    channels: z
      .array(z.string().trim().min(1).max(100))
      .max(20)
      .default([])
      .describe('Channels it may be used on; empty for any.')
      .meta({ example: ['paid_social'] }),
    territory: UsageTerms.shape.territory,
    days: UsageTerms.shape.days,
    starts: z
      .enum(['signed', 'posted', 'fixed'])
      .default('signed')
      .describe('The days count from the signature, the first post or `starts_on`.'),
    starts_on: DueDate.nullable().default(null).describe('First day of use, when `starts` is `fixed`; null otherwise.'),
  })
  .superRefine(({ starts, starts_on }: Unchecked<'starts' | 'starts_on'>, context) => {
    if ((starts === 'fixed') === (typeof starts_on === 'string')) return;
    const message = 'must be a date where `starts` is `fixed`, and only there';
    context.addIssue({ code: 'custom', path: ['starts_on'], message, input: starts_on });
  }, besideOthers)
  .meta({ id: 'ContractTerms' });
export type ContractTerms = z.output<typeof ContractTerms>;

const DeliverableType = z
  .string()
  .trim()
  .min(1)
  .max(50)
  .describe('Kind of content to deliver.')
  .meta({ example: 'reel' });
export const Platform = z.enum(PLATFORMS);

const id = idField('dlv', 'Deliverable id.');
const status = z
  .enum(STATUSES)
  .describe(
    'Deliverable status. `in_progress`: the creator has opened its page; `submitted`: it awaits review; `declined`: the creator refused it.',
  );
const type = z.string().describe('Kind of content to deliver.').meta({ example: 'reel' });
const platform = z
  .string()
  .nullable()
  .describe(`Platform the content is posted on: ${PLATFORM_NAMES}; null when left open.`)
  .meta({ example: 'photo_app' });
const dueDate = z
  .string()
  .nullable()
  .describe("Day it is due, in the brand's time zone; null for none.")
  .meta({ example: '2027-01-31' });
/** One unit, or several alike, as they are returned. */
export const WorkShown = { type, platform, due_date: dueDate };
const dueDateInput = DueDate.nullable().describe("Day it is due, in the brand's time zone; null for none.");
export const WorkInput = {
  type: DeliverableType,
  platform: Platform.nullable().describe(`Platform the content is posted on: ${PLATFORM_NAMES}; null when left open.`),
  due_date: dueDateInput,
};

const feedbackExample = 'Please show the product in the first seconds.';
const contentUrl = fromOutside(
  z
    .string()
    .nullable()
    .describe('Address of the content, as the creator gave it; null when only files were submitted.')
    .meta({ example: 'https://www.instagram.com/reel/C1a2b3c4d5e/' }),
);
const assetIds = z
  .array(z.string())
  .describe('Submitted files, as ids of the asset library.')
  .meta({ example: ['ast_0Uo3xK2mVdT2aXs7LpRb'] });
const caption = fromOutside(
  z
    .string()
    .nullable()
    .describe('Caption that the creator submitted; null when they wrote none.')
    .meta({ example: 'Summer with Acme' }),
);

/** A piece of work that a creator owes. Lists and events carry it. */
export const Deliverable = z
  .object({
    id,
    contract_id: z
      .string()
      .nullable()
      .describe('Contract that promises it; null when it was requested without a contract.')
      .meta({ example: 'ctr_0Uo3xK2mVdT2aXs7LpRb' }),
    campaign_id: campaignId,
    creator_email: creatorEmail,
    creator_name: creatorName,
    type,
    platform,
    status,
    content_url: contentUrl.describe(
      'Address of the latest version; null when nothing was submitted, or only files were.',
    ),
    asset_ids: assetIds.describe('Files of the latest version, as ids of the asset library.'),
    caption: caption.describe('Caption of the latest version; null when the creator wrote none.'),
    due_date: dueDate,
    submitted_at: timestamp
      .nullable()
      .describe('When the latest version was submitted; null until then.')
      .meta({ example: '2026-03-10T12:00:00.000Z' }),
    is_late: z
      .boolean()
      .describe(
        "True when the latest version came after the due date, or the creator still owes it then, in the brand's time zone.",
      )
      .meta({ example: false }),
    version: z.number().int().describe('Number of versions submitted so far.').meta({ example: 1 }),
    feedback: z
      .string()
      .nullable()
      .describe("The brand's feedback from its latest review; null when it gave none.")
      .meta({ example: feedbackExample }),
    declined_reason: fromOutside(
      z
        .string()
        .nullable()
        .describe('Why the creator declined it; null unless `declined`.')
        .meta({ example: 'I am travelling that month.' }),
    ),
    approved_at: timestamp
      .nullable()
      .describe('When the brand approved it; null until then.')
      .meta({ example: '2026-03-16T09:30:00.000Z' }),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Deliverable' });
export type Deliverable = z.infer<typeof Deliverable>;

const Submission = z.object({
  version: z.number().int().describe('Number of this version; the first is 1.').meta({ example: 1 }),
  content_url: contentUrl,
  asset_ids: assetIds,
  caption,
  is_late: z.boolean().describe('True when this version came after the due date.').meta({ example: false }),
  submitted_at: timestamp.describe('When this version was submitted.').meta({ example: '2026-03-10T12:00:00.000Z' }),
  feedback: z
    .string()
    .nullable()
    .describe("The brand's feedback on this version; null when it gave none.")
    .meta({ example: feedbackExample }),
});

export const DeliverableDetail = Deliverable.extend({
  instructions: z
    .string()
    .nullable()
    .describe('What the creator is to make; null when nothing was written.')
    .meta({ example: 'Show the product in the first three seconds.' }),
  track: z.boolean().describe('Whether the post at `content_url` is tracked once it is approved.'),
  submissions: z.array(Submission).describe('Every version, newest first.'),
}).meta({ id: 'DeliverableDetail' });

export const DeliverableSaved = Deliverable.pick({ id: true, status: true, feedback: true, updated_at: true }).extend({
  due_date: dueDate,
});

export const DeliverableCreate = z
  .object({
    creator_email: Email.describe('A creator on the roster, or an applicant.'),
    campaign_id: campaignIdInput.optional(),
    type: DeliverableType,
    platform: WorkInput.platform.optional(),
    instructions: z
      .string()
      .trim()
      .max(10_000)
      .nullable()
      .optional()
      .describe('What the creator is to make.')
      .meta({ example: 'Show the product in the first three seconds.' }),
    due_date: dueDateInput.optional(),
    contract_id: z
      .null({ error: 'must be null: the deliverables of a contract are created with the contract' })
      .optional()
      .describe('Always null: the deliverables of a contract are created with the contract.'),
  })
  .meta({ id: 'DeliverableCreate' });
export type DeliverableCreate = z.output<typeof DeliverableCreate>;

export const DeliverablePatch = z
  .object({
    status: z
      .enum(['approved', 'revision_requested', 'cancelled'])
      .optional()
      .describe('Approves it, sends it back to the creator, or cancels it.'),
    feedback: z
      .string()
      .trim()
      .max(5_000)
      .nullable()
      .optional()
      .describe('Shown to the creator. A review without it removes earlier feedback.')
      .meta({ example: feedbackExample }),
    due_date: dueDateInput.optional(),
    track: z
      .boolean()
      .optional()
      .describe('Track the post at `content_url` once it is approved, as `track_content` does.'),
  })
  .meta({ id: 'DeliverablePatch' });
export type DeliverablePatch = z.output<typeof DeliverablePatch>;

export const DeliverableFilter = z.object({
  campaign_id: campaignFilter,
  contract_id: z.string().max(100).optional().describe('Only deliverables of this contract.'),
  creator_email: creatorFilter,
  status: status.optional().describe('Only deliverables with this status.'),
  overdue: booleanParameter()
    .optional()
    .describe('true: only what creators still owe after its due date. false: only the rest.'),
  ...ListQuery,
  sort: z
    .enum(['newest', 'oldest', 'due', 'waiting'])
    .default('newest')
    .describe(
      '`due`: soonest first; what creators no longer owe comes last. `waiting`: the same after what is submitted for your review.',
    ),
});
export type DeliverableFilter = z.output<typeof DeliverableFilter>;

/** Compares days of the brand's zone: nothing is late on the due day itself. */
export const isLateAt = (at: Date, dueDate: string | null, timeZone: string): boolean =>
  dueDate !== null && dayIn(timeZone, at) > dueDate;

/** The creator has to act. */
export const OWED = ['pending', 'in_progress', 'revision_requested'] as const;
export const isOwed = (status: string): boolean => OWED.some((one) => one === status);

const isLate = ({ status: state, submittedAt, dueDate: due, timeZone }: DeliverableFacts, now: Date): boolean =>
  (submittedAt !== null && isLateAt(submittedAt, due, timeZone)) || (isOwed(state) && isLateAt(now, due, timeZone));

/** The list item of a row. Events carry it too. */
export const toDeliverable = (row: DeliverableFacts, now: Date): Deliverable =>
  Deliverable.parse({ ...toWire(row), is_late: isLate(row, now) });

export const toDeliverableDetail = (row: DeliverableFacts, submissions: readonly SubmissionRow[], now: Date) =>
  DeliverableDetail.parse({
    ...toWire(row),
    is_late: isLate(row, now),
    submissions: submissions.map(({ n, at, ...submission }) => ({
      ...toWire(submission),
      version: n,
      submitted_at: at.toISOString(),
    })),
  });

const deliverableEvents = events({
  'deliverable.submitted': {
    data: Deliverable,
    when: 'A creator submitted content for a deliverable.',
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
    when: 'The brand asked to track the post of an approved deliverable.',
    shownTo: [],
  },
});
declare module '../../kit/outbox/events.ts' {
  interface Events extends EventsOf<typeof deliverableEvents> {}
}
