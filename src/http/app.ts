import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Request } from '../access/keys/identify.ts';
import type { Context } from '../operation/context.ts';
import type { Operation, Prepared } from '../operation/operation.ts';
import { ApiError, toApiError } from '../values/errors.ts';
import type { Metrics } from '../values/metrics.ts';
import { openBase, requestOf } from './base.ts';
import type { Bodies } from './bodies.ts';
import { isForm, readParts, takeForms } from './form.ts';
import type { Door } from './gate.ts';
import { healthRoutes } from './health.ts';
import { limitOpenDoors } from './open-doors.ts';
import { isUnroutable, readRaw, unreadable } from './request.ts';

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
  // What only people do, in the web app, stands in no public document.
  const documented = found.filter(({ callers }) => callers.some((kind) => kind !== 'session'));
  const methods = (documented.length > 0 ? documented : found).map((operation) => operation.method);
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

/** What all listeners of a process share. */
export interface Shared {
  door: Door;
  metrics: Metrics;
  bodies: Bodies;
}

export interface ApiOptions {
  /** All that the API answers, whoever may call it. */
  operations: readonly Operation[];
  /** Headers of every answer to a URL, errors too. */
  headersOf(url: string): Record<string, string>;
  /** Whether a host has the interface that a URL belongs to. */
  isServed(host: string, url: string): boolean;
}

/** The API's server with its operations. Other doors on the same port add their routes to it. */
export async function buildApi(
  context: Context,
  { door, metrics, bodies }: Shared,
  { operations, headersOf, isServed }: ApiOptions,
): Promise<FastifyInstance> {
  const { config, clock } = context;

  /** What the HTTP layer refuses never came to the door: under /v1 it is told only to whoever may ask at all. */
  async function refusalOf(error: unknown, { method, url }: FastifyRequest, requested: Request): Promise<ApiError> {
    const refusal = isUnroutable(error) ? noSuchOperation(operations, method, url) : unreadable(error);
    const answer = toApiError(refusal);
    return refusal === error || !isApi(url) ? answer : await door.refuse(requested, answer).catch(toApiError);
  }

  const app = openBase(context, { metrics, bodies, addresses: door.addresses, refusalOf });
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headersOf(request.url));
    done();
  });
  limitOpenDoors(app, clock);
  app.addHook('onRequest', async (request, reply) => {
    if (!isApi(request.url) || isServed(request.host, request.url)) return;
    await door.refuse(requestOf(request, reply), new ApiError('NOT_FOUND', 'This host has no such path; see /docs.'));
  });
  app.setNotFoundHandler(async (request, reply) => {
    const refusal = noSuchOperation(operations, request.method, request.url);
    if (!isApi(request.url)) throw refusal;
    await door.refuse(requestOf(request, reply), refusal);
  });
  const served = { door, metrics, maxAssetBytes: config.maxAssetBytes };
  for (const operation of operations.filter(({ takesFile }) => !takesFile)) register(app, served, operation);
  await app.register(async (scope) => {
    takeForms(scope);
    for (const operation of operations.filter(({ takesFile }) => takesFile)) register(scope, served, operation);
  });
  healthRoutes(app, context, door, metrics);
  app.addHook('preClose', async () => {
    context.stopping.abort();
    door.stop();
  });
  app.addHook('onClose', () => door.close());
  return app;
}
