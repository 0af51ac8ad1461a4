import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  Client,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/kit/values/duration.ts';
import { type Answer, call, makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { errorOf } from '../../harness/interfaces/agent.ts';
import { type SignedIn, signIn } from '../../harness/platform/session.ts';

const RETURN = 'https://host.example/callback';

let app: TestApp;
let brand: TestBrand;
let owner: SignedIn;
let laterMs = 0;
const clock = { now: () => new Date(Date.now() + laterMs) };
const advance = (ms: number) => {
  laterMs += ms;
};
beforeAll(async () => {
  app = await startApp({ clock });
  brand = await makeBrand(app.context);
});
beforeEach(async () => {
  owner = await signIn(app, brand.id);
});
afterAll(() => app?.close());

/** What a host of agents keeps. */
class Host implements OAuthClientProvider {
  readonly redirectUrl = RETURN;
  readonly clientMetadata = { client_name: 'Test host', redirect_uris: [RETURN] };
  client: StoredOAuthClientInformation | undefined;
  saved: StoredOAuthTokens | undefined;
  verifier = '';
  consentUrl: URL | undefined;
  clientInformation = () => this.client;
  tokens = () => this.saved;
  codeVerifier = () => this.verifier;
  saveClientInformation(client: StoredOAuthClientInformation) {
    this.client = client;
  }
  saveTokens(tokens: StoredOAuthTokens) {
    this.saved = tokens;
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier;
  }
  redirectToAuthorization(url: URL) {
    this.consentUrl = url;
  }
}

const transportFor = (host: Host) =>
  new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), { authProvider: host });
const newClient = () =>
  new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });

/** As the owner's browser: opens the consent page, ticks boxes and presses a button. */
async function answer(
  consentUrl: string,
  fields: Record<string, string>,
  { secret }: SignedIn = owner,
): Promise<Answer> {
  const headers = { cookie: `rollcall=${secret}`, 'sec-fetch-site': 'same-origin' };
  return await call(consentUrl, undefined, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers,
    redirect: 'manual',
  });
}

const leadsTo = ({ headers }: Answer) => new URL(headers.get('location') ?? 'none:').searchParams;

const register = async (metadata: object) =>
  await call(`${app.url}/oauth/register`, undefined, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(metadata),
  });

/** A request for consent as a host makes it by hand, and its verifier. */
async function ask(more: Record<string, string> = {}) {
  const { body } = await register({ client_name: 'By hand', redirect_uris: [RETURN] });
  const verifier = randomBytes(32).toString('base64url');
  const query = {
    ...{ client_id: body.client_id, redirect_uri: RETURN, response_type: 'code', state: 's1' },
    ...{ code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256' },
    ...more,
  };
  return { url: `${app.url}/oauth/authorize?${new URLSearchParams(query)}`, verifier, clientId: body.client_id };
}

const exchange = async (fields: Record<string, string>) =>
  await call(`${app.url}/oauth/token`, undefined, { method: 'POST', body: new URLSearchParams(fields) });

const ALL = { decision: 'allow', campaigns: 'yes', payouts: 'yes' };

async function granted(fields: Record<string, string> = ALL) {
  const { url, verifier, clientId } = await ask();
  const code = leadsTo(await answer(url, fields)).get('code') ?? '';
  const form = { grant_type: 'authorization_code', code, redirect_uri: RETURN, client_id: clientId };
  const redeem = () => exchange({ ...form, code_verifier: verifier });
  return { code, form, redeem, clientId };
}

const listTools = async (token: string) =>
  await send(
    `${app.url}/mcp`,
    token,
    'POST',
    { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
    {
      accept: 'application/json, text/event-stream',
    },
  );

test('The official client discovers, registers, gets the owner’s consent, connects with tokens, and renews them', async () => {
  const host = new Host();
  const first = transportFor(host);
  await expect(newClient().connect(first)).rejects.toThrow(UnauthorizedError);
  const consentUrl = host.consentUrl?.href ?? '';
  expect(consentUrl).toContain(`${app.url}/oauth/authorize?`);
  const page = await call(consentUrl, undefined, { headers: { cookie: `rollcall=${owner.secret}` } });
  expect([page.status, page.headers.get('content-security-policy')]).toEqual([
    200,
    expect.stringContaining("form-action 'self' https://host.example"),
  ]);
  expect(page.body).toContain('Let Test host act for');
  const allowed = await answer(consentUrl, { decision: 'allow', campaigns: 'yes', readonly: 'yes' });
  expect(allowed.status).toBe(303);
  await first.finishAuth(leadsTo(allowed));

  const client = newClient();
  await client.connect(transportFor(host));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    'list_campaigns',
    'get_campaign',
    'list_toolsets',
  ]);
  expect((await client.callTool({ name: 'list_campaigns', arguments: {} })).isError).toBeFalsy();
  const made = errorOf(await client.callTool({ name: 'create_campaign', arguments: { name: 'No' } }));
  expect(made).toMatchObject({ code: 'POLICY_REFUSED', rule: 'scope' });
  await client.close();

  const { access_token: old = '', refresh_token = '' } = host.saved ?? {};
  host.saved = { ...host.saved, access_token: `svk_${'x'.repeat(40)}`, token_type: 'Bearer', refresh_token };
  const again = newClient();
  await again.connect(transportFor(host));
  expect(host.saved.access_token).not.toBe(old);
  expect((await again.callTool({ name: 'list_campaigns', arguments: {} })).isError).toBeFalsy();
  await again.close();
});

