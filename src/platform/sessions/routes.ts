import { bumpVersion } from '../../kit/access/credits/queries.ts';
import { refreshAccess } from '../../kit/access/credits/refresh.ts';
import { requirePerson } from '../../kit/access/keys/rules.ts';
import { read, write } from '../../kit/operation/kit.ts';
import { notFound } from '../../kit/values/errors.ts';
import { toPage, toPagination } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import { getBrand } from '../brands/queries.ts';
import { hasSample } from '../brands/schema.ts';
import { setMails } from '../people/actions.ts';
import { getPerson } from '../people/queries.ts';
import { endSession, endSessionsOf, sessions } from './queries.ts';
import {
  CurrentSession,
  MailsSet,
  mailsOf,
  OwnMails,
  Session,
  SessionEnded,
  SessionFilter,
  SessionList,
  SessionsEnded,
} from './schema.ts';

const tag = 'Sessions';

export const sessionOperations = [
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
          mails: mailsOf(mailsOff),
          sees_imports: config.directoryReports && person.role === 'owner',
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
    summary: 'Switch your own mails on or off',
    description: 'Set changes, omit keeps. Each is on until you switch it off; others of the brand keep theirs.',
    callers: ['session'],
    forViewers: true,
    body: OwnMails,
    response: MailsSet,
    hints: { idempotent: true },
    apply: async (work, { caller, body }) => ({ data: mailsOf(await setMails(work, requirePerson(caller).id, body)) }),
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
      const ended = await endSessionsOf(db, brandId, id, now);
      await bumpVersion(db, caller.subscription.id);
      audit({ resourceId: id, old: { sessions: ended }, new: { sessions: 0 } });
      return { data: { ended } };
    },
    afterwards: ({ postgres, redis, clock }, { caller }) =>
      refreshAccess({ db: postgres.db, redis, clock }, [caller.subscription.id]),
  }),
] as const;
