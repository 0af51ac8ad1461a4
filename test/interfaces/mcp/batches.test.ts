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
    const { structuredContent, isError, content } = body.result;
    return [status, body.id, structuredContent?.data ?? [isError, ...JSON.parse(content[0].text).details]];
  };
  for (const args of [null, '', '{}', {}]) expect(await use(args)).toEqual([200, 1, []]);
  for (const args of ['[]', '5', 'null', '"{}"', '{', [], 5]) {
    const message = expect.stringMatching(/^must be an object, such as \{"limit": 20\}; got /);
    expect(await use(args)).toEqual([200, 1, [true, { field: 'arguments', code: 'invalid_type', message }]]);
  }
});

test('What cannot be read is answered in JSON-RPC with the code for it, after the key', async () => {
  const key = await (await makeBrand(app.context)).key('brand');
  const post = async (body: string, by: string) => {
    const answer = await fetch(`${app.url}/mcp`, {
      ...{ method: 'POST', body },
      headers: { authorization: `Bearer ${by}`, 'content-type': 'application/json' },
    });
    const { id, error } = JSON.parse(await answer.text());
    return [answer.status, id, error.code ?? error];
  };
  const deep = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":${'['.repeat(200)}${']'.repeat(200)}}}`;
  const initialize = (protocolVersion: unknown, clientInfo: unknown) =>
    JSON.stringify({
      ...{ jsonrpc: '2.0', id: 7, method: 'initialize' },
      params: { protocolVersion, clientInfo, capabilities: {} },
    });
  expect(await post('{"jsonrpc":', key)).toEqual([400, null, -32_700]);
  expect((await post('{"jsonrpc":', 'sk_wrong'))[0]).toBe(401);
  expect(await post(deep, key)).toEqual([422, null, -32_600]);
  expect(await post(initialize(5, { name: 'x', version: '1' }), key)).toEqual([200, 7, -32_602]);
  expect(await post(initialize('2025-06-18', 'x'), key)).toEqual([200, 7, -32_602]);
  for (const cursor of ['5', 5, {}]) {
    const list = JSON.stringify({ jsonrpc: '2.0', id: 'l', method: 'tools/list', params: { cursor } });
    expect(await post(list, key)).toEqual([200, 'l', -32_602]);
  }
});

test.each(['GET', 'PUT', 'PATCH', 'DELETE'])('%s is 405 and names the method that is allowed', async (method) => {
  const key = await (await makeBrand(app.context)).key('brand');
  const answer = await fetch(`${app.url}/mcp`, { method, headers: { authorization: `Bearer ${key}` } });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
});

test('Tools are described in words of JSON Schema that every host takes', async () => {
  const key = await (await makeBrand(app.context)).key('brand');
  for (const query of ['', '?output=1']) {
    const { body } = await send(`${app.url}/mcp${query}`, key, 'POST', { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const text = JSON.stringify(body.result.tools.map(({ inputSchema }: { inputSchema: object }) => inputSchema));
    for (const word of ['"propertyNames":', '"const":', '"null"', '"type":[']) expect(text).not.toContain(word);
    expect(JSON.stringify(body.result.tools)).not.toMatch(/"(propertyNames|const)":/);
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