test('A call without a key is told where to get a token', async () => {
  const headers = { 'content-type': 'application/json' };
  const refused = await call(`${app.url}/mcp`, undefined, { method: 'POST', body: '{}', headers });
  const challenge = refused.headers.get('www-authenticate') ?? '';
  const address = /resource_metadata="(.+)"/.exec(challenge)?.[1] ?? '';
  expect([refused.status, challenge.startsWith('Bearer ')]).toEqual([401, true]);
  const { body } = await call(address);
  expect(body).toMatchObject({ resource: `${app.url}/mcp`, authorization_servers: [app.url] });
  const server = await call(`${app.url}/.well-known/oauth-authorization-server`);
  expect(server.body).toMatchObject({ issuer: app.url, code_challenge_methods_supported: ['S256'] });
});

test('An agent’s token opens /mcp and no other door, where the policy for agents does not apply', async () => {
  const { access_token } = (await (await granted()).redeem()).body;
  expect((await listTools(access_token)).status).toBe(200);
  for (const path of ['/v1/brand', '/v1/campaigns', '/api/v1/campaigns']) {
    const refused = await call(`${app.url}${path}`, access_token);
    expect([refused.status, refused.body.code], path).toEqual([401, 'INVALID_API_KEY']);
  }
});

test('A code works once, for the client that requested it, and sent again it ends the access', async () => {
  const { redeem, form } = await granted();
  for (const wrong of [
    { code_verifier: 'x'.repeat(43) },
    { client_id: (await ask()).clientId },
    { redirect_uri: 'https://other.example/' },
  ]) {
    const refused = await exchange({ ...form, code_verifier: 'y'.repeat(43), ...wrong });
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_grant']);
  }
  const both = await Promise.all([redeem(), redeem()]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);

  const other = await granted();
  const { access_token } = (await other.redeem()).body;
  expect((await listTools(access_token)).status).toBe(200);
  expect((await other.redeem()).status).toBe(400);
  await expect.poll(async () => (await listTools(access_token)).status).toBe(401);
});

const refreshBy = (clientId: string, refresh_token: string) =>
  exchange({ grant_type: 'refresh_token', refresh_token, client_id: clientId });

