import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { findReceiver, type Receiver } from '../../affiliates/stores/connections/connections.ts';
import { countFailure, countForged } from '../../affiliates/stores/connections/health.ts';
import type { RawDelivery } from '../../affiliates/stores/deliveries/inbox.ts';
import { PROVIDERS } from '../../affiliates/stores/formats/provider.ts';
import { createBurstLimiter, openAddressLimit } from '../../kit/access/rate-limit.ts';
import type { Context } from '../../kit/operation/context.ts';
import { ApiError, ignoreFailure, notFound, toApiError } from '../../kit/values/errors.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { unreadable } from '../http/request.ts';
import { isPing, type KnownStore, openReceivers, toRefusal } from './deliveries.ts';
import { openRefusals } from './refusal.ts';

/** An order of a thousand lines is about a megabyte at Shopify. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** Per address, with a wrong signature or id, or too large; valid deliveries are never limited. */
const REFUSALS_PER_MINUTE = 60;

/** The path of deliveries; no answer below it carries rate headers. */
const INGEST = '/ingest/';
const DELIVERIES = `${INGEST}:provider/:integration`;

/** Stores that this process does not know, for addresses that are over their limit. */
const LOOKED_UP_AT_ONCE = 10;
const LOOKED_UP_EVERY_MS = 200;

const RECEIVED = { received: true };

const tooLarge = new ApiError('PAYLOAD_TOO_LARGE', 'The delivery is larger than 4 MB.');

const invalidSignature = new ApiError(
  'INVALID_SIGNATURE',
  'The signature does not match the body and the webhook secret.',
);

const notDelivered = new ApiError('METHOD_NOT_ALLOWED', 'Deliveries are sent with POST.', {
  headers: { allow: 'POST' },
});

const Params = z.object({ provider: z.enum(PROVIDERS), integration: z.string().regex(/^\w{1,100}$/) });
type Params = z.infer<typeof Params>;

const toDelivery = ({ headers, body }: FastifyRequest): RawDelivery => ({
  headers,
  rawBody: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
});

/** The door of stores: signed deliveries of orders and refunds. No part of the API: no key, no rate headers. */
export function ingestRoutes(app: FastifyInstance, context: Context, metrics: Metrics): void {
  const { postgres, clock } = context;
  const send = openRefusals(context, metrics);
  const allowance = { name: 'ingest', limit: REFUSALS_PER_MINUTE };
  const addresses = openAddressLimit(context.redis, clock, metrics, allowance);

  const receivers = openReceivers(context);
  const mayLookUp = createBurstLimiter(LOOKED_UP_AT_ONCE, LOOKED_UP_EVERY_MS);

  const noteFailure = (receiver: Receiver) =>
    countFailure(postgres.db, receiver.id, clock.now()).catch(ignoreFailure('the answer says it; health is a hint'));

  const noteForged = (receiver: Receiver) =>
    countForged(postgres.db, receiver.id, clock.now()).catch(ignoreFailure('the answer says it; the number is a hint'));

  async function refuse(receiver: Receiver | undefined, address: string, refusal: ApiError): Promise<ApiError> {
    const rateRefusal = await addresses.count(address, () => undefined);
    if (rateRefusal) return rateRefusal;
    if (!receiver) return notFound('integration');
    await noteForged(receiver);
    return refusal;
  }

  /** Above its limit, an address may only deliver what a known store has signed; now and then another delivery is checked. */
  async function assertMayAsk(
    { provider, integration }: Params,
    address: string,
    delivery: RawDelivery,
  ): Promise<void> {
    const knownStore = receivers.recall(provider, integration);
    const isRight = receivers.isAuthentic(knownStore, provider, delivery);
    if (!isRight && (knownStore || !mayLookUp())) throw await refuse(knownStore?.receiver, address, invalidSignature);
  }

  /** The answer if the delivery was stored or is a ping. Throws if a store that was just looked up sent it wrongly. */
  async function accept(store: KnownStore, delivery: RawDelivery, requestId: string, isRecalled: boolean) {
    const { provider } = store.receiver;
    if (isPing(provider, delivery)) return RECEIVED;
    if (!receivers.isAuthentic(store, provider, delivery)) return undefined;
    const storeAnswer = await receivers.answer(store, delivery, requestId);
    if (storeAnswer) return storeAnswer;
    const refusal = await toRefusal(store, delivery);
    if (!refusal) return (await receivers.store(store, delivery)) ? RECEIVED : undefined;
    if (isRecalled) return undefined;
    await noteFailure(store.receiver);
    throw refusal;
  }

  async function take(params: Params, request: FastifyRequest): Promise<object> {
    const { provider, integration } = params;
    const delivery = toDelivery(request);
    if (addresses.isOver(request.ip)) await assertMayAsk(params, request.ip, delivery);
    const recalledStore = receivers.recall(provider, integration);
    const answer = recalledStore && (await accept(recalledStore, delivery, request.id, true));
    if (answer) return answer;
    const knownStore = await receivers.lookUp(provider, integration);
    if (!knownStore) {
      if (await receivers.storeParting(params, delivery, request.id)) return RECEIVED;
      receivers.isAuthentic(knownStore, provider, delivery);
    } else {
      const later = await accept(knownStore, delivery, request.id, false);
      if (later) return later;
    }
    throw await refuse(knownStore?.receiver, request.ip, invalidSignature);
  }

  async function toAnswer(error: FastifyError, request: FastifyRequest): Promise<ApiError> {
    if (error.code !== 'FST_ERR_CTP_BODY_TOO_LARGE') return toApiError(unreadable(error));
    const { data } = addresses.isOver(request.ip) ? { data: undefined } : Params.safeParse(request.params);
    const receiver = data && (await findReceiver(postgres.db, data.provider, data.integration));
    return await refuse(receiver, request.ip, tooLarge);
  }

  async function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await send(await toAnswer(error, request).catch(toApiError), request, reply);
  }

  const options = { bodyLimit: BODY_LIMIT_BYTES, errorHandler: answerError };
  app.post(DELIVERIES, options, async (request, reply) => {
    const { data } = Params.safeParse(request.params);
    if (!data) throw await refuse(undefined, request.ip, invalidSignature);
    return reply.send(await take(data, request));
  });

  /** Refused before a body is read. */
  const refusing = (refusal: ApiError) => ({
    onRequest: async () => Promise.reject(refusal),
    errorHandler: answerError,
    handler: async () => undefined,
  });
  const others = app.supportedMethods.filter((method) => method !== 'POST');
  app.route({ method: others, url: DELIVERIES, ...refusing(notDelivered) });
  app.route({ method: app.supportedMethods, url: `${INGEST}*`, ...refusing(notFound('path')) });
}
