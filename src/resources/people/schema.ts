import { z } from 'zod';
import { ListQuery, listOf, timestamp } from '../../values/page.ts';

const ROLES = ['owner', 'manager', 'viewer'] as const;
export const Role = z
  .enum(ROLES)
  .describe('An owner may do everything; a manager all but the people; a viewer only reads.')
  .meta({ example: 'manager' });

export const Person = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    role: Role,
    last_seen_at: timestamp.nullable().describe('When a session of theirs was last used; null before the first.'),
    created_at: timestamp,
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'Person' });

export const PersonFilter = z.object({ ...ListQuery });
export const PersonList = listOf(Person).meta({ id: 'PersonList' });
export const PersonAnswer = z.object({ data: Person }).meta({ id: 'PersonAnswer' });

const name = z.string().trim().min(1).max(200).nullable();

export const PersonCreate = z
  .object({ email: z.email().max(254), name: name.optional(), role: Role })
  .meta({ id: 'PersonCreate' });
export type PersonCreate = z.output<typeof PersonCreate>;

export const PersonPatch = z.object({ name: name.optional(), role: Role.optional() }).meta({ id: 'PersonPatch' });
export type PersonPatch = z.output<typeof PersonPatch>;

export const PersonInvited = z
  .object({
    data: Person.extend({
      sign_in_path: z
        .string()
        .describe('Good once and for three days, under the address of the web app; for handing over by yourself.'),
    }),
  })
  .meta({ id: 'PersonInvited' });
