import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Request as Requested } from '../../kit/access/keys/identify.ts';
import type { Context } from '../../kit/operation/context.ts';
import { nothing, type Operation, operation } from '../../kit/operation/operation.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import { later } from '../../kit/values/later.ts';
import { logFailure } from '../../kit/values/log.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { assertShallow } from '../../kit/values/nesting.ts';
import { isRecord } from '../../kit/values/wire.ts';
import { preferredType } from '../http/accepted.ts';
import type { Door } from '../http/gate.ts';
import { openCatalog } from './catalog.ts';
import { challenged, oauthRoutes } from './oauth/routes.ts';
import type { Asker } from './server.ts';

const Who = z.object({ kind: z.enum(['brand', 'data']), scopes: z.array(z.string()).nullable() });

/** A no-op operation for messages that call no tool, so that the gate checks their key and rate. */
const whoAsks = operation({
  id: 'mcp',
  method: 'POST',
  path: '/mcp',
  tag: 'Agents',
  summary: 'Tools for agents',
  description: 'The Model Context Protocol.',
  callers: ['brand', 'data'],
  params: nothing,
  query: nothing,
  body: nothing,
  response: Who,
  hints: { readOnly: true, idempotent: true, destructive: false },
  handler: async (_context, { caller }) => Who.parse(caller),
});

function toRequest(request: FastifyRequest, reply: FastifyReply): Requested {
  return {
    authorization: request.headers.authorization,
    address: request.ip,
    requestId: request.id,
    idempotencyKey: undefined,
    setHeader: (name, value) => void reply.header(name, value),
    isAgent: true,
  };
}

/** A message as far as it can be read, and why not further, which is answered under its id. */
interface ReadMessage {
  message: unknown;
  problem?: ApiError;
}

function readMessage({ body, headers }: FastifyRequest): ReadMessage {
  if (!Buffer.isBuffer(body) || body.length === 0) return { message: undefined };
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the message as application/json.');
  }
  try {
    assertShallow(body);
    const message: unknown = JSON.parse(body.toString('utf8'));
    return { message };
  } catch (error) {
    const problem = error instanceof ApiError ? error : new ApiError('INVALID_JSON', 'The message is not JSON.');
    return { message: undefined, problem };
  }
}

/** A message that cannot be read has no id. */
const toParseError = ({ code, message }: ApiError) => ({
  jsonrpc: '2.0',
  id: null,
  error: code === 'INVALID_JSON' ? { code: -32_700, message: `Parse error: ${message}` } : { code: -32_600, message },
});

/** Both protocol versions allow one message per POST. A batch would be many calls counted as one. */
const BATCH_REFUSED = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_600, message: 'Invalid Request: batches are not supported; send one message per request.' },
};

const readMethod = (message: unknown) => (isRecord(message) ? message.method : undefined);
const readTool = (message: unknown) =>
  isRecord(message) && isRecord(message.params) && typeof message.params.name === 'string'
    ? message.params.name
    : undefined;

/** A message without the nulls that some hosts write for parameters which they leave out. */
function withoutNulls(message: unknown): unknown {
  if (!isRecord(message)) return message;
  const { params, ...rest } = message;
  if (params === null) return rest;
  if (!isRecord(params)) return message;
  return { ...rest, params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null)) };
}

/** The arguments of a call, which some hosts send as JSON text. */
function readArguments(message: unknown): ReadMessage {
  if (!isRecord(message) || readMethod(message) !== 'tools/call' || !isRecord(message.params)) return { message };
  const { arguments: sent, ...params } = message.params;
  // Hosts send an empty text for a tool that takes none.
  if (sent === undefined || sent === '') return { message: { ...message, params } };
  const args = typeof sent === 'string' ? parseText(sent) : sent;
  if (isRecord(args)) return { message: { ...message, params: { ...params, arguments: args } } };
  const got = typeof sent === 'string' ? `the text ${JSON.stringify(sent.slice(0, 60))}` : typeName(sent);
  const text = `must be an object, such as {"limit": 20}; got ${got}.`;
  const problem = validationError([{ field: 'arguments', code: 'invalid_type', message: text }]);
  return { message: { ...message, params }, problem };
}

const typeName = (value: unknown): string => (Array.isArray(value) ? 'a list' : `a ${typeof value}`);

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';
const VERSION = 'mcp-protocol-version';

/**
 * The version in a header, which proxies leave blank or send twice. A greeting needs none: it names its version, and the
 * answer one that is known here.
 */
function readVersion(header: string, message: unknown): string | undefined {
  const [version, ...others] = [...new Set(header.split(',').map((one) => one.trim()))];
  if (others.length > 0) return header;
  const params = isRecord(message) && readMethod(message) === 'initialize' ? message.params : undefined;
  const isGreeting = isRecord(params) && params.protocolVersion === version;
  return version === '' || isGreeting ? undefined : version;
}

/** The protocol's package wants callers that accept both forms; the answer is given in one that this caller accepts. */
function toWebRequest(request: FastifyRequest, message: unknown): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === 'string' && name !== 'content-length') headers.set(name, value);
  }
  headers.set('accept', `${JSON_TYPE}, ${EVENTS_TYPE}`);
  // Hosts of servers with sessions send the id of one, also to a server that has none.
  headers.delete('mcp-session-id');
  const version = readVersion(headers.get(VERSION) ?? '', message);
  if (version === undefined) headers.delete(VERSION);
  else headers.set(VERSION, version);
  const body = message === undefined ? {} : { body: JSON.stringify(message) };
  return new Request(`http://localhost${request.url}`, { method: request.method, headers, ...body });
}

