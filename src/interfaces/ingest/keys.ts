import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { KEYS_PATH, acceptAuthorizationCallback } from '../../affiliates/stores/authorizations.ts';
import { parseDelivery } from '../../affiliates/stores/formats/delivery-body.ts';
import { openAddressLimit } from '../../kit/access/rate-limit.ts';
import type { Context } from '../../kit/operation/context.ts';
import { notFound, toApiError } from '../../kit/values/errors.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { unreadable } from '../http/request.ts';
import { openRefusals } from './refusal.ts';

const BODY_LIMIT_BYTES = 16 * 1024;
/** Per address: guesses of a token of 32 bytes, and links that expired. */
const REFUSALS_PER_MINUTE = 20;

const Params = z.object({ token: z.string().regex(/^[\w-]{43}$/) });

/** Receives the keys that the owner of a WooCommerce store approved. It deletes them unless the answer is 200. */
export function storeKeysRoutes(app: FastifyInstance, context: Context, metrics: Metrics): void {
  const allowance = { name: 'store-keys', limit: REFUSALS_PER_MINUTE };
  const addresses = openAddressLimit(context.redis, context.clock, metrics, allowance);
  const send = openRefusals(context, metrics);

  const options = {
    bodyLimit: BODY_LIMIT_BYTES,
    errorHandler: async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) =>
      void (await send(toApiError(unreadable(error)), request, reply)),
  };
  app.post(`${KEYS_PATH}:token`, options, async ({ ip, params, body }, reply) => {
    const { data } = addresses.isOver(ip) ? { data: undefined } : Params.safeParse(params);
    const isTaken = data && Buffer.isBuffer(body) && (await acceptAuthorizationCallback(context, data.token, parseDelivery(body)));
    if (isTaken) return reply.send({ received: true });
    throw (await addresses.count(ip, () => undefined)) ?? notFound('authorization');
  });
}
