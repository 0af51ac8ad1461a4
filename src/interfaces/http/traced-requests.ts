import type { FastifyInstance, FastifyRequest } from 'fastify';
import { beginSpan, isTracing, type OpenSpan } from '../../kit/values/tracing.ts';

/** Makes each request a span with its route, status and request id; a `traceparent` continues the caller's trace. */
export function traceRequests(app: FastifyInstance): void {
  if (!isTracing()) return;
  const spans = new WeakMap<FastifyRequest, OpenSpan>();
  app.addHook('onRequest', (request, _reply, done) => {
    const { method, headers, routeOptions } = request;
    const traceparent = typeof headers.traceparent === 'string' ? headers.traceparent : undefined;
    const requestSpan = beginSpan(`${method} ${routeOptions.url ?? 'unknown'}`, {
      kind: 'server',
      root: { traceparent },
      attributes: {
        'http.request.method': method,
        'http.route': routeOptions.url,
        'url.path': request.url.split('?', 1)[0],
        'rollcall.request_id': request.id,
      },
    });
    if (requestSpan) spans.set(request, requestSpan);
    done();
  });
  // Here and not above: reading a body leaves the trace.
  app.addHook('preHandler', (request, _reply, done) => {
    const requestSpan = spans.get(request);
    if (requestSpan) requestSpan.within(done);
    else done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const requestSpan = spans.get(request);
    requestSpan?.annotate({ 'http.response.status_code': reply.statusCode });
    requestSpan?.end(reply.statusCode >= 500 ? `${reply.statusCode}` : undefined);
    done();
  });
}
