import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { call, makeBrand, startApp, type TestApp } from '../../harness/app.ts';
import { ownRedis } from '../../harness/database.ts';
import { type SignedIn, signIn } from '../../harness/platform/session.ts';

const Recorded = z.strictObject({
  host: z.string(),
  source: z.string(),
  register: z.looseObject({ redirect_uris: z.array(z.string()) }),
  returns: z.string(),
  /** As the person typed it. */
  address: z.enum(['/mcp', '/mcp/']),
  /** Documents that it reads, in its order. */
  looks: z.array(z.string()),
  token: z.enum(['form', 'json', 'basic']),
  accept: z.string(),
  version: z.string(),
  arguments: z.unknown(),
});
type Recorded = z.infer<typeof Recorded>;

const hosts = z.array(Recorded).parse(JSON.parse(await readFile(new URL('hosts.json', import.meta.url), 'utf8')));

/** The document of a client, at its host; each request of it is counted. */
const documents = new Map<string, { status: number; body: string; read: number }>();
const server = createServer(({ url = '' }, response) => {
  const document = documents.get(url) ?? { status: 404, body: '', read: 0 };
  document.read += 1;
  response.writeHead(document.status, { location: '/client.json' }).end(document.body);
});

let app: TestApp;
let allowing: TestApp;
let owner: SignedIn;
let at = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  at = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  // Registrations of other tests in the same minute come from the same address.
  const urls = { redis: ownRedis() };
  app = await startApp({ urls });
  allowing = await startApp({ urls, env: { AGENT_CLIENT_HOSTS: `claude.ai,${at}` } });
  const brand = await makeBrand(app.context);
  owner = await signIn(app, brand.id);
});
afterAll(async () => {
  server.close();
  await allowing?.close();
  await app?.close();
});

const json = { 'content-type': 'application/json' };
const secret = () => randomBytes(32).toString('base64url');

/** The owner's press on the consent page, as the address that it leads to. */
async function consent(url: string): Promise<URL> {
  const headers = { cookie: `rollcall=${owner.secret}`, 'sec-fetch-site': 'same-origin' };
  const body = new URLSearchParams({ decision: 'allow', campaigns: 'yes' });
  const answer = await call(url, undefined, { method: 'POST', body, headers, redirect: 'manual' });
  return new URL(answer.headers.get('location') ?? `none:${answer.status}`);
}

function toConsentUrl(base: string, clientId: string, redirectUri: string, verifier: string, resource?: string) {
  const query = {
    ...{
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      state: 's',
      code_challenge_method: 'S256',
    },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    ...(resource && { resource }),
  };
  return `${base}/oauth/authorize?${new URLSearchParams(query)}`;
}

