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
