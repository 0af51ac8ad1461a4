import type { Server } from 'node:http';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Request } from '../../kit/access/keys/identify.ts';
import type { AddressLimit } from '../../kit/access/rate-limit.ts';
import type { Context } from '../../kit/operation/context.ts';
import { type ApiError, errorBody } from '../../kit/values/errors.ts';
import { logFailure } from '../../kit/values/log.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { readCookie } from '../../platform/people/session-cookie.ts';
import type { Bodies } from './bodies.ts';
import { boundRequests } from './bounded-requests.ts';
import { openClosing } from './closing.ts';
import { getDoor, meterDoors } from './doors.ts';
import { type AnswerEarly, answerBefore } from './early-refusals.ts';
import {
  baseHeaders,
  getRequestId,
  HEAD_WITHIN_MS,
  MAX_HEADER_BYTES,
  openUnreadable,
  REQUEST_WITHIN_MS,
  refusalOfHead,
} from './request.ts';
import { openSenders } from './sender.ts';
import { cutStalledReaders } from './stalled-readers.ts';
import { traceRequests } from './traced-requests.ts';

const BODY_LIMIT_BYTES = 1024 * 1024;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/** The origin in an absolute-form request target (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]*\/?/i;

function readIdempotencyKey({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' && key.trim() !== '' ? key : undefined;
}

export function toRequest(request: FastifyRequest, reply: FastifyReply): Request {
  return {
    authorization: request.headers.authorization,
    cookie: readCookie(request),
    address: request.ip,
    requestId: request.id,
    isOwnId: request.headers['x-request-id'] === request.id,
    idempotencyKey: readIdempotencyKey(request),
    setHeader: (name, value) => void reply.header(name, value),
  };
}

export interface BaseOptions {
  metrics: Metrics;
  bodies: Bodies;
  addresses: AddressLimit;
  /** The error response to a request that failed or that no route matches. */
  toRefusal(error: unknown, request: FastifyRequest, requested: Request): Promise<ApiError>;
  /** Answers requests that need nothing else of the server. */
  answerEarly?: AnswerEarly | undefined;
}

/** The limits and timeouts of a server. */
const serverOptions = ({ config, log, clock }: Context): FastifyHttpOptions<Server, FastifyBaseLogger> => ({
  loggerInstance: log,
  logController: new LogController({ disableRequestLogging: true }),
  trustProxy: config.trustedProxies.length > 0 ? config.trustedProxies : false,
  bodyLimit: BODY_LIMIT_BYTES,
  routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
  requestIdHeader: false,
  genReqId: ({ headers }) => getRequestId(headers, clock),
  rewriteUrl: ({ url = '/' }) => url.replace(ORIGIN, '/'),
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  requestTimeout: REQUEST_WITHIN_MS,
  http: {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEAD_WITHIN_MS,
    connectionsCheckingInterval: HEAD_WITHIN_MS / 2,
    // `refusalOfHead` responds in our own format.
    requireHostHeader: false,
  },
  forceCloseConnections: 'idle',
});

/** The common base of the API's server and the links host: limits, request ids and one error format. */
export function openBase(
  context: Context,
  { metrics, bodies, addresses, toRefusal: refusalOf, answerEarly }: BaseOptions,
): FastifyInstance {
  const { config, log, clock } = context;
  const senderOf = openSenders(config.trustedProxies);

  async function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // Without a matching route, Fastify does not resolve the address behind a proxy.
    const apiRequest = { ...toRequest(request, reply), address: senderOf(request.raw).address };
    let answer = await refusalOf(error, request, apiRequest);
    if (!reply.hasHeader('x-ratelimit-limit') && getDoor(request.url) !== 'ingest') {
      answer = (await addresses.count(apiRequest.address, apiRequest.setHeader)) ?? answer;
    }
    logFailure(log, answer, request.id);
    metrics.refusals.inc({ door: getDoor(request.url), code: answer.code });
    reply.code(answer.status).headers(answer.headers).type('application/json; charset=utf-8');
    await reply.send(Buffer.from(JSON.stringify(errorBody(answer, request.id))));
  }

  const app = Fastify({
    ...serverOptions(context),
    // No hooks run for framework errors.
    frameworkErrors: (error, request, reply) =>
      void answerError(error, request, reply.headers(baseHeaders(request.id))),
    clientErrorHandler: (error, socket) => answerInTurn(error, socket),
  });
  const { server } = app;
  if (answerEarly) answerBefore(server, answerEarly);
  cutStalledReaders(server);
  const endConnections = openClosing(server);
  const answerInTurn = openUnreadable(boundRequests(server), { addresses, metrics, clock });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));

  // Bodies are kept as bytes, because the key is checked before the body is parsed.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(baseHeaders(request.id));
    if (config.isSandbox) reply.header('x-rollcall-clock', clock.now().toISOString());
    done(refusalOfHead(request.raw));
  });
  traceRequests(app);
  meterDoors(app, metrics);
  app.addHook('preParsing', (request, reply, payload, done) => done(null, bodies.bound(request, reply, payload)));
  app.addHook('onResponse', (request, _reply, done) => {
    bodies.discardRest(request);
    done();
  });
  app.setErrorHandler(answerError);
  app.addHook('preClose', async () => endConnections());
  return app;
}