function chooseForm({ method, headers }: FastifyRequest): string {
  const form = preferredType(headers.accept, [JSON_TYPE, EVENTS_TYPE]);
  if (form !== undefined || method !== 'POST') return form ?? JSON_TYPE;
  throw new ApiError('NOT_ACCEPTABLE', `This returns ${JSON_TYPE} or ${EVENTS_TYPE}.`);
}

/** An event stream of the one message. */
const toEvents = (message: string): string => `event: message\ndata: ${message}\n\n`;

/** The one message of an event stream. */
const fromEvents = (events: string): string => /^data: ?(.*)$/m.exec(events)?.[1] ?? '';

/** The protocol's package calls it an internal error if parameters do not fit their method. Our own handler then never began. */
const withInvalidParams = (text: string, isEntered: boolean): string =>
  isEntered ? text : text.replace('"error":{"code":-32603,', '"error":{"code":-32602,');

/** A page that may call can read the answers, too. They depend on no cookie. */
function openToPage({ headers: { origin } }: FastifyRequest, reply: FastifyReply): void {
  if (origin) {
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'WWW-Authenticate, Retry-After, X-Request-Id',
      vary: 'Origin',
    });
  }
}

/** `/mcp` lists every tool that the key may call. It is stateless. */
export function mcpRoutes(
  app: FastifyInstance,
  context: Context,
  { door, metrics, operations }: { door: Door; metrics: Metrics; operations: readonly Operation[] },
): void {
  const catalog = openCatalog(operations);
  let close: () => unknown = () => undefined;
  app.addHook('onClose', async () => void (await close()));
  /** The protocol's package takes a tenth of a second to load, which is when the first agent comes. */
  const protocol = later(async () => {
    const [{ assertKnownHost }, { Asking, openMcpHandler }] = await Promise.all([
      import('./hosts.ts'),
      import('./server.ts'),
    ]);
    const handler = openMcpHandler(door, catalog);
    close = () => handler.close();
    return { assertKnownHost, Asking, handler };
  });
  oauthRoutes(app, context, { door, metrics, toolsets: catalog.toolsets });

  async function toAsker(requested: Requested): Promise<Asker> {
    const preparedOperation = whoAsks.prepare({ params: {}, query: {}, body: undefined, answer: 'json' });
    const answer = await door.run(whoAsks, requested, () => preparedOperation);
    return Who.parse(JSON.parse(String(answer)));
  }

  async function serve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { assertKnownHost, Asking, handler } = await protocol();
    assertKnownHost(request.headers.host, request.headers.origin, context.config.mcpHosts);
    openToPage(request, reply);
    const requested = toRequest(request, reply);
    const form = chooseForm(request);
    const read = readMessage(request);
    const { message, problem } = readArguments(withoutNulls(read.message));
    const query = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
    const tool = readMethod(message) === 'tools/call' ? readTool(message) : undefined;
    // The gate checks tool calls; all other messages need a key too.
    const isCall = problem === undefined && tool !== undefined && catalog.find(tool) !== undefined;
    const asker = isCall ? undefined : await toAsker(requested);
    if (read.problem) return reply.code(read.problem.status).send(toParseError(read.problem));
    if (Array.isArray(message)) return reply.code(400).send(BATCH_REFUSED);
    const selection = catalog.select(query);
    if (readMethod(message) === 'subscriptions/listen') {
      throw new ApiError('METHOD_NOT_ALLOWED', 'The list of tools does not change while a server runs.', {
        headers: { allow: 'POST' },
      });
    }
    const failed = (error: ApiError) => {
      logFailure(context.log, error, request.id);
      metrics.refusals.inc({ door: 'mcp', code: error.code });
    };
    const asking = new Asking({ requested, selection, asker, problem, failed });
    const authInfo = { token: '', clientId: 'key', scopes: [], extra: { asking } };
    const response = await handler.fetch(toWebRequest(request, message), { authInfo });
    const text = withInvalidParams(await response.text(), asking.isEntered);
    if (asking.refusal) throw asking.refusal;
    response.headers.forEach((value, name) => {
      if (name !== 'content-length' && name !== 'content-type') reply.header(name, value);
    });
    const type = response.headers.get('content-type');
    if (type !== null) reply.type(response.ok ? form : type);
    const isStream = type?.startsWith(EVENTS_TYPE) === true;
    if (!response.ok || text === '' || isStream === (form === EVENTS_TYPE))
      return reply.code(response.status).send(text);
    return reply.code(response.status).send(isStream ? fromEvents(text) : toEvents(text));
  }

  // Pages ask first whether they may send these headers.
  app.options('/mcp', async (request, reply) => {
    const { assertKnownHost } = await protocol();
    assertKnownHost(request.headers.host, request.headers.origin, context.config.mcpHosts);
    openToPage(request, reply);
    return await reply
      .headers({
        'access-control-allow-methods': 'POST, OPTIONS',
        'access-control-allow-headers':
          'authorization, content-type, mcp-protocol-version, mcp-session-id, last-event-id',
        'access-control-max-age': '86400',
      })
      .code(204)
      .send();
  });

  app.route({
    method: ['GET', 'POST', 'DELETE', 'PUT', 'PATCH'],
    url: '/mcp',
    handler: (request, reply) =>
      serve(request, reply).catch((error: unknown) => Promise.reject(challenged(error, request, context))),
    onResponse: (_request, reply, done) => {
      metrics.requests.observe({ operation: 'mcp', status: String(reply.statusCode) }, reply.elapsedTime / 1000);
      done();
    },
  });
}
