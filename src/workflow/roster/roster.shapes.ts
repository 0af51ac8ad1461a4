import { z } from 'zod';
import { type EventsOf, events } from '../../kit/outbox/events.ts';
import { Email } from '../../kit/values/email.ts';
import { creatorEmail, currencyField, idField, updatedAt } from '../../kit/values/fields.ts';
import { ListQuery, TotalsQuery, timestamp } from '../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import {
  CreatorName,
  InstagramHandle,
  PersonFilter,
  personFields,
  Tags,
  TikTokHandle,
} from '../creators/creators.shapes.ts';

const status = z
  .enum(['active', 'hired', 'paused', 'removed'])
  .describe('Roster status. `hired` is an active creator who was added by handle.');
const settableStatus = z.enum(['active', 'paused', 'removed']);
const count = z.number().int().nullable();
export const MAX_NOTE = 5_000;
const note = z
  .string()
  .trim()
  .max(MAX_NOTE)
  .nullable()
  .describe("The brand's note on this creator. Creators never see it.")
  .meta({ example: 'Met at the fair.' });
const NAME = "Creator's name; null if unknown.";
const name = CreatorName.nullable().describe(NAME).meta({ example: 'Ana Ortiz' });
const tags = Tags.nullable()
  .describe("The brand's tags for this creator.")
  .meta({ example: ['food'] });

const id = idField('rst', 'Roster entry id.');
const creatorName = fromOutside(
  z.string().nullable().describe('Name of the creator; null if unknown.').meta({ example: 'Ana Ortiz' }),
);
const addedAt = timestamp
  .describe('When the creator was added to the roster.')
  .meta({ example: '2026-03-02T09:30:00.000Z' });

export const RosterEntry = z
  .object({
    id,
    creator_email: creatorEmail,
    creator_name: creatorName,
    status,
    added_at: addedAt,
    campaigns_completed: z
      .number()
      .int()
      .describe('Completed campaigns that accepted the creator.')
      .meta({ example: 3 }),
    total_earned: z
      .number()
      .describe("Commissions paid in major units of the brand's currency, less refunds that payouts deducted."),
    by_currency: z
      .array(
        z.object({
          currency: currencyField,
          total_earned: z
            .number()
            .describe('Commissions paid in this currency, less deducted refunds, in major units.'),
        }),
      )
      .describe('Earnings in currencies other than that of the brand.'),
    ig_handle: personFields.igHandle,
    tt_handle: personFields.ttHandle,
    tags: personFields.tags,
    note: personFields.note,
    pfp_url: fromOutside(
      z
        .string()
        .nullable()
        .describe('URL of the profile picture; null until the profile is fetched.')
        .meta({ example: 'https://pictures.example/ana.jpg' }),
    ),
    ig_followers: count
      .describe('Followers on Instagram (`photo_app`); null until the profile is fetched.')
      .meta({ example: 48_200 }),
    tt_followers: count
      .describe('Followers on TikTok (`video_app`); null until the profile is fetched.')
      .meta({ example: 91_000 }),
    group_id: z
      .string()
      .nullable()
      .describe('The group that the creator is in; null without one.')
      .meta({ example: 'grp_0Uo3xK2mVdT2aXs7LpRb' }),
    engagement_rate: personFields.engagementRate,
    total_sold: z
      .number()
      .describe(
        "Sales of paid orders by links and codes in major units of the brand's currency, less refunds: `revenue` in `/v1/creators`.",
      )
      .meta({ example: 4_310.5 }),
  })
  .meta({ id: 'RosterEntry' });

/** Everything the brand stores about a creator on its roster. */
export const RosterRecord = RosterEntry.extend({
  creator_id: idField('crt', 'Id of the creator in `/v1/creators`.'),
  updated_at: updatedAt,
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
}).extend({ name: fromOutside(z.string().nullable().describe(NAME).meta({ example: 'Ana Ortiz' })) });

export const RosterRemoved = z.object({ id, status: z.literal('removed').describe('Always `removed`.') });

export const RosterFilter = z.object({
  status: settableStatus.describe('Only entries with this status. `active` includes `hired`.').optional(),
  group_id: z.string().max(100).describe('Only creators of this group.').optional(),
  ...PersonFilter,
  ...ListQuery,
  ...TotalsQuery,
  sort: z
    .enum(['newest', 'oldest', 'followers', 'paid', 'campaigns', 'engagement', 'sold'])
    .default('newest')
    .describe(
      "`followers`: those with the largest following on one platform first. `paid`: by `total_earned`, in the brand's currency, " +
        'largest first. `campaigns`: by `campaigns_completed`, most first. `engagement`: by `engagement_rate`, highest first. ' +
        '`sold`: by `total_sold`, largest first. The others sort by the time when they were added.',
    ),
});
export type RosterFilter = z.output<typeof RosterFilter>;

export const RosterAdd = z
  .object({
    creator_email: Email.describe('Email address of the creator.'),
    note: note.optional(),
    name: name.optional().describe("Creator's name; ignored if the brand knows one."),
  })
  .meta({ id: 'RosterAdd' });
export type RosterAdd = z.output<typeof RosterAdd>;

export const RosterAddByHandle = z
  .object({
    ig_handle: InstagramHandle.nullable()
      .optional()
      .describe('Instagram handle (`photo_app`), with or without `@`, or the address of the profile.'),
    tt_handle: TikTokHandle.nullable()
      .optional()
      .describe('TikTok handle (`video_app`), with or without `@`, or the address of the profile.'),
    name: name.optional(),
    creator_email: Email.nullable().optional().describe('Email address, if known; unique among creators of the brand.'),
    tags: tags.optional(),
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
    status: settableStatus.optional().describe('New roster status. `active` puts a removed creator back.'),
    tags: tags.optional(),
    note: note.optional(),
    name: name.optional(),
    creator_email: Email.describe('Email address of the creator. It can be changed, not cleared.').optional(),
  })
  .meta({ id: 'RosterPatch' });
export type RosterPatch = z.output<typeof RosterPatch>;

export const RosterMerge = z
  .object({
    into: z
      .string()
      .min(1)
      .max(100)
      .describe('Entry to keep: its id, or the id of its creator.')
      .meta({ example: 'rst_0Uo3xK2mVdT2aXs7LpRb' }),
  })
  .meta({ id: 'RosterMerge' });

const RosterMoved = z.object({
  id,
  creator_id: idField('crt', 'Id of the creator in `/v1/creators`.'),
  creator_email: creatorEmail,
  creator_name: z.string().nullable().describe('Name of the creator; null if unknown.'),
  status: z.string().describe('Roster status after the change.'),
  added_at: addedAt,
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
declare module '../../kit/outbox/events.ts' {
  interface Events extends EventsOf<typeof rosterEvents> {}
}
