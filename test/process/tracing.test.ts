import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { callOutside } from '../../src/kit/engines/http/outside.ts';
import { call, makeBrand, startApp, type TestApp, unique, until } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';

const Exported = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({
        attributes: z.array(z.object({ key: z.string(), value: z.object({ stringValue: z.string() }) })),
      }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
              kind: z.number(),
              startTimeUnixNano: z.string(),
              endTimeUnixNano: z.string(),
              attributes: z.array(
                z.object({
                  key: z.string(),
                  value: z.object({ stringValue: z.string().optional(), doubleValue: z.number().optional() }),
                }),
              ),
            }),
          ),
        }),
      ),
    }),
  ),
});
type Span = z.infer<typeof Exported>['resourceSpans'][number]['scopeSpans'][number]['spans'][number];

const alias = unique('tracing');
const spans: Span[] = [];
const authorizations = new Set<string | undefined>();
const traceparents: unknown[] = [];
const services = new Set<string>();

const collector = createServer(async (request, response) => {
  if (request.url !== '/v1/traces') traceparents.push(request.headers.traceparent);
  else {
    authorizations.add(request.headers.authorization);
    for (const { resource, scopeSpans } of Exported.parse(JSON.parse(await text(request))).resourceSpans) {
      for (const { value } of resource.attributes) services.add(value.stringValue);
      spans.push(...scopeSpans.flatMap((scope) => scope.spans));
    }
  }
  response.end('{}');
});

let app: TestApp;
let url: string;
beforeAll(async () => {
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const address = collector.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of the collector',
    OTEL_SERVICE_NAME: 'rollcall-test',
  };
  app = await startApp({ alias, env });
  await putDirectory(app.context.elastic, alias, [creator(1)]);
});
afterAll(async () => {
  await app?.close();
  collector.closeAllConnections();
  collector.close();
});

const attribute = ({ attributes }: Span, key: string) => attributes.find((one) => one.key === key)?.value;

it('a search is one trace of the caller’s: request, key, rate and credits, Elasticsearch and statements, with the request id', async () => {
  const key = await (await makeBrand(app.context, { plan: 'enterprise', credits: 1_000 })).key('data');
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const answer = await call(`${app.url}/v1/creators/search?q=tracing`, key, { headers });
  expect(answer.status).toBe(200);
  const own = () => spans.filter((one) => one.traceId === traceId);
  await until('the request', () => own().some(({ kind }) => kind === 2));
  const request = own().find(({ kind }) => kind === 2);
  if (!request) throw new Error('There is no request.');
  expect([request.name, request.parentSpanId]).toEqual(['GET /v1/creators/search', '00f067aa0ba902b7']);
  expect(attribute(request, 'rollcall.request_id')?.stringValue).toBe(answer.headers.get('x-request-id'));
  expect(attribute(request, 'http.response.status_code')?.doubleValue).toBe(200);
  const names = own().map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['key', 'rate and credits', 'elasticsearch', 'redis', 'select']));
  const statement = own().find(({ name }) => name === 'select');
  expect(statement && attribute(statement, 'db.query.text')?.stringValue).toContain('$1');
  // Each part lies within one that was recorded.
  const ids = new Set(own().map(({ spanId }) => spanId));
  for (const part of own()) if (part !== request) expect(ids.has(part.parentSpanId ?? '')).toBe(true);
  for (const { startTimeUnixNano, endTimeUnixNano } of own()) {
    expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).toBe(true);
  }
  expect(authorizations).toEqual(new Set(['Bearer of the collector']));
  expect(services).toEqual(new Set(['rollcall-test']));
});

it('what a brand asks of its figures has the requests to ClickHouse in its trace', async () => {
  const key = await (await makeBrand(app.context)).key('brand');
  const traceId = '7bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  expect((await call(`${app.url}/v1/analytics`, key, { headers })).status).toBe(200);
  await until('the request', () => spans.some((one) => one.traceId === traceId && one.kind === 2));
  const asked = spans.find((one) => one.traceId === traceId && one.name === 'clickhouse');
  expect(asked && attribute(asked, 'db.system.name')?.stringValue).toBe('clickhouse');
});

it('a call to another service carries the traceparent of its own span, and a trace that is not sampled is passed on unrecorded', async () => {
  await callOutside({
    ...{ url: new URL(`${url}/hook`), method: 'POST', headers: {}, body: '{}' },
    ...{ allow: ['127.0.0.1'], timeoutMs: 30_000, maxBytes: 1_000 },
  });
  await until('the call', () => spans.some(({ name }) => name === 'POST 127.0.0.1'));
  const outgoing = spans.find(({ name }) => name === 'POST 127.0.0.1');
  expect(traceparents).toEqual([`00-${outgoing?.traceId}-${outgoing?.spanId}-01`]);
  const traceId = '5bf92f3577b34da6a3ce929d0e0e4736';
  await call(`${app.url}/healthz`, undefined, { headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-00` } });
  const next = '6bf92f3577b34da6a3ce929d0e0e4736';
  await call(`${app.url}/healthz`, undefined, { headers: { traceparent: `00-${next}-00f067aa0ba902b7-01` } });
  await until('the sampled one', () => spans.some((one) => one.traceId === next));
  expect(spans.some((one) => one.traceId === traceId)).toBe(false);
});
