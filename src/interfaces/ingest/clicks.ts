import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { insertReportedClick } from '../../affiliates/orders/order-clicks.ts';
import { parseDelivery } from '../../affiliates/stores/formats/delivery-body.ts';
import { openAddressLimit } from '../../kit/access/rate-limit.ts';
import type { Context } from '../../kit/operation/context.ts';
import { readOwnClick, splitClicks } from '../../kit/values/click-token.ts';
import { ApiError, toApiError, validationError } from '../../kit/values/errors.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { toProblems } from '../../kit/values/problems.ts';
import { unreadable } from '../http/request.ts';
import { openRefusals } from './refusal.ts';

const BODY_LIMIT_BYTES = 2_048;
/** Per address, behind which many customers may be. */
const REPORTS_PER_MINUTE = 60;
/** A shop keeps this many of a visitor. */
const MOST_CLICKS = 5;
const PREFLIGHT_SECONDS = '86400';

const Params = z.object({ integration: z.string().regex(/^\w{1,100}$/) });

/** An order's number, alone or at the end of Shopify's global id: `gid://shopify/Order/1001`. */
const OrderId = z
  .union([z.string().max(100), z.number().int().positive()])
  .transform(String)
  .pipe(z.string().regex(/^(?:gid:\/\/shopify\/\w+\/)?\d{1,20}$/, 'must be the id of an order'))
  .transform((text) => text.slice(text.lastIndexOf('/') + 1));

const Report = z.object({ order_id: OrderId, click_id: z.string().max(1_000) });

const onlyPosted = new ApiError('METHOD_NOT_ALLOWED', 'Clicks are reported with POST.', { headers: { allow: 'POST' } });

/**
 * Reports of pixels: a script in a shop's checkout says which click led to an order. Reports are unsigned, so one is kept only
 * if we signed its click, and the answer does not say whether it was.
 */
export function clickRoutes(app: FastifyInstance, context: Context, metrics: Metrics): void {
  const { postgres, clock, secrets } = context;
  const send = openRefusals(context, metrics);
  const addresses = openAddressLimit(context.redis, clock, metrics, { name: 'pixel', limit: REPORTS_PER_MINUTE });
  const url = '/ingest/shopify/:integration/clicks';

  // A pixel runs in a sandbox without an origin.
  async function allowAll(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
    reply.headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' });
  }

  async function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await send(toApiError(unreadable(error)), request, reply);
  }

  async function take({ params, body, ip }: FastifyRequest): Promise<void> {
    const refusal = await addresses.count(ip, () => undefined);
    if (refusal) throw refusal;
    const report = Report.safeParse(parseDelivery(Buffer.isBuffer(body) ? body : Buffer.alloc(0)));
    if (!report.success) throw validationError(toProblems(report));
    const { order_id: orderId, click_id: click } = report.data;
    const { data: store } = Params.safeParse(params);
    if (!store) return;
    for (const one of splitClicks(click).slice(0, MOST_CLICKS)) {
      const ownClick = readOwnClick(secrets, one);
      if (!ownClick) continue;
      const reportedClick = { integrationId: store.integration, orderId, click: one, linkId: ownClick.linkId };
      await insertReportedClick(postgres.db, 'shopify', reportedClick, clock.now());
    }
  }

  const options = { bodyLimit: BODY_LIMIT_BYTES, onRequest: allowAll, errorHandler: answerError };
  app.post(url, options, async (request, reply) => {
    await take(request);
    return reply.send({ received: true });
  });
  app.options(url, options, async (_request, reply) =>
    reply
      .headers({
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'content-type',
        'access-control-max-age': PREFLIGHT_SECONDS,
      })
      .code(204)
      .send(),
  );
  const others = app.supportedMethods.filter((method) => method !== 'POST' && method !== 'OPTIONS');
  app.route({ ...options, method: others, url, handler: async () => Promise.reject(onlyPosted) });
}