/** Exchanges a code or a refresh token in the form in which the host does. */
async function exchange(kind: Recorded['token'], clientId: string, fields: Record<string, string>, base = app.url) {
  const named = kind === 'basic' ? fields : { ...fields, client_id: clientId };
  const basic = `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:`).toString('base64')}`;
  return await call(`${base}/oauth/token`, undefined, {
    method: 'POST',
    body: kind === 'json' ? JSON.stringify(named) : new URLSearchParams(named),
    headers: { ...(kind === 'json' && json), ...(kind === 'basic' && { authorization: basic }) },
  });
}

async function post(address: string, token: string, accept: string, version: string, message: object) {
  return await fetch(`${app.url}${address}`, {
    method: 'POST',
    headers: {
      ...json,
      accept,
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': version,
      'mcp-session-id': 'x',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });
}

/** The message of an answer, in either form. */
async function readMessage(answer: Response) {
  const text = await answer.text();
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  return { isStream, message: JSON.parse(isStream ? (/^data: (.+)$/m.exec(text)?.[1] ?? '') : text) };
}

test('The manual has a row for each recorded host, with where it returns to and what it accepts', async () => {
  const [, section = ''] = (await readFile('docs/agents.md', 'utf8')).split('### Hosts as they are\n');
  const rows = [...section.matchAll(/^\| (.+?) \| `(.+?)` \| `(.+?)` \| `(.+?)` \| .+ \|$/gm)];
  expect(rows.map((row) => row.slice(1, 5))).toEqual(
    hosts.map(({ host, returns, address, accept }) => [host, returns, address, accept]),
  );
  expect(hosts).toHaveLength(9);
});

test.each(hosts)(
  '$host finds the documents, registers, gets consent, exchanges its code, calls as it does, and refreshes from two sessions',
  async ({ register, returns, address, looks, token, accept, version, arguments: sent }) => {
    const refused = await call(`${app.url}${address}`, undefined, {
      method: 'POST',
      body: '{}',
      headers: { ...json, accept },
    });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('resource_metadata='),
    ]);
    for (const path of looks) {
      const { status, body } = await call(`${app.url}${path}`);
      expect([path, status, body.resource ?? body.issuer]).toEqual([path, 200, expect.stringContaining(app.url)]);
    }
    const metadata = /resource_metadata="(.+?)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1] ?? '';
    const { resource } = (await call(metadata)).body;
    expect(resource).toBe(`${app.url}${address}`);

    const registration = { method: 'POST', headers: json, body: JSON.stringify(register) };
    const registered = await call(`${app.url}/oauth/register`, undefined, registration);
    expect([registered.status, registered.body.redirect_uris]).toEqual([201, register.redirect_uris]);
    const { client_id: clientId } = registered.body;
    const verifier = secret();
    const back = await consent(toConsentUrl(app.url, clientId, returns, verifier, resource));
    expect(back.href.startsWith(returns)).toBe(true);
    const code = { grant_type: 'authorization_code', code: back.searchParams.get('code') ?? '', redirect_uri: returns };
    const tokens = await exchange(token, clientId, { ...code, code_verifier: verifier, resource });
    expect([tokens.status, tokens.body.token_type]).toEqual([200, 'Bearer']);
    const { access_token: access, refresh_token } = tokens.body;

    const hello = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'host', version: '1' } };
    const greeted = await post(address, access, accept, version, { method: 'initialize', params: hello });
    const greeting = await readMessage(greeted);
    expect([greeted.status, greeting.message.result.protocolVersion]).toEqual([200, version]);
    if (!accept.includes('json') && accept !== '*/*') expect(greeting.isStream).toBe(true);
    if (!accept.includes('event-stream') && accept !== '*/*') expect(greeting.isStream).toBe(false);
    const params = { name: 'list_campaigns', arguments: sent };
    const called = await readMessage(await post(address, access, accept, version, { method: 'tools/call', params }));
    expect(called.message.result.structuredContent.data).toEqual([]);

    const refresh = () => exchange(token, clientId, { grant_type: 'refresh_token', refresh_token });
    const [one, other] = [await refresh(), await refresh()];
    expect([one.status, other.status, other.body.refresh_token]).toEqual([200, 200, one.body.refresh_token]);
    for (const live of [access, one.body.access_token, other.body.access_token]) {
      expect((await post(address, live, accept, version, { method: 'tools/list', params: {} })).status).toBe(200);
    }
  },
);

const RETURNS = 'https://host.example/callback';

const register = async () => {
  const body = JSON.stringify({ client_name: 'By hand', redirect_uris: [RETURNS] });
  return (await call(`${app.url}/oauth/register`, undefined, { method: 'POST', headers: json, body })).body.client_id;
};

test('A host asks for tokens of this server by its address as a person typed it', async () => {
  const clientId = await register();
  for (const path of ['/mcp', '/mcp/', '/mcp?toolsets=campaigns&readonly=1', '/', '']) {
    const resource = `${app.url.toUpperCase()}${path}`;
    const back = await consent(toConsentUrl(app.url, clientId, RETURNS, secret(), resource));
    expect(back.searchParams.get('code'), resource).toMatch(/^svc_/);
  }
});

test('A code is exchanged without the address that it was sent to, as OAuth 2.1 has it, but not with another', async () => {
  const [clientId, verifier] = [await register(), secret()];
  const back = await consent(toConsentUrl(app.url, clientId, RETURNS, verifier));
  const code = { grant_type: 'authorization_code', code: back.searchParams.get('code') ?? '', code_verifier: verifier };
  const other = await exchange('form', clientId, { ...code, redirect_uri: 'https://other.example/' });
  expect([other.status, other.body.error]).toEqual([400, 'invalid_grant']);
  expect((await exchange('form', clientId, code)).status).toBe(200);
});

test('A client that is unknown is told so, so that its host registers again', async () => {
  for (const grant_type of ['authorization_code', 'refresh_token']) {
    const refused = await exchange('form', 'of-another-server', { grant_type, code: 'x', refresh_token: 'x' });
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_client']);
  }
});

const describe = (path: string, more: object = {}, status = 200) => {
  const body = JSON.stringify({
    client_id: `http://${at}${path}`,
    client_name: 'By document',
    redirect_uris: [RETURNS],
    ...more,
  });
  documents.set(path, { status, body, read: 0 });
  return `http://${at}${path}`;
};

