import { z } from 'zod';
import { createdAt, currencyField, idField } from '../../kit/values/fields.ts';
import { ListQuery, listSchema, timestamp } from '../../kit/values/page.ts';
import type { MailTopic } from '../people/queries.ts';
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
export const SessionList = listSchema(Session).meta({ id: 'SessionList' });

const Mails = z
  .object({
    applications: z.boolean().describe('Whether you get a mail when a creator applies.').meta({ example: true }),
    replies: z.boolean().describe('Whether you get a mail when a creator replies.').meta({ example: true }),
    contracts: z.boolean().describe('Whether you get a mail when a creator signs.').meta({ example: false }),
  })
  .describe('Mails about creators that the person gets.');

export const OwnMails = Mails.partial().meta({ id: 'OwnMails' });
export const MailsSet = z.object({ data: Mails }).meta({ id: 'MailsSet' });

export const mailsOf = (off: readonly MailTopic[]): z.output<typeof Mails> => ({
  applications: !off.includes('applications'),
  replies: !off.includes('replies'),
  contracts: !off.includes('contracts'),
});

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
          time_zone: z
            .string()
            .describe('IANA time zone in which the app shows times.')
            .meta({ example: 'Europe/Berlin' }),
          plan: z.string().describe('Plan of the brand subscription.').meta({ example: 'growth' }),
          has_sample: z.boolean().describe('Whether the app shows sample data.').meta({ example: false }),
        })
        .describe('Brand that the person belongs to.'),
      mails: Mails,
      sees_imports: z.boolean().describe('Whether the person may read the reports of imports of the directory.'),
    }),
  })
  .meta({ id: 'CurrentSession' });

export const SessionsEnded = z
  .object({ data: z.object({ ended: z.int().describe('Number of sessions that ended, including this one.') }) })
  .meta({ id: 'SessionsEnded' });

export const SessionEnded = z.object({ data: z.object({ id }) }).meta({ id: 'SessionEnded' });
