import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identifyStore } from '../../../src/affiliates/stores/connections/connect.ts';
import { PROVIDERS } from '../../../src/affiliates/stores/formats/provider.ts';
import { connectTestStore, startStore, type TestStore, WEBHOOK_SECRET } from '../../harness/affiliates/store.ts';
import { call, makeBrand, startApp, type TestApp } from '../../harness/app.ts';
import { runCli } from '../../harness/process/cli.ts';

let app: TestApp;
const folder = mkdtempSync(path.join(tmpdir(), 'words-'));
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];

beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  for (const end of ends) await end();
  await app?.close();
});

async function newStore(provider: TestStore['provider']): Promise<TestStore> {
  const store = await startStore(provider);
  ends.push(store.close);
  return store;
}

/** A store that answers whatever it is asked like this. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
}

async function connect(url: string, token = 'token') {
  const brand = await makeBrand(app.context);
  const file = path.join(folder, brand.id);
  writeFileSync(file, token);
  const args = ['--brand', brand.id, '--provider', 'generic', '--url', url];
  const secrets = ['--token-file', file, '--webhook-secret-file', file];
  return { brand, ...(await runCli(['integration', 'connect', ...args, ...secrets])) };
}

const LONG = 'x'.repeat(300);

describe('the name that a store gives itself', () => {
  it.each(PROVIDERS)('is stored for %s without invisible characters, and cut at 200 characters', async (provider) => {
    const store = await newStore(provider);
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    for (const [said, kept] of [
      ['\tAna\u001b[31m’s\u0000\r\n shop \ud800', 'Ana [31m’s  shop'],
      [`🛍${LONG}`, `🛍${'x'.repeat(199)}`],
    ] as const) {
      store.name = said;
      const id = await connectTestStore(app.context, brand.id, store);
      const { body } = await call(`${app.url}/v1/affiliates/integrations/${id}`, key);
      expect(body.data.name).toBe(kept);
    }
  });

  it('is one field of one line on a terminal', async () => {
    const store = await newStore('generic');
    store.name = 'A\u001b]0;title\u0007\tstore\nwith\u009b31m lines';
    const { brand, status, out, said } = await connect(store.url, store.token);
    expect([status, said.split('\n')[0]]).toEqual([
      0,
      `A ]0;title store with 31m lines (https://${store.host}, USD) is connected.`,
    ]);
    const fields = [out.trim(), 'generic', 'connected', 'silent', `https://${store.host}`];
    const listed = await runCli(['integration', 'list', '--brand', brand.id]);
    expect(listed.out).toBe(`${[...fields, 'A ]0;title store with 31m lines'].join('\t')}\n`);
  });

  it.each(['shopify', 'generic'] as const)('is required if %s has nothing to show', async (provider) => {
    const store = await newStore(provider);
    store.name = '\u0000\t';
    await expect(connectTestStore(app.context, (await makeBrand(app.context)).id, store)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
  });
});

describe('a store is not connected', () => {
  it.each(PROVIDERS)('if %s has no http(s) address for its customers', async (provider) => {
    const store = await newStore(provider);
    const requested = { provider, baseUrl: store.url, token: store.token, webhookSecret: WEBHOOK_SECRET };
    const outside = { config: { ...app.context.config, outboundAllow: ['127.0.0.1'] }, clock: app.context.clock };
    const addresses = ['localhost:3000', 'javascript:alert(1)', 'ftp://shop.example', 'https://', 'shop.example'];
    const shown = [
      'https://shop.example/\u001b[31m',
      'https://shop.example/a b',
      `https://shop.example/${LONG.repeat(7)}`,
    ];
    for (const url of [...addresses, ...shown]) {
      store.storefrontUrl = url;
      await expect(identifyStore(outside, requested), url).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    }
    store.storefrontUrl = 'http://localhost:3000/shop';
    const facts = { storefrontUrl: 'http://localhost:3000/shop' };
    expect(await identifyStore(outside, requested)).toMatchObject({ facts });
  });

  it('and the terminal lists the problems of its answer, one per line', async () => {
    const store = await newStore('generic');
    Object.assign(store, { currency: 'XXQ', storefrontUrl: 'localhost:3000', name: '' });
    const { status, out, said } = await connect(store.url, store.token);
    expect([status, out]).toEqual([1, '']);
    expect(said.split('\n')).toEqual([
      'The store was not connected. Its answer to GET /store is invalid:',
      '  name: must have at least 1 character; got "".',
      '  currency: is not a currency; got "XXQ".',
      '  storefront_url: must be an http or https address; got "localhost:3000".',
      '',
    ]);
  });

  it('if its answer is not JSON, and control characters in it do not reach the terminal', async () => {
    const url = await serve((_request, response) => response.end('\u001b[31m<html>'));
    expect(await connect(url)).toMatchObject({
      status: 1,
      said: 'The store was not connected. Its answer is not JSON.\n',
    });
  });

  it('if it does not answer, and the terminal says how long the command waited', async () => {
    const url = await serve(() => undefined);
    expect(await connect(url)).toMatchObject({
      status: 1,
      said: 'The store was not connected. It did not answer within 8 s.\n',
    });
  });
});
