import { createServer, type RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openOwnBucket } from '../../src/kit/engines/files/open.ts';
import { makeBrand, send, startApp, type TestApp } from '../harness/app.ts';

const KILOBYTE = Buffer.alloc(1_024, 'x');
const DRIP_EVERY_MS = 100;
const MEGABYTE = 1024 * 1024;

let app: TestApp;
const closing: (() => void)[] = [];
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  for (const close of closing) close();
  await app?.close();
});

/** A storage that takes what it is sent and answers reads in its own way. */
async function startBucket(answer: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    answer(request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return `http://127.0.0.1:${address.port}`;
}

const own = (endpoint: string) => ({
  ...{ bucket: 'library', prefix: '', region: 'eu-central-1', endpoint },
  ...{ accessKeyId: 'test-key', secretAccessKey: 'not-a-secret' },
});

async function check(endpoint: string) {
  const key = await (await makeBrand(app.context)).key('brand');
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key, ...place } = own(endpoint);
  const destination = { ...place, access_key_id, secret_access_key };
  const from = performance.now();
  const body = { of: 'orders', format: 'ndjson', schedule: 'daily', destination };
  const { status, body: answer } = await send(`${app.url}/v1/exports`, key, 'POST', body);
  return { status, message: String(answer.details?.[0]?.message), tookMs: performance.now() - from };
}

describe('a bucket that does not behave', () => {
  it('is told so within ten seconds when a brand names it: silent, dripping or endless', async () => {
    let sentBytes = 0;
    const silent = await startBucket(() => undefined);
    const dripping = await startBucket((request, response) => {
      if (request.method !== 'GET') return void response.end();
      const drip = setInterval(() => response.write('.'), DRIP_EVERY_MS);
      response.on('close', () => clearInterval(drip));
    });
    const endless = await startBucket((request, response) => {
      if (request.method !== 'GET') return void response.end();
      const pour = () => {
        while (!response.destroyed && response.write(KILOBYTE)) sentBytes += KILOBYTE.length;
        response.once('drain', pour);
      };
      pour();
    });
    const endlessError = await startBucket((_, response) => {
      response.statusCode = 400;
      const pour = () => {
        while (!response.destroyed && response.write(KILOBYTE)) sentBytes += KILOBYTE.length;
        response.once('drain', pour);
      };
      pour();
    });
    const checks = await Promise.all([silent, dripping, endless, endlessError].map(check));
    for (const { status, tookMs, message } of checks) {
      expect([status, tookMs < 12_000], message).toEqual([422, true]);
    }
    expect(checks[0]?.message).toContain('did not answer within 9 s');
    expect(checks[2]?.message).toContain('returned other bytes');
    expect(checks[3]?.message).toContain('no answer of S3');
    // Both endless answers together, with what lies in sockets.
    expect(sentBytes).toBeLessThan(10 * MEGABYTE);
  });

  it('holds a write for no longer than its signal', async () => {
    const store = await openOwnBucket(own(await startBucket(() => undefined)), ['127.0.0.1']);
    const stopping = new AbortController();
    async function* bytes() {
      yield KILOBYTE;
    }
    const writing = store.write('key', bytes(), 'text/plain', stopping.signal);
    setTimeout(() => stopping.abort(new Error('cancelled')), 200);
    const from = performance.now();
    await expect(writing).rejects.toThrow();
    expect(performance.now() - from).toBeLessThan(1_500);
  });
});
