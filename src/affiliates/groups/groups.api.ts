import { z } from 'zod';
import { act, create, get, list, patch, read, remove } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { ListQuery, listSchema, toPage, toPagination } from '../../kit/values/page.ts';
import { mapInBatches, toWire } from '../../kit/values/wire.ts';
import {
  Group,
  GroupCreate,
  GroupDeleted,
  GroupMember,
  GroupPatch,
  MemberFilter,
  MemberLeft,
  MemberQuery,
  MembersAdd,
  MembersMoved,
} from './groups.shapes.ts';
import { createGroup, deleteGroup, getGroup, groups, patchGroup, showGroups } from './groups.ts';
import { addMembers, members, removeMember } from './members.ts';

const tag = 'Groups';
const forAgents = { isListed: false };
const all = { path: '/v1/groups', tag, forAgents, item: Group } as const;
const one = { path: '/v1/groups/{id}', tag, forAgents, item: Group } as const;
const creators = { path: '/v1/groups/{id}/creators', tag, forAgents } as const;

const groupOperations = [
  read({
    ...all,
    id: 'list_groups',
    summary: 'List groups',
    description: 'Newest first, with the number of creators and what is used of the budget.',
    query: z.object(ListQuery),
    response: listSchema(Group),
    csv: {
      item: Group.omit({ terms: true, budget: true }),
      rows: ({ postgres, clock }, { caller: { brandId }, query }) =>
        mapInBatches(groups.each(postgres.exports, brandId, query), (rows) =>
          showGroups(postgres.db, brandId, clock.now(), rows),
        ),
    },
    handler: async ({ postgres: { db }, clock }, { caller: { brandId }, query }) => {
      const page = toPage(query);
      const { rows, total } = await groups.list(db, brandId, query, page);
      return { data: await showGroups(db, brandId, clock.now(), rows), pagination: toPagination(page, total) };
    },
  }),
  create({
    ...all,
    id: 'create_group',
    summary: 'Create a group of creators',
    description: 'Its terms apply to codes and links of its creators that have none of their own.',
    hints: { planned: ['terms', 'default'] },
    body: GroupCreate,
    errors: ['CONFLICT'],
    apply: async (work, { body }) => getGroup(work.db, work.brandId, work.now, await createGroup(work, body)),
  }),
  get({
    ...one,
    id: 'get_group',
    summary: 'Get a group',
    description: 'Includes its terms, the number of its creators and what is used of its budget.',
    find: ({ postgres, clock }, { caller, params }) => getGroup(postgres.db, caller.brandId, clock.now(), params.id),
  }),
  patch({
    ...one,
    id: 'update_group',
    summary: 'Change a group of creators',
    description:
      'Only the fields that you send change; null clears one. Terms apply to later orders; decided ones keep theirs.',
    hints: { planned: ['terms', 'default'] },
    body: GroupPatch,
    errors: ['NOT_FOUND', 'CONFLICT'],
    apply: async (work, { params, body }) => {
      await patchGroup(work, params.id, body);
      return await getGroup(work.db, work.brandId, work.now, params.id);
    },
  }),
  remove({
    ...one,
    id: 'delete_group',
    summary: 'Delete a group of creators',
    description:
      'A group with creators is refused. Orders that its terms decided keep them, and its name is free again.',
    item: GroupDeleted,
    errors: ['NOT_FOUND', 'CONFLICT'],
    apply: async (work, { params: { id } }) => {
      await deleteGroup(work, id);
      return { id, deleted: true as const };
    },
  }),
  list({
    ...creators,
    id: 'list_group_creators',
    summary: 'List the creators of a group',
    description: 'Who is or was in the group, with a row for each time. Those who joined last come first.',
    errors: ['NOT_FOUND'],
    query: MemberFilter,
    item: GroupMember,
    rows: members,
    whereOf: async ({ postgres }, { caller, params, query }) => {
      const { id: groupId } = await groups.get(postgres.db, caller.brandId, params.id);
      return { ...query, groupId };
    },
    itemOf: (row) => toWire(row),
  }),
  act({
    ...creators,
    id: 'add_group_creators',
    summary: 'Move creators into a group',
    description:
      'Up to 500 creators on the roster; a creator is in at most one group. What they were paid stays as it is, and later ' +
      'orders follow the group where codes and links have no terms of their own.',
    hints: { idempotent: true, planned: true },
    body: MembersAdd,
    item: MembersMoved,
    errors: ['NOT_FOUND'],
    apply: (work, { params, body }) => addMembers(work, params.id, body),
  }),
  remove({
    ...creators,
    id: 'remove_group_creator',
    summary: 'Take a creator out of a group',
    description:
      'Their codes and links without terms of their own take those of the campaign or the brand from now on.',
    hints: { planned: true },
    query: MemberQuery,
    item: MemberLeft,
    errors: ['NOT_FOUND'],
    apply: async (work, { params: { id }, query: { creator_email } }) => {
      await removeMember(work, id, creator_email);
      return { id, creator_email };
    },
  }),
] as const;

export const groupsNoun = noun({
  name: 'groups',
  tag: {
    name: 'Groups',
    about:
      'Creators who share a deal. A creator is in at most one group; its terms apply to codes that have none of their own.',
  },
  ids: { groups: 'grp', memberships: 'mbr' },
  operations: groupOperations,
});
