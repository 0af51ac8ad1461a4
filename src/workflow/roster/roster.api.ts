import { z } from 'zod';
import type { Caller } from '../../kit/access/keys/callers.ts';
import { PLANS } from '../../kit/access/keys/limits.ts';
import { act, create, get, list, patch, remove } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { toWire } from '../../kit/values/wire.ts';
import { lookUpProfile } from '../creators/profiles.ts';
import { mergeCreators } from './merge.ts';
import {
  RosterAdd,
  RosterAddByHandle,
  RosterAdded,
  RosterAddedByHandle,
  RosterEntry,
  RosterFilter,
  RosterMerge,
  RosterPatch,
  RosterRecord,
  RosterRemoved,
} from './roster.shapes.ts';
import { addByEmail, addByHandle, getRecord, patchEntry, removeEntry, roster, withEarned } from './roster.ts';

const tag = 'Roster';
const byId = z.object({ id: z.string().max(100).describe('Roster id (`rst_…`), or the id of its creator.') });

const getRosterLimit = ({ subscription }: Caller) => PLANS[subscription.plan].rosterLimit;

const rosterOperations = [
  list({
    id: 'list_roster',
    path: '/v1/roster',
    tag,
    summary: 'List the roster',
    description: 'Creators on the roster, last added first.',
    forAgents: {
      description: 'Creators on the roster, last added first. `id` is the roster id that get_creator_balance takes.',
      example: { search: 'ana' },
    },
    query: RosterFilter,
    item: RosterEntry,
    rows: roster,
    sums: {
      total_earned: "Paid commissions in the brand's currency, minus the refunds that payouts deducted.",
      total_sold: "Sales of paid orders in the brand's currency, less refunds.",
    },
    itemOf: (row) => toWire(withEarned(row)),
  }),
  create({
    id: 'add_to_roster',
    path: '/v1/roster',
    tag,
    summary: 'Add a creator to the roster',
    description: 'Adds a creator by email address. A removed creator is put back.',
    forAgents: { example: { creator_email: 'cleo@example.com' } },
    body: RosterAdd,
    item: RosterAdded,
    errors: ['ALREADY_ON_ROSTER', 'CREATOR_LIMIT_REACHED'],
    apply: async (work, { caller, body }) => {
      const { id } = await addByEmail(work, getRosterLimit(caller), body);
      return toWire(await getRecord(work.db, work.brandId, id));
    },
  }),
  create({
    id: 'add_to_roster_by_handle',
    path: '/v1/roster/add',
    tag,
    summary: 'Add a creator to the roster by handle',
    description:
      'The email address is optional. Picture, name and follower counts come from the public profiles; missing values are ' +
      'filled in later. Handles are stored without `@` and are unique, ignoring case.',
    forAgents: {
      description:
        'Picture, name and follower counts come from the public profiles; missing values are filled in later.',
      example: { ig_handle: 'cleomakes', name: 'Cleo' },
    },
    body: RosterAddByHandle,
    item: RosterAddedByHandle,
    errors: ['ALREADY_ON_ROSTER', 'CONFLICT', 'CREATOR_LIMIT_REACHED'],
    lookUp: (context, { body }) =>
      lookUpProfile(context, { igHandle: body.ig_handle ?? null, ttHandle: body.tt_handle ?? null }),
    apply: async (work, { caller, body }, profile) => {
      const { entry, creator } = await addByHandle(work, getRosterLimit(caller), body, profile);
      return { ...toWire(creator), id: entry.id, status: entry.status };
    },
  }),
  get({
    id: 'get_roster_creator',
    path: '/v1/roster/{id}',
    tag,
    summary: 'Get a creator on the roster',
    description: 'Includes handles, public profile, tags and note. Works for removed creators too.',
    params: byId,
    item: RosterRecord,
    find: async ({ postgres }, { caller, params }) => toWire(await getRecord(postgres.db, caller.brandId, params.id)),
  }),
  patch({
    id: 'update_roster_creator',
    path: '/v1/roster/{id}',
    tag,
    summary: 'Change a creator on the roster',
    description: 'Only the fields that you send change; null clears one. A removed creator can become active again.',
    forAgents: { description: 'A removed creator can become active again.', example: { id: 'rst_…', tags: ['vip'] } },
    params: byId,
    body: RosterPatch,
    item: RosterRecord,
    errors: ['NOT_FOUND', 'CONFLICT', 'CREATOR_LIMIT_REACHED'],
    apply: async (work, { caller, params, body }) => {
      await patchEntry(work, getRosterLimit(caller), params.id, body);
      return toWire(await getRecord(work.db, work.brandId, params.id));
    },
  }),
  remove({
    id: 'remove_from_roster',
    path: '/v1/roster/{id}',
    tag,
    summary: 'Remove a creator from the roster',
    description: 'Sets the status to `removed`; the record and its history are kept.',
    params: byId,
    item: RosterRemoved,
    errors: ['NOT_FOUND'],
    apply: async (work, { params }) => {
      const { id } = await removeEntry(work, params.id);
      return { id, status: 'removed' as const };
    },
  }),
  act({
    id: 'merge_roster_creators',
    path: '/v1/roster/{id}/merge',
    tag,
    summary: 'Merge two entries of one person',
    description:
      'Merges the entry in the path into `into`, with its handles, tags, note, applications, links and click figures. ' +
      'If both have a handle or an address, `into` keeps its own. An entry with an order or a payout cannot be merged ' +
      'away, because the ledger is never rewritten.',
    forAgents: {
      description:
        'Merges `id` into `into`, with its handles, tags, note, applications, links and clicks. An entry with an order or a payout cannot be merged away.',
      example: { id: 'rst_…', into: 'rst_…' },
    },
    params: byId,
    body: RosterMerge,
    item: RosterRecord,
    errors: ['NOT_FOUND', 'CONFLICT'],
    hints: { destructive: true },
    apply: async (work, { params, body }) => {
      const id = await mergeCreators(work, params.id, body.into);
      return toWire(await getRecord(work.db, work.brandId, id));
    },
  }),
] as const;

export const rosterNoun = noun({
  name: 'roster',
  tag: {
    name: 'Roster',
    about: 'The creators who work with your brand now: tags, notes, handles and balances.',
  },
  ids: { roster: 'rst' },
  operations: rosterOperations,
});
