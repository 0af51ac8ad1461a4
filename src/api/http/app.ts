import type { IncomingMessage } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Request } from '../../access/keys/identify.ts';
import { readCookie } from '../../access/sessions/cookie.ts';
import { countUnsynced } from '../../figures/sync/queries.ts';
import { deprecationHeaders, isLegacy, legacyHosts } from '../../legacy/hosts.ts';
import { legacyOperations } from '../../legacy/operations.ts';
import { baseHeaders, bodyOf, openFront } from '../../links-host/front.ts';
import { backlogOf } from '../../links-host/queries.ts';
import { openRedirect } from '../../links-host/redirect.ts';
import { countMails } from '../../mail/queries.ts';
import { mcpRoutes } from '../../mcp/routes.ts';
import { CONSUMER_NAMES } from '../../outbox/consumer-names.ts';
import { lagOf } from '../../outbox/relay.ts';
import { applyRoutes } from '../../pages/apply/routes.ts';
import { fileRoutes } from '../../pages/files/routes.ts';
import { pageRoutes } from '../../pages/serve.ts';
import { shareRoutes } from '../../pages/share/routes.ts';
import { readWebhookFigures } from '../../resources/webhooks/sending/figures-queries.ts';
import { INGEST, ingestRoutes } from '../../stores/ingest.ts';
import { ApiError, errorBody, toApiError } from '../../values/errors.ts';
import { newId } from '../../values/ids.ts';
import { logFailure } from '../../values/log.ts';
import { clientRoutes } from '../../web-app/client.ts';
import { webAppRoutes } from '../../web-app/routes.ts';
import type { Context } from '../context.ts';
import { type Door, openDoor } from '../gate.ts';
import { meterJobs } from '../job-metrics.ts';
import { type Metrics, meterClicks, meterLedger, meterMails, meterOutbox, openMetrics } from '../metrics.ts';
import { openapiRoutes } from '../openapi/routes.ts';
import type { Operation, Prepared } from '../operation.ts';
import { operations } from '../operations.ts';
import { sessionOperations } from '../session-operations.ts';
import { meterDirectory, meterPayouts } from '../stock-metrics.ts';
import { meterWebhooks } from '../webhook-metrics.ts';
import { openBodies } from './bodies.ts';
import { boundRequests } from './bounded-requests.ts';
import { doorOf, meterDoors } from './doors.ts';
import { isForm, readParts, takeForms } from './form.ts';
import { healthRoutes } from './health.ts';
import { limitOpenDoors } from './open-doors.ts';
import {
  HEAD_WITHIN_MS,
  isUnroutable,
  MAX_HEADER_BYTES,
  openUnreadable,
  REQUEST_WITHIN_MS,
  readRaw,
  unreadable,
} from './request.ts';

const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{7,127}$/;
const BODY_LIMIT_BYTES = 1024 * 1024;

function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' && key.trim() !== '' ? key : undefined;
}

function requestOf(request: FastifyRequest, reply: FastifyReply): Request {
  return {
    authorization: request.headers.authorization,
    cookie: readCookie(request),
    address: request.ip,
    requestId: request.id,
    idempotencyKey: idempotencyKeyOf(request),
    setHeader: (name, value) => void reply.header(name, value),
  };
}

/** Prepared requests by URL, per operation: shapes and places are read once for a query that comes again. */
const MAX_PREPARED = 5_000;
const MAX_PREPARED_LENGTH = 1_000;

function openPrepared(operation: Operation): (request: FastifyRequest) => Prepared {
  const prepared = new LRUCache<string, Prepared>({ max: MAX_PREPARED });
  return (request) => {
    const key = `${request.headers.accept ?? ''} ${request.url}`;
    const isKept = operation.method === 'GET' && key.length <= MAX_PREPARED_LENGTH;
    const known = isKept ? prepared.get(key) : undefined;
    if (known) return known;
    const fresh = operation.prepare(readRaw(request, operation.hasCsv));
    if (isKept) prepared.set(key, fresh);
    return fresh;
  };
}