test('A client id may be the address of a document at an allowed host, which is read once a day', async () => {
  const clientId = describe('/client.json');
  const verifier = secret();
  const url = toConsentUrl(allowing.url, clientId, RETURNS, verifier);
  const page = await call(url, undefined, { headers: { cookie: `rollcall=${owner.secret}` } });
  expect([page.status, page.body]).toEqual([200, expect.stringContaining('Let By document act for')]);
  const back = await consent(url);
  const code = { grant_type: 'authorization_code', code: back.searchParams.get('code') ?? '', redirect_uri: RETURNS };
  const tokens = await exchange('form', clientId, { ...code, code_verifier: verifier }, allowing.url);
  expect([tokens.status, tokens.body.token_type]).toEqual([200, 'Bearer']);
  expect(documents.get('/client.json')?.read).toBe(1);
  const advertised = async ({ url: base }: TestApp) =>
    (await call(`${base}/.well-known/oauth-authorization-server`)).body.client_id_metadata_document_supported;
  expect([await advertised(allowing), await advertised(app)]).toEqual([true, undefined]);
});

test('A document is no client if its host is not allowed, or it is elsewhere, too large, or names another client', async () => {
  const ok = describe('/ok.json');
  const attempts: [TestApp, string, string][] = [
    [app, ok, RETURNS],
    [allowing, `${ok}#part`, RETURNS],
    [allowing, ok.replace('//', '//user@'), RETURNS],
    [allowing, ok.replace('127.0.0.1', 'localhost'), RETURNS],
    [allowing, `http://${at}/`, RETURNS],
    [allowing, ok, 'https://evil.example/'],
    [allowing, describe('/moved.json', {}, 302), RETURNS],
    [allowing, describe('/large.json', { padding: 'x'.repeat(64 * 1024) }), RETURNS],
    [allowing, describe('/other.json', { client_id: ok }), RETURNS],
    [allowing, describe('/script.json', { redirect_uris: ['javascript:alert(1)'] }), RETURNS],
    [allowing, `http://${at}/missing.json`, RETURNS],
  ];
  for (const [{ url: base }, clientId, redirect] of attempts) {
    const page = await call(toConsentUrl(base, clientId, redirect, secret()), undefined, { redirect: 'manual' });
    expect([clientId, page.status, page.headers.get('location')]).toEqual([clientId, 400, null]);
  }
  documents.set('/text.json', { status: 200, body: 'no JSON', read: 0 });
  const text = toConsentUrl(allowing.url, `http://${at}/text.json`, RETURNS, secret());
  expect((await call(text)).status).toBe(400);
  const fine = toConsentUrl(allowing.url, ok, RETURNS, secret());
  expect((await call(fine, undefined, { headers: { cookie: `rollcall=${owner.secret}` } })).status).toBe(200);
});
