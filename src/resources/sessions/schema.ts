import { z } from 'zod';
import { ListQuery, listOf, timestamp } from '../../values/page.ts';
import { Role } from '../people/schema.ts';

export const Session = z
  .object({
    id: z.string(),
    device: z.string().describe('The browser and system that signed in, as far as it says.'),
    is_current: z.boolean().describe('Whether this call was made by it.'),
    created_at: timestamp,
    expires_at: timestamp,
    last_used_at: timestamp.nullable(),
  })
  .meta({ id: 'Session' });

export const SessionFilter = z.object({ ...ListQuery });
export const SessionList = listOf(Session).meta({ id: 'SessionList' });

export const CurrentSession = z
  .object({
    data: z.object({
      id: z.string(),
      person: z.object({ id: z.string(), email: z.string(), name: z.string().nullable(), role: Role }),
      brand: z.object({ id: z.string(), name: z.string(), currency: z.string(), plan: z.string() }),
    }),
  })
  .meta({ id: 'CurrentSession' });

export const SessionsEnded = z
  .object({ data: z.object({ ended: z.int().describe('How many sessions ended, this one included.') }) })
  .meta({ id: 'SessionsEnded' });

export const SessionEnded = z.object({ data: z.object({ id: z.string() }) }).meta({ id: 'SessionEnded' });