/** A form is read by the operation itself, once it is known who calls. */
function prepareForm(operation: Operation, request: FastifyRequest, maxFileBytes: number): Prepared {
  const parts = () => readParts(request, { maxFileBytes, maxFiles: 1 });
  const raw = readRaw(request, false);
  return operation.prepare(isForm(request) ? { ...raw, parts } : raw);
}

/** What the routes of operations are given. */
interface Served {
  door: Door;
  metrics: Metrics;
  maxAssetBytes: number;
}

function register(app: FastifyInstance, { door, metrics, maxAssetBytes }: Served, operation: Operation): void {
  const prepare = operation.takesFile
    ? (request: FastifyRequest) => prepareForm(operation, request, maxAssetBytes)
    : openPrepared(operation);
  app.route({
    method: operation.method,
    url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
    handler: async (request, reply) => {
      let prepared: Prepared | undefined;
      const answer = await door.run(operation, requestOf(request, reply), () => {
        prepared = prepare(request);
        return prepared;
      });
      const type = Buffer.isBuffer(answer) ? 'application/json' : 'text/csv';
      return reply
        .code(prepared?.status ?? operation.status)
        .type(`${type}; charset=utf-8`)
        .send(answer);
    },
    onResponse: (_request, reply, done) => {
      const labels = { operation: operation.id, status: String(reply.statusCode) };
      metrics.requests.observe(labels, reply.elapsedTime / 1000);
      done();
    },
  });
}

/** What is no operation: 405 with `Allow` where another method of the path is one, else 404. */
function noSuchOperation(all: readonly Operation[], method: string, url: string): ApiError {
  const path = (url.split('?', 1)[0] ?? '').replace(/(?<=.)\/+$/, '');
  const literal = all.filter((operation) => operation.path === path);
  const found = literal.length > 0 ? literal : all.filter((operation) => matches(operation.path, path));
  const methods = found.map((operation) => operation.method);
  if (methods.length === 0) return new ApiError('NOT_FOUND', 'No such path; see /docs.');
  const allow = [...new Set(methods)].sort().join(', ');
  return new ApiError('METHOD_NOT_ALLOWED', `${method} is not allowed here; use ${allow}.`, { headers: { allow } });
}

/** What is asked of the API and is no operation is refused by the door: counted by key, and told only to who has one. */
const isApi = (url: string) => /^\/(?:v1|api\/v1|api\/brand)(?:[/?]|$)/.test(url);

function matches(pattern: string, path: string): boolean {
  const parts = path.split('/');
  const wanted = pattern.split('/');
  return wanted.length === parts.length && wanted.every((part, i) => part.startsWith('{') || part === parts[i]);
}

export interface App {
  fastify: FastifyInstance;
  metrics: Metrics;
}

