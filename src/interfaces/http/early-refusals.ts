import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Context } from '../../kit/operation/context.ts';
import { errorBody } from '../../kit/values/errors.ts';
import { isTracing } from '../../kit/values/tracing.ts';
import type { ApiOptions, Shared } from './app.ts';
import { baseHeaders, getRequestId, refusalOfHead } from './request.ts';

/** Answers a request and returns true, or leaves it to the server. */
export type AnswerEarly = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Lets `answerEarly` see each request before the server's own listener. */
export function answerBefore(server: Server, answerEarly: AnswerEarly): void {
  const listeners = server.listeners('request');
  server.removeAllListeners('request').on('request', (request, response) => {
    if (answerEarly(request, response)) return;
    for (const listener of listeners) listener.call(server, request, response);
  });
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/**
 * Refuses searches beyond what can wait before they are routed. While many times as many arrive as can be answered, their
 * refusals take the time of the answers, and refused here they take half as much of it (docs/measured.md). What this cannot
 * tell is left to the gate, which refuses them likewise.
 */
export function openEarlyRefusals(
  { config, clock, stopping }: Context,
  { door, metrics }: Pick<Shared, 'door' | 'metrics'>,
  { operations, headersOf, isServed }: ApiOptions,
): AnswerEarly | undefined {
  // Each call has a span, and a sandbox's clock is in each answer.
  if (isTracing() || config.isSandbox) return undefined;
  const searches = operations.filter(
    ({ directory, method, path }) => directory && method === 'GET' && !path.includes('{'),
  );
  const operationsByPath = new Map(searches.map((operation) => [operation.path, operation]));
  return (request, response) => {
    const { url = '', headers } = request;
    const query = url.indexOf('?');
    const operation = operationsByPath.get(query < 0 ? url : url.slice(0, query));
    if (!operation || request.method !== 'GET' || hasBody(request) || stopping.signal.aborted) return false;
    if (refusalOfHead(request) || !isServed(headers.host ?? '', url)) return false;
    const beganAtMs = performance.now();
    const requestId = getRequestId(headers, clock);
    const refused = door.refuseAtOnce(operation, { authorization: headers.authorization });
    if (!refused) return false;
    const { refusal } = refused;
    const body = JSON.stringify(errorBody(refusal, requestId));
    response
      .writeHead(refusal.status, {
        ...baseHeaders(requestId),
        ...headersOf(url),
        ...refused.headers,
        ...refusal.headers,
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(body),
      })
      .end(body);
    metrics.refusals.inc({ door: 'api', code: refusal.code });
    metrics.requests.observe(
      { operation: operation.id, status: String(refusal.status) },
      (performance.now() - beganAtMs) / 1_000,
    );
    return true;
  };
}
