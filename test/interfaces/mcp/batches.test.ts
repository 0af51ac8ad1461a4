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
