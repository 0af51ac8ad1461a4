import { z } from 'zod';
import { refreshAccess } from '../../kit/access/credits/access.ts';
import { bumpVersion } from '../../kit/access/credits/entries.ts';
import { requirePerson } from '../../kit/access/keys/identify.ts';
import { isHeld } from '../../kit/engines/postgres/home.ts';
import { read, write } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { notFound } from '../../kit/values/errors.ts';
import { createdAt, currencyField, idField } from '../../kit/values/fields.ts';
import { ListQuery, listSchema, timestamp, toPage, toPagination } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import { hasSample } from '../brands/brands.api.ts';
import { getBrand } from '../brands/brands.ts';
import { Person } from './people.api.ts';
import { getPerson, type MailTopic, updateMailTopics } from './people.ts';
import { endPersonSessions, endSession, sessions } from './sessions.ts';

const id = idField('key', 'Session id.');

const Session = z
  .object({
    id,
    device: z.string().describe('Browser and system that signed in.').meta({ example: 'Firefox on Linux' }),
    is_current: z.boolean().describe('Whether this is the session making the call.'),
    created_at: createdAt,
    expires_at: timestamp.describe('When the session ends, 30 days after the sign-in.'),
    last_used_at: timestamp.nullable().describe('When the session last made a call; null if never.'),
  })
  .meta({ id: 'Session' });

const SessionFilter = z.object({ ...ListQuery });
const SessionList = listSchema(Session).meta({ id: 'SessionList' });

const Mails = z
  .object({
    applications: z.boolean().describe('Whether you get an email when a creator applies.').meta({ example: true }),
    replies: z.boolean().describe('Whether you get an email when a creator replies.').meta({ example: true }),
    contracts: z.boolean().describe('Whether you get an email when a creator signs.').meta({ example: false }),
  })
  .describe('Emails about creators that the person gets.');

const OwnMails = Mails.partial().meta({ id: 'OwnMails' });
const MailsSet = z.object({ data: Mails }).meta({ id: 'MailsSet' });

const toMailSettings = (off: readonly MailTopic[]): z.output<typeof Mails> => ({
  applications: !off.includes('applications'),
  replies: !off.includes('replies'),
  contracts: !off.includes('contracts'),
});

const CurrentSession = z
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
      is_copy: z.boolean().describe('Whether this is a restored copy that sends nothing until its operator lets it.'),
    }),
  })
  .meta({ id: 'CurrentSession' });

const SessionsEnded = z
  .object({ data: z.object({ ended: z.int().describe('Number of sessions that ended, including this one.') }) })
  .meta({ id: 'SessionsEnded' });

const SessionEnded = z.object({ data: z.object({ id }) }).meta({ id: 'SessionEnded' });

const tag = 'Sessions';

const sessionOperations = [
  read({
    id: 'get_session',
    path: '/v1/session',
    tag,
    summary: 'Who is signed in',
    description: 'The person, their role and the brand.',
    callers: ['session'],
    response: CurrentSession,
    handler: async ({ postgres, config }, { caller }) => {
      const person = requirePerson(caller);
      const brand = await getBrand(postgres.db, caller.brandId);
      const { mailsOff } = await getPerson(postgres.db, caller.brandId, person.id);
      return {
        data: {
          id: caller.keyId,
          person,
          brand: { ...brand, time_zone: brand.timeZone, has_sample: hasSample(brand) },
          mails: toMailSettings(mailsOff),
          sees_imports: config.directoryReports && person.role === 'owner',
          is_copy: await isHeld(postgres.db),
        },
      };
    },
  }),
  read({
    id: 'list_sessions',
    path: '/v1/sessions',
    tag,
    summary: 'Where you are signed in',
    description: 'Your own sessions that still work, newest first.',
    callers: ['session'],
    query: SessionFilter,
    response: SessionList,
    // `is_current` depends on the caller, so the page is built here.
    handler: async ({ postgres, clock }, { caller, query }) => {
      const page = toPage(query);
      const where = { ...query, personId: requirePerson(caller).id, now: clock.now() };
      const { rows, total } = await sessions.list(postgres.db, caller.brandId, where, page);
      const data = rows.map(({ name, ...row }) =>
        Session.parse({ ...toWire(row), device: name, is_current: row.id === caller.keyId }),
      );
      return { data, pagination: toPagination(page, total) };
    },
  }),
  write({
    id: 'set_own_mails',
    method: 'PATCH',
    path: '/v1/session/mails',
    tag,
    summary: 'Switch your own emails on or off',
    description:
      'Only the settings that you send change. Each is on until you switch it off; others of the brand keep theirs.',
    callers: ['session'],
    forViewers: true,
    body: OwnMails,
    response: MailsSet,
    hints: { idempotent: true },
    apply: async (work, { caller, body }) => ({
      data: toMailSettings(await updateMailTopics(work, requirePerson(caller).id, body)),
    }),
  }),
  write({
    id: 'end_session',
    method: 'DELETE',
    path: '/v1/sessions/{id}',
    tag,
    summary: 'Sign a session out',
    description: 'Ends your own session; owners can end those of others. It stops working within a second.',
    callers: ['session'],
    response: SessionEnded,
    errors: ['NOT_FOUND'],
    // Viewers may sign out too, so it counts as a read of the brand.
    hints: { readOnly: true, idempotent: true, destructive: true },
    apply: async ({ db, brandId, now, audit }, { caller, params: { id } }) => {
      const person = requirePerson(caller);
      if (!(await endSession(db, brandId, id, person.role === 'owner' ? undefined : person.id, now))) {
        throw notFound('session');
      }
      await bumpVersion(db, caller.subscription.id);
      audit({ resourceId: id, old: { state: 'signed_in' }, new: { state: 'signed_out' } });
      return { data: { id } };
    },
    afterwards: ({ postgres, redis, clock }, { caller }) =>
      refreshAccess({ db: postgres.db, redis, clock }, [caller.subscription.id]),
  }),
  write({
    id: 'end_sessions',
    method: 'DELETE',
    path: '/v1/sessions',
    tag,
    summary: 'Sign out everywhere',
    description: 'Ends all of your sessions within a second, including this one. API keys and passkeys keep working.',
    callers: ['session'],
    response: SessionsEnded,
    // Viewers may sign out too, so it counts as a read of the brand.
    hints: { readOnly: true, idempotent: true, destructive: true },
    apply: async ({ db, brandId, now, audit }, { caller }) => {
      const { id } = requirePerson(caller);
      const endedSessions = await endPersonSessions(db, brandId, id, now);
      await bumpVersion(db, caller.subscription.id);
      audit({ resourceId: id, old: { sessions: endedSessions }, new: { sessions: 0 } });
      return { data: { ended: endedSessions } };
    },
    afterwards: ({ postgres, redis, clock }, { caller }) =>
      refreshAccess({ db: postgres.db, redis, clock }, [caller.subscription.id]),
  }),
] as const;

export const sessionsNoun = noun({
  name: 'sessions',
  operations: sessionOperations,
});
