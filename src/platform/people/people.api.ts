import { z } from 'zod';
import { refreshAccess } from '../../kit/access/credits/access.ts';
import { requirePerson } from '../../kit/access/keys/identify.ts';
import type { Context } from '../../kit/operation/context.ts';
import { read, write } from '../../kit/operation/kit.ts';
import { listHandlers } from '../../kit/operation/list.ts';
import { noun } from '../../kit/operation/noun.ts';
import { Email } from '../../kit/values/email.ts';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { ListQuery, listSchema, timestamp } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import { peopleMails } from './people.mails.ts';
import {
  invitePerson as createInvitation,
  getPerson,
  type PersonRow,
  patchPerson,
  people,
  removePerson,
} from './people.ts';
import { assertFresh } from './sessions.ts';

const ROLES = ['owner', 'manager', 'viewer'] as const;
const Role = z
  .enum(ROLES)
  .describe('Owners may do everything, managers everything except managing people, viewers only read.')
  .meta({ example: 'manager' });

const EMAIL = 'Email address that the person signs in with.';
const NAME = 'Name of the person; null if not set.';

export const Person = z
  .object({
    id: idField('per', 'Person id.'),
    email: z.string().describe(EMAIL).meta({ example: 'robin@acme.example' }),
    name: z.string().nullable().describe(NAME).meta({ example: 'Robin Bauer' }),
    role: Role,
    last_seen_at: timestamp.nullable().describe('When the person last used the web app; null if never.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Person' });

const PersonFilter = z.object({ ...ListQuery });
const PersonList = listSchema(Person).meta({ id: 'PersonList' });
const PersonAnswer = z.object({ data: Person }).meta({ id: 'PersonAnswer' });

const name = z.string().trim().min(1).max(200).nullable().optional().describe(NAME).meta({ example: 'Robin Bauer' });

export const PersonCreate = z
  .object({ email: Email.describe(EMAIL).meta({ example: 'robin@acme.example' }), name, role: Role })
  .meta({ id: 'PersonCreate' });
export type PersonCreate = z.output<typeof PersonCreate>;

export const PersonPatch = z.object({ name, role: Role.optional() }).meta({ id: 'PersonPatch' });
export type PersonPatch = z.output<typeof PersonPatch>;

const PersonInvited = z
  .object({
    data: Person.extend({
      sign_in_path: z
        .string()
        .describe('Path of the sign-in link, relative to the web app. It works once, within three days.'),
    }),
  })
  .meta({ id: 'PersonInvited' });

const tag = 'People';
const Id = z.object({ id: z.string().max(100).describe('Person id.') });
const toPerson = (row: PersonRow) => toWire(row);

const toAccessEngines = ({ postgres, redis, clock }: Context) => ({ db: postgres.db, redis, clock });

const invitePerson = write({
  id: 'invite_person',
  method: 'POST',
  path: '/v1/people',
  tag,
  summary: 'Invite a person',
  description:
    'Creates the person and emails a sign-in link that works once, within three days. The response contains it too.',
  callers: ['session'],
  ownersOnly: true,
  body: PersonCreate,
  response: PersonInvited,
  status: 201,
  errors: ['CONFLICT', 'SIGN_IN_AGAIN'],
  sealsAnswer: true,
  apply: async (work, { body, caller }) => {
    await assertFresh(work, caller);
    const { name, email } = requirePerson(caller);
    const { row, path } = await createInvitation(work, body, name ?? email);
    return { data: { ...toPerson(row), sign_in_path: path } };
  },
});

const peopleOperations = [
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
    description:
      'Changes the name or the role, within a second. A lower role ends the sessions of the person and the access of ' +
      'agents that they let in.',
    callers: ['session'],
    ownersOnly: true,
    params: Id,
    body: PersonPatch,
    response: PersonAnswer,
    errors: ['NOT_FOUND', 'CONFLICT', 'SIGN_IN_AGAIN'],
    hints: { idempotent: true },
    apply: async (work, { params, body, caller }) => {
      if (body.role !== undefined) await assertFresh(work, caller);
      return { data: toPerson(await patchPerson(work, caller.subscription.id, params.id, body)) };
    },
    afterwards: (context, { caller }) => refreshAccess(toAccessEngines(context), [caller.subscription.id]),
  }),
  write({
    id: 'remove_person',
    method: 'DELETE',
    path: '/v1/people/{id}',
    tag,
    summary: 'Remove a person',
    description:
      'Ends the sessions of the person and the access of agents that they let in, within a second. The audit log keeps ' +
      'the name.',
    callers: ['session'],
    ownersOnly: true,
    params: Id,
    response: PersonAnswer,
    errors: ['NOT_FOUND', 'CONFLICT', 'SIGN_IN_AGAIN'],
    hints: { destructive: true },
    apply: async (work, { params, caller }) => {
      await assertFresh(work, caller);
      return { data: toPerson(await removePerson(work, caller.subscription.id, params.id)) };
    },
    afterwards: (context, { caller }) => refreshAccess(toAccessEngines(context), [caller.subscription.id]),
  }),
] as const;

export const peopleNoun = noun({
  name: 'people',
  operations: peopleOperations,
  mails: peopleMails,
});