test('For ten minutes a refresh token is answered again, with the same next token and a fresh access token', async () => {
  const { redeem, clientId } = await granted();
  const first = (await redeem()).body;
  const sessions = await Promise.all([1, 2, 3, 4, 5].map(() => refreshBy(clientId, first.refresh_token)));
  expect(sessions.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(new Set(sessions.map(({ body }) => body.refresh_token)).size).toBe(1);
  expect(sessions[0]?.body).toMatchObject({ token_type: 'Bearer', expires_in: 3_600 });
  expect(sessions[0]?.body.scope.split(' ').toSorted()).toEqual(['campaigns', 'payouts']);
  const second = (await refreshBy(clientId, sessions[0]?.body.refresh_token)).body;
  advance(9.9 * MINUTE_MS);
  expect((await refreshBy(clientId, first.refresh_token)).body.refresh_token).toBe(sessions[0]?.body.refresh_token);
  const tokens = [first, ...sessions.map(({ body }) => body), second].map(({ access_token }) => access_token);
  expect(new Set(tokens).size).toBe(7);
  for (const token of tokens) expect((await listTools(token)).status).toBe(200);
  advance(51 * MINUTE_MS);
  for (const token of tokens) expect((await listTools(token)).status).toBe(401);
});

test('A grant has at most twenty access tokens, of which the oldest goes first', async () => {
  const { redeem, clientId } = await granted();
  const first = (await redeem()).body;
  for (let i = 0; i < 19; i++) {
    advance(1_000);
    await refreshBy(clientId, first.refresh_token);
  }
  expect((await listTools(first.access_token)).status).toBe(200);
  advance(1_000);
  const newest = (await refreshBy(clientId, first.refresh_token)).body;
  await expect.poll(async () => (await listTools(first.access_token)).status).toBe(401);
  expect((await listTools(newest.access_token)).status).toBe(200);
});

test('A refresh token that comes back after ten minutes is stolen, and ends all access of the grant', async () => {
  const { redeem, clientId } = await granted();
  const first = (await redeem()).body;
  const second = (await refreshBy(clientId, first.refresh_token)).body;
  const third = (await refreshBy(clientId, second.refresh_token)).body;
  expect((await refreshBy(clientId, `${first.refresh_token.slice(0, -2)}AA`)).status).toBe(400);
  expect((await listTools(third.access_token)).status).toBe(200);
  advance(10.1 * MINUTE_MS);
  expect((await refreshBy(clientId, first.refresh_token)).body.error).toBe('invalid_grant');
  for (const { access_token } of [first, second, third]) {
    await expect.poll(async () => (await listTools(access_token)).status).toBe(401);
  }
  expect((await refreshBy(clientId, third.refresh_token)).body.error).toBe('invalid_grant');
});

test('The database has no refresh token that works, although it repeats them', async () => {
  const { redeem, clientId } = await granted();
  const first = (await redeem()).body;
  const second = (await refreshBy(clientId, first.refresh_token)).body;
  const { rows } = await sql<{ sealed: Buffer }>`
    select sealed_next as sealed from spent_refresh_tokens where hash = sha256(${first.refresh_token}::bytea)`.execute(
    app.context.postgres.db,
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]?.sealed.toString('latin1')).not.toContain(second.refresh_token);
  expect(() => app.context.secrets.open(rows[0]?.sealed ?? Buffer.alloc(0), 'next refresh token')).toThrow();
});

test('An owner ends an agent’s access where keys are revoked, and its refresh token ends with it', async () => {
  const { redeem, clientId } = await granted();
  const { access_token, refresh_token } = (await redeem()).body;
  const keys = (await owner.get('/v1/keys?limit=100')).body.data;
  const { id } = keys.find(({ name, masked }: { name: string; masked: string }) => {
    return name === 'By hand' && masked.endsWith(access_token.slice(-4));
  });
  expect((await owner.send('DELETE', `/v1/keys/${id}`)).status).toBe(200);
  await expect.poll(async () => (await listTools(access_token)).status).toBe(401);
  const refreshed = await exchange({ grant_type: 'refresh_token', refresh_token, client_id: clientId });
  expect(refreshed.body.error).toBe('invalid_grant');
});

test('No host requests to read only: it is no advertised scope, and the owner’s box is empty, whatever is requested', async () => {
  const resource = (await call(`${app.url}/.well-known/oauth-protected-resource/mcp`)).body.scopes_supported;
  const server = (await call(`${app.url}/.well-known/oauth-authorization-server`)).body.scopes_supported;
  expect([resource.includes('campaigns'), resource.includes('readonly')]).toEqual([true, false]);
  expect(server).toEqual(resource);
  const { url } = await ask({ scope: 'campaigns readonly' });
  const page = await call(url, undefined, { headers: { cookie: `rollcall=${owner.secret}` } });
  const boxes = String(page.body).match(/<input[^>]*type="checkbox"[^>]*>/g) ?? [];
  const listed = boxes.map((box) => [/name="(.+?)"/.exec(box)?.[1], /\bchecked\b/.test(box)]);
  expect(listed).toEqual([
    ['campaigns', true],
    ['readonly', false],
  ]);
});