/** `webApp`: the folder of the built client; without one /app is not served. */
export async function buildApp(context: Context, { webApp }: { webApp?: string } = {}): Promise<App> {
  const { log } = context;
  const metrics = openMetrics();
  meterOutbox(metrics, CONSUMER_NAMES, (consumer) => lagOf(context.postgres.db, consumer));
  meterLedger(metrics, () => countUnsynced(context.postgres.db));
  meterClicks(metrics, () => backlogOf(context.redis, context.clock.now()));
  const recently = () => new Date(context.clock.now().getTime() - 300_000);
  meterWebhooks(
    metrics,
    () => readWebhookFigures(context.postgres.db, context.clock.now(), recently()),
    context.clock.now,
  );
  meterMails(metrics, () => countMails(context.postgres.db), context.clock.now);
  meterJobs(metrics, context.redis);
  meterDirectory(metrics, context);
  meterPayouts(metrics, context);
  const door = openDoor(context, metrics);
  const { trustedProxies } = context.config;
  const requestIdOf = ({ headers }: IncomingMessage) => {
    const own = headers['x-request-id'];
    return typeof own === 'string' && REQUEST_ID.test(own) ? own : newId('req', context.clock.now().getTime());
  };
  const older = legacyOperations(() => context.clock.now());
  const all = [...operations, ...older, ...sessionOperations];
  const hosts = legacyHosts(context.config);
  const front = openFront(openRedirect(context, metrics), {
    ...{ maxHeaderSize: MAX_HEADER_BYTES, headWithinMs: HEAD_WITHIN_MS, requestWithinMs: REQUEST_WITHIN_MS },
    ...{ trustedProxies, addresses: door.addresses, requestIdOf, log },
  });
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    bodyLimit: BODY_LIMIT_BYTES,
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
    exposeHeadRoutes: false,
    requestIdHeader: false,
    genReqId: requestIdOf,
    // No hook runs for these.
    frameworkErrors: (error, request, reply) =>
      void answerError(error, request, reply.headers(baseHeaders(request.id))),
    clientErrorHandler: (error, socket) => answerInTurn(error, socket),
    forceCloseConnections: 'idle',
    serverFactory: front.serverFactory,
  });

  const bounded = boundRequests(app.server);
  const answerInTurn = openUnreadable(bounded, door.addresses, context.clock);

  /** What the HTTP layer refuses never came to the door: under /v1 it is told only to whoever may ask at all. */
  async function refusalOf(error: unknown, { method, url }: FastifyRequest, requested: Request): Promise<ApiError> {
    const refusal = isUnroutable(error) ? noSuchOperation(all, method, url) : unreadable(error);
    const answer = toApiError(refusal);
    return refusal === error || !isApi(url) ? answer : await door.refuse(requested, answer).catch(toApiError);
  }

  async function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // Where no route was found Fastify does not look behind a proxy.
    const requested = { ...requestOf(request, reply), address: front.addressOf(request.raw) };
    let answer = await refusalOf(error, request, requested);
    if (!reply.hasHeader('x-ratelimit-limit') && !request.url.startsWith(INGEST)) {
      answer = (await door.addresses.count(requested.address, requested.setHeader)) ?? answer;
    }
    logFailure(log, answer, request.id);
    metrics.refusals.inc({ door: doorOf(request.url), code: answer.code });
    reply.code(answer.status).headers(answer.headers).type('application/json; charset=utf-8');
    await reply.send(Buffer.from(JSON.stringify(errorBody(answer, request.id))));
  }

  // Bodies are kept as bytes: the key is checked before what was sent is read.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(baseHeaders(request.id));
    if (isLegacy(request.url)) reply.headers(deprecationHeaders(request.url, context.config.apiUrl));
    if (context.config.isSandbox) reply.header('x-rollcall-clock', context.clock.now().toISOString());
    done();
  });
  meterDoors(app, metrics);
  limitOpenDoors(app, context.clock);
  const bodies = openBodies();
  app.addHook('preParsing', (request, _reply, payload, done) =>
    done(null, bodies.bound(request, bodyOf(request, payload))),
  );
  app.addHook('onRequest', async (request, reply) => {
    if (!isApi(request.url) || hosts.has(request.host, request.url)) return;
    await door.refuse(requestOf(request, reply), new ApiError('NOT_FOUND', 'This host has no such path; see /docs.'));
  });
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(async (request, reply) => {
    const refusal = noSuchOperation(all, request.method, request.url);
    if (!isApi(request.url)) throw refusal;
    await door.refuse(requestOf(request, reply), refusal);
  });
  const served = { door, metrics, maxAssetBytes: context.config.maxAssetBytes };
  const [forms, others] = [all.filter(({ takesFile }) => takesFile), all.filter(({ takesFile }) => !takesFile)];
  for (const operation of others) register(app, served, operation);
  await app.register(async (scope) => {
    await takeForms(scope);
    for (const operation of forms) register(scope, served, operation);
  });
  healthRoutes(app, context, door, metrics);
  applyRoutes(app, context, metrics);
  fileRoutes(app, context, metrics);
  await pageRoutes(app, context, metrics);
  shareRoutes(app, context);
  ingestRoutes(app, context, metrics);
  webAppRoutes(app, context, metrics);
  if (webApp !== undefined) await clientRoutes(app, webApp);
  mcpRoutes(app, context, { door, metrics, operations });
  await openapiRoutes(app, operations, older);
  app.addHook('preClose', async () => {
    front.close();
    context.stopping.abort();
    door.stop();
  });
  app.addHook('onClose', () => door.close());
  return { fastify: app, metrics };
}
