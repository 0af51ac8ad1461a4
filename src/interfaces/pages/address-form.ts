import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { openAddressLimit } from '../../kit/access/rate-limit.ts';
import { readForm } from '../../kit/html/form.ts';
import { html } from '../../kit/html/html.ts';
import { page, pageHeaders } from '../../kit/html/page.ts';
import type { Context } from '../../kit/operation/context.ts';
import { addressField } from '../../kit/values/email.ts';
import { ApiError, toApiError } from '../../kit/values/errors.ts';
import { logFailure } from '../../kit/values/log.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { unreadable } from '../http/request.ts';

const POSTS_PER_MINUTE = 10;
const BODY_LIMIT_BYTES = 8 * 1024;

const Email = addressField('Enter a complete email address, such as name@example.com.', 'This is too long.');

export async function send(reply: FastifyReply, status: number, text: string): Promise<FastifyReply> {
  return await reply.code(status).headers(pageHeaders()).type('text/html; charset=utf-8').send(text);
}

function explain({ status, headers }: ApiError): string {
  if (status === 429) return `There were too many requests. Please try again in ${headers['retry-after']} seconds.`;
  if (status === 415) return 'Please use the form on the page.';
  if (status === 503) return 'We cannot do this right now. Please try again in a minute.';
  return 'Something went wrong on our side. Please try again later.';
}

function renderForm({ headers, body }: FastifyRequest) {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'This page accepts only its own form.');
  }
  return readForm(Buffer.isBuffer(body) ? body : Buffer.alloc(0));
}

interface AddressForm {
  /** The last part of its path and the name of its limit, such as `forget`. */
  name: string;
  ask(email: string, problem: string | undefined): string;
  /** The same for every address, so that strangers cannot learn which are known. */
  sent: string;
  request(email: string, request: FastifyRequest, reply: FastifyReply): Promise<void> | void;
}

/** Serves a form that takes an email address, to which a link is mailed. Returns what further routes of the page share. */
export function addressForm(
  app: FastifyInstance,
  { redis, clock, log }: Context,
  metrics: Metrics,
  { name, ask, sent, request: mail }: AddressForm,
) {
  const addresses = openAddressLimit(redis, clock, metrics, { name, limit: POSTS_PER_MINUTE });

  async function assertAllowed({ ip }: FastifyRequest): Promise<void> {
    const refusal = await addresses.count(ip, () => undefined);
    if (refusal) throw refusal;
  }

  async function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const refusal = toApiError(unreadable(error));
    logFailure(log, refusal, request.id);
    metrics.refusals.inc({ door: `page_${name}`, code: refusal.code });
    const failure = page('Not sent', html`<h1>That did not work</h1>\n<p>${explain(refusal)}</p>`);
    await send(reply.headers(refusal.headers), refusal.status, failure);
  }

  const options = { bodyLimit: BODY_LIMIT_BYTES, errorHandler: answerError };

  app.get(`/${name}`, options, (_request, reply) => send(reply, 200, ask('', undefined)));

  app.post(`/${name}`, options, async (request, reply) => {
    await assertAllowed(request);
    const typedAddress = renderForm(request).text('email');
    const { data: email, error } = Email.safeParse(typedAddress);
    if (email === undefined) return await send(reply, 422, ask(typedAddress, error?.issues[0]?.message));
    await mail(email, request, reply);
    return reply.redirect(`/${name}/sent`, 303);
  });

  app.get(`/${name}/sent`, options, (_request, reply) => send(reply, 200, sent));

  return { options, assertAllowed };
}
