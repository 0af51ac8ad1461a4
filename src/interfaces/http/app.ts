import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { clientGone } from '../../directory/search/admission.ts';
import type { Request } from '../../kit/access/keys/identify.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Operation, PreparedOperation } from '../../kit/operation/operation.ts';
import { ApiError, toApiError } from '../../kit/values/errors.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { openBase, toRequest } from './base.ts';
import type { Bodies } from './bodies.ts';
import { openEarlyRefusals } from './early-refusals.ts';
import { isForm, readParts, takeForms } from './form.ts';
import type { Door } from './gate.ts';
import { healthRoutes } from './health.ts';
import { limitOpenDoors } from './open-doors.ts';
import { isUnroutable, readRaw, unreadable } from './request.ts';

/** Prepared requests of all operations by URL, so that a repeated query is validated once. Its memory is allocated at once. */
const MAX_PREPARED = 10_000;
const MAX_PREPARED_LENGTH = 1_000;

type PreparedRequests = LRUCache<string, PreparedOperation>;

function openPrepared(
  operation: Operation,
  prepared: PreparedRequests,
): (request: FastifyRequest) => PreparedOperation {
  return (request) => {
    const key = `${operation.id} ${request.headers.accept ?? ''} ${request.url}`;
    const isKept = operation.method === 'GET' && key.length <= MAX_PREPARED_LENGTH;
    const cached = isKept ? prepared.get(key) : undefined;
    if (cached) return cached;
    const fresh = operation.prepare(readRaw(request, operation));
    if (isKept) prepared.set(key, fresh);
    return fresh;
  };
}

/** The operation reads a form itself, after the caller is identified. */
function prepareForm(operation: Operation, request: FastifyRequest, maxFileBytes: number): PreparedOperation {
  const parts = () => readParts(request, { maxFileBytes, maxFiles: 1 });
  const raw = readRaw(request, operation);
  return operation.prepare(isForm(request) ? { ...raw, parts } : raw);
}

/** Aborted when the connection closes before the answer is complete. */
function watchClient({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort(clientGone);
  });
  return controller.signal;
}

/** The needs of the routes of operations. */
interface RouteDependencies {
  door: Door;
  metrics: Metrics;
  maxAssetBytes: number;
  prepared: PreparedRequests;
}

function register(
  app: FastifyInstance,
  { door, metrics, maxAssetBytes, prepared: requests }: RouteDependencies,
  operation: Operation,
): void {
  const prepare = operation.takesFile
    ? (request: FastifyRequest) => prepareForm(operation, request, operation.maxFileBytes ?? maxAssetBytes)
    : openPrepared(operation, requests);
  app.route({
    method: operation.method,
    // A HEAD would cost what the call costs, and show nothing for it.
    exposeHeadRoute: false,
    url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
    handler: async (request, reply) => {
      let preparedOperation: PreparedOperation | undefined;
      const apiRequest = toRequest(request, reply);
      if (operation.directory) apiRequest.gone = watchClient(reply);
      const answer = await door.run(operation, apiRequest, () => {
        preparedOperation = prepare(request);
        return preparedOperation;
      });
      const type = Buffer.isBuffer(answer) ? 'application/json' : (preparedOperation?.streamType ?? 'text/csv');
      return reply
        .code(preparedOperation?.status ?? operation.status)
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

/** The error for an unknown operation: 405 with `Allow` if the path has other methods, otherwise 404. */
function noSuchOperation(all: readonly Operation[], method: string, url: string): ApiError {
  const path = (url.split('?', 1)[0] ?? '').replace(/(?<=.)\/+$/, '');
  const literal = all.filter((operation) => operation.path === path);
  const matching = literal.length > 0 ? literal : all.filter((operation) => matches(operation.path, path));
  // Operations that only sessions may call are not documented publicly.
  const documentedOperations = matching.filter(({ callers }) => callers.some((kind) => kind !== 'session'));
  const methods = (documentedOperations.length > 0 ? documentedOperations : matching).map(
    (operation) => operation.method,
  );
  if (methods.length === 0) return new ApiError('NOT_FOUND', 'No such path; see /docs.');
  const allow = [...new Set(methods)].sort().join(', ');
  return new ApiError('METHOD_NOT_ALLOWED', `${method} is not allowed here; use ${allow}.`, { headers: { allow } });
}

/** Unknown API paths go through the gate: they are rate-limited and need a key. */
const isApi = (url: string) => /^\/(?:v1|api\/v1|api\/brand)(?:[/?]|$)/.test(url);

function matches(pattern: string, path: string): boolean {
  const parts = path.split('/');
  const patternParts = pattern.split('/');
  return (
    patternParts.length === parts.length && patternParts.every((part, i) => part.startsWith('{') || part === parts[i])
  );
}

/** Shared by all servers of a process. */
export interface Shared {
  door: Door;
  metrics: Metrics;
  bodies: Bodies;
}

export interface ApiOptions {
  /** All operations of the API, for every kind of caller. */
  operations: readonly Operation[];
  /** Headers of every response to a URL, including errors. */
  headersOf(url: string): Record<string, string>;
  /** True if a host serves the API version of a URL. */
  isServed(host: string, url: string): boolean;
}

/** Builds the API's server with its operations. Other doors on the same port add their routes to it. */
export async function buildApi(
  context: Context,
  { door, metrics, bodies }: Shared,
  { operations, headersOf, isServed }: ApiOptions,
): Promise<FastifyInstance> {
  const { config, clock } = context;

  /**
   * Errors of the HTTP layer bypass the gate, so under /v1 they are passed through it: only callers with a key see
   * them.
   */
  async function toRefusal(error: unknown, { method, url }: FastifyRequest, requested: Request): Promise<ApiError> {
    const refusal = isUnroutable(error) ? noSuchOperation(operations, method, url) : unreadable(error);
    const answer = toApiError(refusal);
    return refusal === error || !isApi(url) ? answer : await door.refuse(requested, answer).catch(toApiError);
  }

  const answerEarly = openEarlyRefusals(context, { door, metrics }, { operations, headersOf, isServed });
  const app = openBase(context, { metrics, bodies, addresses: door.addresses, toRefusal, answerEarly });
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headersOf(request.url));
    done();
  });
  limitOpenDoors(app, clock);
  app.addHook('onRequest', async (request, reply) => {
    if (!isApi(request.url) || isServed(request.host, request.url)) return;
    await door.refuse(toRequest(request, reply), new ApiError('NOT_FOUND', 'This host has no such path; see /docs.'));
  });
  app.setNotFoundHandler(async (request, reply) => {
    const refusal = noSuchOperation(operations, request.method, request.url);
    if (!isApi(request.url)) throw refusal;
    await door.refuse(toRequest(request, reply), refusal);
  });
  const prepared: PreparedRequests = new LRUCache({ max: MAX_PREPARED });
  const serving = { door, metrics, maxAssetBytes: config.maxAssetBytes, prepared };
  for (const operation of operations.filter(({ takesFile }) => !takesFile)) register(app, serving, operation);
  await app.register(async (scope) => {
    takeForms(scope);
    for (const operation of operations.filter(({ takesFile }) => takesFile)) register(scope, serving, operation);
  });
  healthRoutes(app, context, door, metrics);
  app.addHook('preClose', async () => {
    context.stopping.abort();
    door.stop();
  });
  app.addHook('onClose', () => door.close());
  return app;
}