test('Only a signed-in owner consents, on the page itself', async () => {
  const { url } = await ask();
  const unknown = await call(url);
  expect([unknown.status, unknown.body]).toEqual([401, expect.stringContaining('Sign in first')]);
  const headers = { cookie: `rollcall=${owner.secret}`, 'sec-fetch-site': 'cross-site' };
  const foreign = await call(url, undefined, {
    method: 'POST',
    body: new URLSearchParams(ALL),
    headers,
    redirect: 'manual',
  });
  expect([foreign.status, foreign.body.code]).toEqual([403, 'CROSS_SITE']);
  const signedIn = await signIn(app, brand.id);
  await signedIn.send('POST', '/v1/people', { email: 'manager@brand.example', role: 'manager' });
  const manager = await signIn(app, brand.id, 'manager@brand.example');
  const refused = await answer(url, ALL, manager);
  expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('Ask an owner')]);
  const denied = leadsTo(await answer(url, { decision: 'refuse' }));
  expect(Object.fromEntries(denied)).toEqual({ error: 'access_denied', state: 's1', iss: app.url });
});

test('A session lets an agent in only within 15 minutes of signing in; the page says to sign in again and leads back', async () => {
  const { url } = await ask();
  const open = async ({ secret }: SignedIn) =>
    await call(url, undefined, { headers: { cookie: `rollcall=${secret}` } });
  const taken = owner;
  expect((await open(taken)).status).toBe(200);
  advance(15 * MINUTE_MS);
  for (const refused of [await open(taken), await answer(url, ALL, taken)]) {
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('Sign in again first')]);
    const [, back = ''] = /<a href="(\/oauth\/authorize[^"]*)">continue here<\/a>/.exec(refused.body) ?? [];
    expect(`${app.url}${back.replaceAll('&amp;', '&')}`).toBe(url);
  }
  expect(leadsTo(await answer(url, { decision: 'refuse' }, taken)).get('error')).toBe('access_denied');
  expect(leadsTo(await answer(url, ALL, await signIn(app, brand.id))).get('code')).toMatch(/^svc_/);
});

test('A request that no registered client makes leads nowhere, and a wrong one back only by a link that a person follows', async () => {
  const elsewhere = await ask({ redirect_uri: 'https://evil.example/' });
  expect((await call(elsewhere.url, undefined, { redirect: 'manual' })).status).toBe(400);
  const unknown = await ask({ client_id: 'nobody' });
  expect((await call(unknown.url, undefined, { redirect: 'manual' })).status).toBe(400);
  for (const [wrong, error] of [
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge: '' }, 'invalid_request'],
    [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
  ] as const) {
    const { url } = await ask({ ...wrong });
    const posted = { method: 'POST', body: new URLSearchParams(ALL), redirect: 'manual' } as const;
    for (const page of [await call(url, undefined, { redirect: 'manual' }), await call(url, undefined, posted)]) {
      expect([page.status, page.headers.get('location')], JSON.stringify(wrong)).toEqual([400, null]);
      const back = /href="(https:\/\/host\.example[^"]*)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
      expect(new URL(back).searchParams.get('error')).toBe(error);
    }
  }
  const unseen = { method: 'POST', body: new URLSearchParams({ decision: 'refuse' }), redirect: 'manual' } as const;
  expect((await call((await ask()).url, undefined, unseen)).status).toBe(401);
});

test('An app’s own address is shown whole, with the warning that any app may claim it', async () => {
  const cookie = { headers: { cookie: `rollcall=${owner.secret}` } };
  const read = async (redirect: string) => {
    const { body } = await register({ client_name: 'App', redirect_uris: [redirect] });
    return (await call((await ask({ client_id: body.client_id, redirect_uri: redirect })).url, undefined, cookie)).body;
  };
  const own = await read('evilapp://claude.ai/cb');
  expect(own).toContain('returns to <strong>evilapp://claude.ai/cb</strong>');
  expect(own).toContain('any app can claim it');
  expect(await read('https://claude.ai/cb')).not.toContain('any app can claim it');
  expect(await read('http://127.0.0.1:33418/')).toContain('a program on your own device');
  // What is not seen, and letters that look like others, stand in no address or name that an owner reads.
  for (const redirect of ['evilapp://claude.ai/cb\u202e', 'evilapp://cl\u0430ude.ai/cb']) {
    expect((await register({ client_name: 'App', redirect_uris: [redirect] })).status).toBe(400);
  }
  const { body } = await register({
    client_name: 'Claude\u202e\r\nby Anthropic',
    redirect_uris: ['https://a.example/'],
  });
  expect(body.client_name).toBe('Claude by Anthropic');
});

