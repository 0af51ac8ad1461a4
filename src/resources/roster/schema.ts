import { z } from 'zod';
import { type EventsOf, events } from '../../outbox/events.ts';
import { ListQuery, timestamp } from '../../values/page.ts';
import { besideOthers, type Unchecked } from '../../values/problems.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { CreatorName, Email, Handle, PersonFilter, Tags } from '../creators/schema.ts';

const status = z.enum(['active', 'hired', 'paused', 'removed']).describe('`hired`: active, and added by handle.');
const settableStatus = z.enum(['active', 'paused', 'removed']);
const count = z.number().int().nullable();
export const MAX_NOTE = 5_000;
const note = z.string().trim().max(MAX_NOTE).nullable();

export const RosterEntry = z
  .object({
    id: z.string(),
    creator_email: z.string().nullable(),
    creator_name: fromOutside(z.string().nullable()),
    status,
    added_at: timestamp,
    campaigns_completed: z.number().int(),
    total_earned: z
      .number()
      .describe("Commissions paid in the brand's currency, without what refunds took back and payouts netted."),
    by_currency: z
      .array(z.object({ currency: z.string(), total_earned: z.number() }))
      .describe('The same in other currencies.'),
    ig_handle: fromOutside(z.string().nullable()),
    tt_handle: fromOutside(z.string().nullable()),
    tags: z.array(z.string()),
    note: z.string().nullable(),
  })
  .meta({ id: 'RosterEntry' });

/** Everything the brand holds of one creator of its roster. */
export const RosterRecord = RosterEntry.extend({
  creator_id: z.string().describe('The same person in `/v1/creators`.'),
  pfp_url: fromOutside(z.string().nullable()),
  ig_followers: count,
  tt_followers: count,
  engagement_rate: z.number().nullable().describe('Percent: 3.5 means 3.5 %.'),
  updated_at: timestamp.nullable(),
}).meta({ id: 'RosterRecord' });

export const RosterAdded = RosterEntry.pick({ id: true, creator_email: true, status: true, added_at: true });

export const RosterAddedByHandle = RosterRecord.pick({
  id: true,
  ig_handle: true,
  tt_handle: true,
  pfp_url: true,
  ig_followers: true,
  tt_followers: true,
  tags: true,
  status: true,
}).extend({ name: fromOutside(z.string().nullable()) });

export const RosterRemoved = z.object({ id: z.string(), status: z.literal('removed') });

export const RosterFilter = z.object({
  status: settableStatus.describe('`active` also finds the hired.').optional(),
  ...PersonFilter,
  ...ListQuery,
});
export type RosterFilter = z.output<typeof RosterFilter>;

export const RosterAdd = z.object({ creator_email: Email, note: note.optional() }).meta({ id: 'RosterAdd' });
export type RosterAdd = z.output<typeof RosterAdd>;

export const RosterAddByHandle = z
  .object({
    ig_handle: Handle.nullable().optional(),
    tt_handle: Handle.nullable().optional(),
    name: CreatorName.nullable().optional(),
    creator_email: Email.nullable().optional().describe('Where it is known; unique among the creators of the brand.'),
    tags: Tags.nullable().optional(),
  })
  .superRefine(({ ig_handle, tt_handle }: Unchecked<'ig_handle' | 'tt_handle'>, context) => {
    if ((ig_handle ?? tt_handle ?? null) !== null) return;
    const message = 'one of `ig_handle` and `tt_handle` is required';
    context.addIssue({ code: 'custom', path: ['ig_handle'], params: { code: 'required' }, message });
  }, besideOthers)
  .meta({ id: 'RosterAddByHandle' });
export type RosterAddByHandle = z.output<typeof RosterAddByHandle>;

/** Set changes, omit keeps, null clears. */
export const RosterPatch = z
  .object({
    status: settableStatus.optional(),
    tags: Tags.nullable().optional(),
    note: note.optional(),
    name: CreatorName.nullable().optional(),
    creator_email: Email.describe('Can be set and changed, not cleared.').optional(),
  })
  .meta({ id: 'RosterPatch' });
export type RosterPatch = z.output<typeof RosterPatch>;

/** The entry that stays; handles, tags, applications, links and what else there is move to it. */
export const RosterMerge = z
  .object({ into: z.string().min(1).max(100).describe("The entry that stays: its id, or its creator's.") })
  .meta({ id: 'RosterMerge' });

const RosterMoved = z.object({
  id: z.string(),
  creator_id: z.string(),
  creator_email: z.string().nullable().describe("The creator's; null when the brand knows only handles."),
  creator_name: z.string().nullable(),
  status: z.string(),
  added_at: timestamp,
});

const rosterEvents = events({
  'roster.creator_added': {
    data: RosterMoved,
    when: 'A creator was added to the roster.',
    shownTo: ['legacy'],
  },
  'roster.creator_removed': {
    data: RosterMoved,
    when: 'A creator was removed from the roster.',
    shownTo: ['legacy'],
  },
});
declare module '../../outbox/events.ts' {
  interface Events extends EventsOf<typeof rosterEvents> {}
}
