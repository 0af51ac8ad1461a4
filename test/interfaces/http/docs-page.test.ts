import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from '../../../src/interfaces/nouns.ts';
import { call, startApp, type TestApp, unique } from '../../harness/app.ts';
import { ownRedis } from '../../harness/database.ts';

let app: TestApp;
beforeAll(async () => {
  // Its calls without a key are counted by their address, which other files have, too.
  app = await startApp({ alias: unique('docs'), urls: { redis: ownRedis() } });
});
afterAll(() => app?.close());

const html = { headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' } };
const root = (init: RequestInit = {}) => call(`${app.url}/`, undefined, { redirect: 'manual', ...init });

describe('the root URL', () => {
  test('redirects browsers to the reference where no web app is served, and gives programs a list of documents that exist, also by HEAD', async () => {
    const led = await root(html);
    expect([led.status, led.headers.get('location')]).toEqual([302, '/docs/']);
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }, { accept: 'text/html;q=0' }]) {
      const { status, body } = await root({ headers });
      expect([headers, status, body.data.openapi]).toEqual([headers, 200, '/openapi.json']);
    }
    const { name, mcp, ...places } = (await root()).body.data;
    expect([name, mcp]).toEqual(['Rollcall API', '/mcp']);
    for (const place of Object.values(places))
      expect([place, (await fetch(`${app.url}${place}`)).status]).toEqual([place, 200]);
    expect((await fetch(`${app.url}${mcp}`)).status).toBe(401);
    expect((await root({ ...html, method: 'POST' })).status).toBe(404);
    for (const path of ['/', ...Object.values(places)]) {
      const { status, headers } = await fetch(`${app.url}${path}`, { method: 'HEAD' });
      const shown = await fetch(`${app.url}${path}`);
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, shown.headers.get('content-type')]);
    }
  });
});

describe('the reference', () => {
  test('answers 400 with an explanation for an invalid Host header', async () => {
    const { hostname, port } = new URL(app.url);
    for (const path of ['/docs', '/docs/', '/docs/legacy/', '/docs/js/scalar.js']) {
      for (const host of ['evil"><script>', 'a b', '[::1', 'x:99999']) {
        const request = get({ host: hostname, port, path, headers: { host } });
        const [response] = z.tuple([z.custom<IncomingMessage>()]).parse(await once(request, 'response'));
        expect([path, host, response.statusCode]).toEqual([path, host, 400]);
        expect(await json(response)).toMatchObject({
          code: 'BAD_REQUEST',
          error: 'The Host header is not a valid host name.',
        });
      }
    }
  });
});

const Shown = z.object({
  'x-tagGroups': z.array(z.object({ tags: z.array(z.string()) })),
  tags: z.array(z.object({ name: z.string() })),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        tags: z.array(z.string()),
        'x-codeSamples': z.array(z.object({ lang: z.string(), source: z.string() })),
      }),
    ),
  ),
});

describe('the document of the reference', () => {
  test('has each section in one group, and for each operation code of both clients with the address of this server', async () => {
    const document = Shown.parse((await call(`${app.url}/openapi-examples.json`)).body);
    const grouped = document['x-tagGroups'].flatMap(({ tags }) => tags);
    expect(grouped.toSorted()).toEqual(document.tags.map(({ name }) => name).toSorted());
    const uploads = new Set(operations.flatMap(({ id, takesFile }) => (takesFile ? [id] : [])));
    const listed = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(listed).toHaveLength(operations.length);
    for (const { operationId, tags, 'x-codeSamples': samples } of listed) {
      expect([operationId, tags.every((tag) => grouped.includes(tag))]).toEqual([operationId, true]);
      const languages = uploads.has(operationId) ? [] : ['typescript', 'python'];
      expect([operationId, samples.map(({ lang }) => lang)]).toEqual([operationId, languages]);
      for (const { source } of samples) expect(source).toContain(app.url);
    }
  });
});

describe('/llms.txt', () => {
  test('introduces the API, lists its documents, and names every operation once', async () => {
    const { status, headers, body } = await call(`${app.url}/llms.txt`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    for (const address of ['(/openapi.json)', '(/docs)', '(/mcp)']) expect(body).toContain(address);
    for (const { id, method, path: where } of operations) {
      expect(body.split(`\n- ${id}: \`${method} ${where}\` `)).toHaveLength(2);
    }
    expect(body.length).toBeLessThan(25_000);
  });
});
