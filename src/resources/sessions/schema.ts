import { z } from 'zod';
import { createdAt, currencyField, idField } from '../../values/fields.ts';
import { ListQuery, listOf, timestamp } from '../../values/page.ts';
import { Person } from '../people/schema.ts';

const id = idField('key', 'Session id.');

export const Session = z
  .object({
    id,
    device: z.string().describe('Browser and system that signed in.').meta({ example: 'Firefox on Linux' }),
    is_current: z.boolean().describe('Whether this is the session making the call.'),
    created_at: createdAt,
    expires_at: timestamp.describe('When the session ends, 30 days after the sign-in.'),
    last_used_at: timestamp.nullable().describe('When the session last made a call; null if never.'),
  })
  .meta({ id: 'Session' });

export const SessionFilter = z.object({ ...ListQuery });
export const SessionList = listOf(Session).meta({ id: 'SessionList' });

export const CurrentSession = z
  .object({
    data: z.object({
      id,
      person: Person.pick({ id: true, email: true, name: true, role: true }).describe('Person who is signed in.'),
      brand: z
        .object({
          id: idField('brd', 'Brand id.'),
          name: z.string().describe('Brand name.').meta({ example: 'Acme' }),
          currency: currencyField,
          plan: z.string().describe('Plan of the brand subscription.').meta({ example: 'growth' }),
        })
        .describe('Brand that the person belongs to.'),
    }),
  })
  .meta({ id: 'CurrentSession' });

export const SessionsEnded = z
  .object({ data: z.object({ ended: z.int().describe('Number of sessions that ended, including this one.') }) })
  .meta({ id: 'SessionsEnded' });

export const SessionEnded = z.object({ data: z.object({ id }) }).meta({ id: 'SessionEnded' });
