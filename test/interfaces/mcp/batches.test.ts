import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeBrand, send, startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const call = (id: number) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call' },
  params: { name: 'create_campaign', arguments: { name: `campaign ${id}` } },
});

test('Arguments that are null or an empty text are none; any other text or value but an object is refused by name', async () => {
  const key = await (await makeBrand(app.context)).key('brand');
  const use = async (args: unknown) => {
    const message = { ...call(1), params: { name: 'list_campaigns', arguments: args } };
    const { status, body } = await send(`${app.url}/mcp`, key, 'POST', message);
    return [status, body.result?.structuredContent?.data ?? body.details?.[0]];
  };
  for (const args of [null, '', '{}', {}]) expect(await use(args)).toEqual([200, []]);
  for (const args of ['[]', '5', 'null', '"{}"', '{', [], 5]) {
    const message = expect.stringMatching(/^must be an object, such as \{"limit": 20\}; got /);
    expect(await use(args)).toEqual([422, { field: 'arguments', code: 'invalid_type', message }]);
  }
});

test('What a host writes as null is left out, and only an update says that a field cannot be null', async () => {
  const key = await (await makeBrand(app.context)).key('brand');
  const post = async (message: object) =>
    await send(`${app.url}/mcp`, key, 'POST', { jsonrpc: '2.0', id: 1, ...message });
  expect((await post({ method: 'ping', params: null })).body.result).toEqual({});
  const listed = await post({ method: 'tools/list', params: { cursor: null, _meta: null } });
  expect(listed.body.result.tools.length).toBeGreaterThan(10);
  const use = async (name: string, args: object) =>
    (await post({ method: 'tools/call', params: { name, arguments: args } })).body.result;
  const nothing = { type: null, status: null, deadline: null, compensation: null, mode: null, idempotency_key: null };
  const { data } = (await use('create_campaign', { name: 'Spring', ...nothing })).structuredContent;
  expect(data).toMatchObject({ title: 'Spring', status: 'active' });
  const cleared = await use('update_campaign', { id: data.id, name: null });
  expect([cleared.isError, cleared.content[0].text]).toEqual([true, expect.stringContaining('name')]);
});

test('A version that a proxy leaves blank or doubles is read, and a greeting of a later version is answered with ours', async () => {
  const key = await (await makeBrand(app.context)).key('brand');
  const post = async (version: string, message: object) =>
    await send(
      `${app.url}/mcp`,
      key,
      'POST',
      { jsonrpc: '2.0', id: 1, ...message },
      { 'mcp-protocol-version': version },
    );
  const list = { method: 'tools/list', params: {} };
  for (const version of ['', '2025-06-18, 2025-06-18']) expect((await post(version, list)).status, version).toBe(200);
  for (const version of ['2025-06-18, 2025-11-25', '1999-01-01']) {
    expect((await post(version, list)).status, version).toBe(400);
  }
  const params = { protocolVersion: '2027-01-01', capabilities: {}, clientInfo: { name: 'host', version: '1' } };
  const greeted = await post('2027-01-01', { method: 'initialize', params });
  expect([greeted.status, greeted.body.result?.protocolVersion]).toEqual([200, '2025-11-25']);
});

test('A flag of the address is set in any spelling or refused, and toolsets may be given one at a time', async () => {
  const key = await (await makeBrand(app.context)).key('brand');
  const list = async (query: string) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const { status, body } = await send(`${app.url}/mcp?${query}`, key, 'POST', message);
    return status === 200
      ? body.result.tools.map(({ name }: { name: string }) => name)
      : [status, body.details[0].field];
  };
  for (const flag of ['readonly', 'readonly=', 'readonly=True', 'readonly=yes', 'readonly=1']) {
    const names = await list(`toolsets=campaigns&${flag}`);
    expect([flag, names.includes('list_campaigns'), names.includes('create_campaign')]).toEqual([flag, true, false]);
  }
  expect(await list('toolsets=campaigns&readonly=false')).toContain('create_campaign');
  expect(await list('readonly=maybe')).toEqual([422, 'readonly']);
  const both = await list('toolsets=campaigns&toolsets=payouts,');
  expect([both.includes('list_campaigns'), both.includes('list_payouts')]).toEqual([true, true]);
});

test('A page that may call asks first, and reads the answers; another page reads none', async () => {
  const key = await (await makeBrand(app.context)).key('brand');
  const ask = async (method: string, origin: string) =>
    await fetch(`${app.url}/mcp`, {
      method,
      headers: { origin, 'content-type': 'application/json', authorization: `Bearer ${key}` },
      ...(method === 'POST' && { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) }),
    });
  const [own, foreign] = ['http://localhost:6274', 'https://evil.example'];
  const asked = await ask('OPTIONS', own);
  expect([asked.status, asked.headers.get('access-control-allow-headers')]).toEqual([
    204,
    expect.stringContaining('authorization'),
  ]);
  for (const answer of [asked, await ask('POST', own)]) {
    expect([answer.ok, answer.headers.get('access-control-allow-origin')]).toEqual([true, own]);
  }
  for (const method of ['OPTIONS', 'POST']) {
    const answer = await ask(method, foreign);
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  }
});

test('A batch of messages is refused as a whole with a JSON-RPC error, counts as a call, and needs a key', async () => {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  for (const batch of [[], [call(1)], Array.from({ length: 100 }, (_, i) => call(i))]) {
    const { status, body, headers } = await send(`${app.url}/mcp`, key, 'POST', batch);
    expect([status, body]).toEqual([
      400,
      {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_600, message: expect.stringContaining('one message per request') },
      },
    ]);
    expect(headers.get('x-ratelimit-remaining')).not.toBeNull();
  }
  expect((await send(`${app.url}/mcp`, 'svk_wrong', 'POST', [call(1)])).status).toBe(401);
  const { body } = await send(`${app.url}/v1/campaigns`, key, 'GET');
  expect(body.pagination.total).toBe(0);
});
