import { z } from 'zod';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { ListQuery, listSchema, timestamp } from '../../kit/values/page.ts';

const ROLES = ['owner', 'manager', 'viewer'] as const;
const Role = z
  .enum(ROLES)
  .describe('Owners may do everything, managers everything except managing people, viewers only read.')
  .meta({ example: 'manager' });

const EMAIL = 'E-mail address that the person signs in with.';
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

export const PersonFilter = z.object({ ...ListQuery });
export const PersonList = listSchema(Person).meta({ id: 'PersonList' });
export const PersonAnswer = z.object({ data: Person }).meta({ id: 'PersonAnswer' });

const name = z.string().trim().min(1).max(200).nullable().optional().describe(NAME).meta({ example: 'Robin Bauer' });

export const PersonCreate = z
  .object({ email: z.email().max(254).describe(EMAIL).meta({ example: 'robin@acme.example' }), name, role: Role })
  .meta({ id: 'PersonCreate' });
export type PersonCreate = z.output<typeof PersonCreate>;

export const PersonPatch = z.object({ name, role: Role.optional() }).meta({ id: 'PersonPatch' });
export type PersonPatch = z.output<typeof PersonPatch>;

export const PersonInvited = z
  .object({
    data: Person.extend({
      sign_in_path: z
        .string()
        .describe('Path of the sign-in link, relative to the web app. It works once, within three days.'),
    }),
  })
  .meta({ id: 'PersonInvited' });
