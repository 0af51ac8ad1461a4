import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { openAddressLimit } from '../../../kit/access/rate-limit.ts';
import { pageHeaders } from '../../../kit/html/page.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { inWork } from '../../../kit/operation/work.ts';
import { ApiError, toApiError } from '../../../kit/values/errors.ts';
import { logFailure } from '../../../kit/values/log.ts';
import type { Metrics } from '../../../kit/values/metrics.ts';
import {
  type ApplicationInput,
  type ApplicationResult,
  findPublicCampaign,
  type PublicCampaign,
  receiveApplication,
} from '../../../workflow/applications/applications.ts';
import { takesApplications } from '../../../workflow/campaigns/campaigns.ts';
import { unreadable } from '../../http/request.ts';
import { EMPTY, type FilledForm, readApplying } from './form.ts';
import { closedPage, failurePage, formPage, notFoundPage, thanksPage, toFace } from './page.ts';

const APPLICATIONS_PER_MINUTE = 10;
const BODY_LIMIT_BYTES = 64 * 1024;

const Params = z.object({ campaign: z.string().regex(/^\w{1,100}$/) });

async function send(
  reply: FastifyReply,
  status: number,
  page: string,
  campaign?: PublicCampaign,
): Promise<FastifyReply> {
  return await reply
    .code(status)
    .headers(pageHeaders(campaign && toFace(campaign)))
    .type('text/html; charset=utf-8')
    .send(page);
}

async function findCampaign({ postgres }: Context, params: unknown): Promise<PublicCampaign | undefined> {
  const { data } = Params.safeParse(params);
  return data && (await findPublicCampaign(postgres.db, data.campaign));
}

function readApplication({ headers, body }: FastifyRequest): FilledForm {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'This page accepts only its own form.');
  }
  return readApplying(Buffer.isBuffer(body) ? body : Buffer.alloc(0));
}

async function receive(
  { postgres, clock }: Context,
  { id, brandId }: PublicCampaign,
  requestId: string,
  applying: ApplicationInput,
): Promise<ApplicationResult> {
  const actor = { brandId, keyId: null, operation: 'apply', requestId };
  return await inWork(postgres.db, clock, actor, (work) => receiveApplication(work, id, applying));
}

function explain({ status, headers }: ApiError): string {
  switch (status) {
    case 413:
      return 'Your application is too large. Please shorten your message.';
    case 415:
      return 'Please use the form on the page.';
    case 429:
      return `There were too many applications from your network. Please try again in ${headers['retry-after']} seconds.`;
    case 503:
      return 'We cannot accept your application right now. Please try again in a minute.';
    default:
      return 'Something went wrong on our side. Please try again later.';
  }
}

/** The public page of a campaign, where creators apply. Not part of the API: HTML, no key, and a separate rate limit. */
export function applyRoutes(app: FastifyInstance, context: Context, metrics: Metrics): void {
  const allowance = { name: 'apply', limit: APPLICATIONS_PER_MINUTE };
  const addresses = openAddressLimit(context.redis, context.clock, metrics, allowance);

  async function assertAllowed(address: string): Promise<void> {
    const refusal = await addresses.count(address, () => undefined);
    if (refusal) throw refusal;
  }

  async function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const answer = toApiError(unreadable(error));
    logFailure(context.log, answer, request.id);
    metrics.refusals.inc({ door: 'page_apply', code: answer.code });
    await send(reply.headers(answer.headers), answer.status, failurePage(explain(answer)));
  }

  const options = { bodyLimit: BODY_LIMIT_BYTES, errorHandler: answerError };

  app.get('/apply/:campaign', options, async (request, reply) => {
    const campaign = await findCampaign(context, request.params);
    if (!campaign) return await send(reply, 404, notFoundPage());
    const now = context.clock.now();
    if (!takesApplications(campaign, now)) return await send(reply, 200, closedPage(campaign, now), campaign);
    return await send(reply, 200, formPage(campaign, EMPTY, {}), campaign);
  });

  app.post('/apply/:campaign', options, async (request, reply) => {
    await assertAllowed(request.ip);
    const campaign = await findCampaign(context, request.params);
    if (!campaign) return await send(reply, 404, notFoundPage());
    const now = context.clock.now();
    if (!takesApplications(campaign, now)) return await send(reply, 409, closedPage(campaign, now), campaign);
    const { values, problems, applying, isDecoy } = readApplication(request);
    if (!applying) return await send(reply, 422, formPage(campaign, values, problems), campaign);
    const reception = isDecoy ? 'received' : await receive(context, campaign, request.id, applying);
    if (reception === 'closed') return await send(reply, 409, closedPage(campaign, context.clock.now()), campaign);
    return reply.redirect(`/apply/${campaign.id}/thanks`, 303);
  });

  app.get('/apply/:campaign/thanks', options, async (request, reply) => {
    const campaign = await findCampaign(context, request.params);
    if (!campaign) return await send(reply, 404, notFoundPage());
    return await send(reply, 200, thanksPage(campaign), campaign);
  });
}