test('Without API_URL only callers on the same machine have an issuer, whatever `Host` is sent', async () => {
  const paths = ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource/mcp'];
  const ask = async (own: TestApp, path: string, host: string) => {
    const sent = request(`${own.url}${path}`, { headers: { host } }).end();
    const [answer]: IncomingMessage[] = await once(sent, 'response');
    return { status: answer?.statusCode, text: answer ? await text(answer) : '' };
  };
  for (const path of paths) {
    expect((await ask(app, path, 'evil.example')).status, path).toBe(404);
    const near = await ask(app, path, 'localhost:1');
    expect([near.status, near.text.includes('localhost:1"')], path).toEqual([200, false]);
  }
  const own = await startApp({ env: { API_URL: 'https://api.example' } });
  for (const path of paths) {
    const { text: body } = await ask(own, path, 'evil.example');
    expect([body.includes('https://api.example'), body.includes('evil')], path).toEqual([true, false]);
  }
  await own.close();
});

test('A host that asks for more than it gets is registered, and told what it gets', async () => {
  const { status, body } = await register({
    redirect_uris: ['https://vscode.dev/redirect', 'http://127.0.0.1/', 'http://localhost:33418/'],
    client_name: ` ${'N'.repeat(300)}`,
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code', 'token'],
    token_endpoint_auth_method: 'client_secret_post',
    application_type: 'native',
    scope: 'everything',
  });
  expect([status, body.client_name.length, body.client_id_issued_at]).toEqual([201, 100, expect.any(Number)]);
  expect(body).toMatchObject({
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  });
  for (const client_name of ['', '  ', 7, undefined]) {
    expect((await register({ client_name, redirect_uris: [RETURN] })).body.client_name).toBe('An agent');
  }
});

test('Tokens are exchanged for JSON as for a form, and for a client id by Basic', async () => {
  const { form, code, clientId } = await granted();
  const verifier = 'v'.repeat(43);
  const { url, verifier: own, clientId: client_id } = await ask();
  const { client_id: _id, code: _code, ...rest } = { ...form, code };
  const json = await call(`${app.url}/oauth/token`, undefined, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...rest, client_id, code: leadsTo(await answer(url, ALL)).get('code'), code_verifier: own }),
  });
  expect([json.status, json.body.token_type]).toEqual([200, 'Bearer']);
  const basic = await call(`${app.url}/oauth/token`, undefined, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${client_id}:`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: json.body.refresh_token }),
  });
  expect([basic.status, basic.body.token_type]).toEqual([200, 'Bearer']);
  expect((await exchange({ ...rest, code, client_id: clientId, code_verifier: verifier })).status).toBe(400);
});

test('The documents that hosts look for are at every path at which they look, and any other is 404', async () => {
  const resource = '/.well-known/oauth-protected-resource';
  const server = '/.well-known/oauth-authorization-server';
  const read = async (path: string) => (await call(`${app.url}${path}`)).body;
  expect((await read(`${resource}/mcp`)).resource).toBe(`${app.url}/mcp`);
  expect((await read(`${resource}/mcp/`)).resource).toBe(`${app.url}/mcp/`);
  for (const path of [server, `${server}/`, `${server}/mcp`]) expect((await read(path)).issuer).toBe(app.url);
  for (const path of ['openid-configuration', 'openid-configuration/mcp', 'anything']) {
    expect((await call(`${app.url}/.well-known/${path}`)).status, path).toBe(404);
  }
  for (const path of [`${resource}/mcp`, server, '/oauth/register', '/oauth/token']) {
    const { status, headers } = await call(`${app.url}${path}`, undefined, { method: 'OPTIONS' });
    const allowed = headers.get('access-control-allow-headers');
    expect([status, headers.get('access-control-allow-origin'), allowed?.includes('content-type')]).toEqual([
      204,
      '*',
      true,
    ]);
  }
  const headers = { 'content-type': 'application/json' };
  const challenge = await call(`${app.url}/mcp/`, undefined, { method: 'POST', body: '{}', headers });
  expect(challenge.headers.get('www-authenticate')).toContain(`${resource}/mcp/"`);
});

test.each([
  ['com.example.app:/callback', 201],
  ['vscript:run', 400],
  ['https://claude.ai/api/mcp/auth_callback', 201],
  ['http://127.0.0.1:33418/', 201],
  ['cursor://anysphere.cursor-mcp/oauth/callback', 201],
  ['http://host.example/callback', 400],
  ['javascript:alert(1)', 400],
  ['https://host.example/#fragment', 400],
])('A host that returns to %s is registered with %i', async (redirect, status) => {
  expect((await register({ client_name: 'Host', redirect_uris: [redirect] })).status).toBe(status);
});
