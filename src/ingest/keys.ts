import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { openAddressLimit } from '../access/rate/address.ts';
import type { Context } from '../operation/context.ts';
import { KEYS_PATH, takeHandedKeys } from '../resources/store-authorizations/actions.ts';
import { errorBody, ignoreFailure, notFound, toApiError } from '../values/errors.ts';
import type { Metrics } from '../values/metrics.ts';

const BODY_LIMIT_BYTES = 16 * 1024;
/** Of one address: guesses of a token of 32 bytes, and links that expired. */
const REFUSALS_PER_MINUTE = 20;

const Params = z.object({ token: z.string().regex(/^[\w-]{43}$/) });

async function jsonOf(body: unknown): Promise<unknown> {
  return Buffer.isBuffer(body) ? JSON.parse(body.toString('utf8')) : body;
}

/** Where a WooCommerce store hands over the keys that its owner approved. It deletes them unless the answer is 200. */
export function storeKeysRoutes(app: FastifyInstance, context: Context, metrics: Metrics): void {
  const allowance = { name: 'store-keys', limit: REFUSALS_PER_MINUTE };
  const addresses = openAddressLimit(context.redis, context.clock, metrics, allowance);
  const unknown = notFound('authorization');

  app.post(`${KEYS_PATH}:token`, { bodyLimit: BODY_LIMIT_BYTES }, async (request, reply) => {
    const { data } = addresses.isOver(request.ip) ? { data: undefined } : Params.safeParse(request.params);
    const body = await jsonOf(request.body).catch(ignoreFailure('a body that is not JSON has no keys'));
    const isTaken = data !== undefined && (await takeHandedKeys(context, data.token, body));
    if (isTaken) return reply.send({ received: true });
    const answer = toApiError((await addresses.count(request.ip, () => undefined)) ?? unknown);
    metrics.refusals.inc({ door: 'ingest', code: answer.code });
    return reply.code(answer.status).headers(answer.headers).send(errorBody(answer, request.id));
  });
}
