import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { refreshAccess } from '../../kit/access/credits/access.ts';
import { bumpVersion } from '../../kit/access/credits/entries.ts';
import { findCaller } from '../../kit/access/keys/callers.ts';
import { hashKey } from '../../kit/access/keys/key-form.ts';
import { openAddressLimit } from '../../kit/access/rate-limit.ts';
import type { Context } from '../../kit/operation/context.ts';
import { Email } from '../../kit/values/email.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { toProblems } from '../../kit/values/problems.ts';
import { updateRevoked } from '../../platform/keys/keys.ts';
import { Assertion } from '../../platform/people/passkeys.api.ts';
import { beginPasskeySignIn, signInByPasskey } from '../../platform/people/passkeys.ts';
import { mailSignInLinks } from '../../platform/people/people.ts';
import { readCookie, setCookie } from '../../platform/people/session-cookie.ts';
import { signInByLink } from '../../platform/people/sessions.ts';
import { openAfterAnswer } from '../http/after-answer.ts';
import { describeDevice } from './device.ts';

/** Tokens cannot be guessed; this only limits the load from attempts. */
const SIGN_INS_PER_MINUTE = 100;
const BODY_LIMIT_BYTES = 64 * 1024;

const Token = z.object({ token: z.string().max(300) });
const Address = z.object({ email: Email });
const Entrance = z.object({ token: z.string().regex(/^\w{1,300}$/) });
const Origin = z.url({ protocol: /^https?$/ });

function assertOwnPage({ headers }: FastifyRequest): void {
  if (headers['sec-fetch-site'] === 'same-origin') return;
  throw new ApiError('CROSS_SITE', 'Only the pages of the web app may call this (Sec-Fetch-Site).');
}

/** The origin of the calling page, which `assertOwnPage` has checked. */
function getOrigin({ headers }: FastifyRequest): string {
  const origin = Origin.safeParse(headers.origin);
  if (!origin.success) throw new ApiError('CROSS_SITE', 'The Origin header does not name the calling page.');
  return origin.data;
}

function readBody<T extends z.ZodType>(shape: T, { body }: FastifyRequest): z.output<T> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.isBuffer(body) ? body.toString('utf8') : '');
  } catch (error) {
    throw new ApiError('INVALID_JSON', 'The body is not JSON.', { cause: error });
  }
  const parsed = shape.safeParse(value);
  if (!parsed.success) throw validationError(toProblems(parsed));
  return parsed.data;
}

/**
 * Redirects a mail's link to the sign-in page, with the token in the fragment; only the page's button uses it.
 * `originOf` gives the web app's origin.
 */
export function entranceRoute(app: FastifyInstance, originOf: (request: FastifyRequest) => string): void {
  app.get('/enter/:token', async (request, reply) => {
    const { data } = Entrance.safeParse(request.params);
    return reply.redirect(`${originOf(request)}/app/sign-in${data ? `#${data.token}` : ''}`, 303);
  });
}

/** Redirects a mail's link to a page of the web app, from the links host to the host that has it. */
export function appRedirect(app: FastifyInstance, originOf: (request: FastifyRequest) => string): void {
  app.get('/app/*', async (request, reply) => reply.redirect(`${originOf(request)}${request.url}`, 303));
}

/** Signing in and out, the only parts of the web app that are not API operations. */
export function webAppRoutes(app: FastifyInstance, context: Context, metrics: Metrics): void {
  const { postgres, redis, clock, config } = context;
  const { db } = postgres;
  const addresses = openAddressLimit(redis, clock, metrics, { name: 'sign-in', limit: SIGN_INS_PER_MINUTE });

  async function assertAllowed(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    assertOwnPage(request);
    const refusal = await addresses.count(request.ip, (name, value) => void reply.header(name, value));
    if (refusal) throw refusal;
  }

  const signedIn = (request: FastifyRequest, reply: FastifyReply, { secret }: { secret: string }) =>
    reply
      .code(201)
      .header('set-cookie', setCookie(request, secret))
      .send({ data: { signed_in: true } });

  const deviceIn = ({ headers }: FastifyRequest) => describeDevice(headers['user-agent']);
  const options = { bodyLimit: BODY_LIMIT_BYTES };

  app.post('/app/session', options, async (request, reply) => {
    await assertAllowed(request, reply);
    const { token } = readBody(Token, request);
    return signedIn(request, reply, await signInByLink(db, clock, context.pageLinks, token, deviceIn(request)));
  });

  const afterAnswer = openAfterAnswer(app, context.log);

  /**
   * Responds before the address is looked up, so that neither the response nor its timing reveals whether the address
   * is known.
   */
  app.post('/app/session/mail', options, async (request, reply) => {
    await assertAllowed(request, reply);
    const { email } = readBody(Address, request);
    afterAnswer(request, reply, () => mailSignInLinks(context, email, request.id));
    return reply.code(202).send({ data: { mailed: true } });
  });

  app.post('/app/session/passkey/challenge', options, async (request, reply) => {
    await assertAllowed(request, reply);
    return reply.send({ data: await beginPasskeySignIn(db, clock.now(), getOrigin(request), config.apiUrl) });
  });

  app.post('/app/session/passkey', options, async (request, reply) => {
    await assertAllowed(request, reply);
    const from = { apiUrl: config.apiUrl, device: deviceIn(request) };
    return signedIn(request, reply, await signInByPasskey(db, clock, readBody(Assertion, request), from));
  });

  app.delete('/app/session', async (request, reply) => {
    assertOwnPage(request);
    const session = readCookie(request)?.session;
    const caller = session?.startsWith('svs_') ? await findCaller(db, hashKey(session)) : undefined;
    if (caller?.kind === 'session') {
      await updateRevoked(db, caller.keyId, clock.now());
      await bumpVersion(db, caller.subscription.id);
      await refreshAccess({ db, redis, clock }, [caller.subscription.id]);
    }
    return reply.header('set-cookie', setCookie(request, undefined)).send({ data: { signed_in: false } });
  });
}
