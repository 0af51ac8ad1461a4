import { z } from 'zod';
import { refreshAccess } from '../../kit/access/credits/refresh.ts';
import { requirePerson } from '../../kit/access/keys/rules.ts';
import type { Context } from '../../kit/operation/context.ts';
import { read, write } from '../../kit/operation/kit.ts';
import { listHandlers } from '../../kit/operation/list.ts';
import { toWire } from '../../kit/values/wire.ts';
import { invitePerson as inviteByMail, patchPerson, removePerson } from './actions.ts';
import { getPerson, type PersonRow, people } from './queries.ts';
import { Person, PersonAnswer, PersonCreate, PersonFilter, PersonInvited, PersonList, PersonPatch } from './schema.ts';

const tag = 'People';
const Id = z.object({ id: z.string().max(100).describe('Person id.') });
const toPerson = (row: PersonRow) => toWire(row);

const accessEngines = ({ postgres, redis, clock }: Context) => ({ db: postgres.db, redis, clock });

const invitePerson = write({
  id: 'invite_person',
  method: 'POST',
  path: '/v1/people',
  tag,
  summary: 'Invite a person',
  description:
    'Creates the person and mails a sign-in link that works once, within three days. The response contains it too.',
  callers: ['session'],
  ownersOnly: true,
  body: PersonCreate,
  response: PersonInvited,
  status: 201,
  errors: ['CONFLICT'],
  sealsAnswer: true,
  apply: async (work, { body, caller }) => {
    const { name, email } = requirePerson(caller);
    const { row, path } = await inviteByMail(work, body, name ?? email);
    return { data: { ...toPerson(row), sign_in_path: path } };
  },
});

export const peopleOperations = [
  read({
    id: 'list_people',
    path: '/v1/people',
    tag,
    summary: 'The people of the brand',
    description: 'Everyone who may sign in to the web app, newest first.',
    callers: ['session'],
    query: PersonFilter,
    response: PersonList,
    handler: listHandlers(people, Person, toPerson).handler,
  }),
  read({
    id: 'get_person',
    path: '/v1/people/{id}',
    tag,
    summary: 'One person of the brand',
    description: 'Includes the role and the last use of the web app.',
    callers: ['session'],
    params: Id,
    response: PersonAnswer,
    errors: ['NOT_FOUND'],
    handler: async ({ postgres }, { caller, params }) => ({
      data: toPerson(await getPerson(postgres.db, caller.brandId, params.id)),
    }),
  }),
  invitePerson,
  write({
    id: 'update_person',
    method: 'PATCH',
    path: '/v1/people/{id}',
    tag,
    summary: 'Change a person',
    description: 'Changes the name or the role. A new role takes effect within a second.',
    callers: ['session'],
    ownersOnly: true,
    params: Id,
    body: PersonPatch,
    response: PersonAnswer,
    errors: ['NOT_FOUND', 'CONFLICT'],
    hints: { idempotent: true },
    apply: async (work, { params, body, caller }) => ({
      data: toPerson(await patchPerson(work, caller.subscription.id, params.id, body)),
    }),
    afterwards: (context, { caller }) => refreshAccess(accessEngines(context), [caller.subscription.id]),
  }),
  write({
    id: 'remove_person',
    method: 'DELETE',
    path: '/v1/people/{id}',
    tag,
    summary: 'Remove a person',
    description: 'Ends the sessions of the person within a second. The audit log keeps the name.',
    callers: ['session'],
    ownersOnly: true,
    params: Id,
    response: PersonAnswer,
    errors: ['NOT_FOUND', 'CONFLICT'],
    hints: { destructive: true },
    apply: async (work, { params, caller }) => ({
      data: toPerson(await removePerson(work, caller.subscription.id, params.id)),
    }),
    afterwards: (context, { caller }) => refreshAccess(accessEngines(context), [caller.subscription.id]),
  }),
] as const;
