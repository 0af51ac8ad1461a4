import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { operations } from '../../../src/interfaces/nouns.ts';
import { connectAgent, errorOf, type Protocol } from '../../harness/agent.ts';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;

beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(() => app?.close());

const forAgents = operations.filter(({ forAgents: isFor, takesFile }) => isFor && !takesFile);

describe.each<Protocol>(['2025-11-25', '2026-07-28'])('the official client at protocol %s', (protocol) => {
  it('lists every operation that the key may call, in at most 85 kB and 20,000 tokens, with all four hints and an example', async () => {
    const client = await connectAgent(app.url, key, '/mcp', protocol);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      forAgents
        .filter(({ callers }) => callers.includes('brand'))
        .map(({ id }) => id)
        .toSorted(),
    );
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThanOrEqual(85_000);
    expect(encode(JSON.stringify(tools)).length).toBeLessThanOrEqual(20_000);
    for (const { name, description, annotations } of tools) {
      expect(description, name).toMatch(/Example: \{.*\}$/s);
      // An omitted hint has the protocol's default: a destructive change that is not idempotent.
      const {
        readOnlyHint = false,
        destructiveHint = true,
        idempotentHint = false,
        openWorldHint = true,
      } = annotations ?? {};
      const hints = forAgents.find(({ id }) => id === name)?.hints;
      expect([readOnlyHint, openWorldHint], name).toEqual([hints?.readOnly, false]);
      if (!readOnlyHint)
        expect([destructiveHint, idempotentHint], name).toEqual([hints?.destructive, hints?.idempotent]);
    }
    await client.close();
  });

  it('calls tools and gets the error messages and full responses of the API', async () => {
    const client = await connectAgent(app.url, key, '/mcp', protocol);
    const made = await client.callTool({ name: 'create_campaign', arguments: { name: 'By an agent' } });
    expect(made.structuredContent).toMatchObject({ data: { title: 'By an agent' } });
    expect(made.content).toEqual([{ type: 'text', text: JSON.stringify(made.structuredContent) }]);
    const wrong = errorOf(await client.callTool({ name: 'create_campaign', arguments: { name: 3 } }));
    expect(wrong).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'name' }] });
    const none = errorOf(await client.callTool({ name: 'get_campaign', arguments: { id: 'cmp_none' } }));
    expect(none).toMatchObject({ code: 'NOT_FOUND', request_id: expect.any(String) });
    await client.close();
  });
});

const OF_REST = /`X-|\bheader|\bCSV\b|\/v1\/|\b(?:PATCH|POST|DELETE|GET)\b|wrapped|mode=plan|=true|\b4\d\d\b/;

test('No tool or argument is described in the words of REST, such as headers, paths, methods and statuses', async () => {
  const client = await connectAgent(app.url, key);
  const { tools } = await client.listTools();
  const texts = tools.flatMap(({ name, description = '', inputSchema }) => [
    `${name}: ${description.split(' Example:')[0]}`,
    ...Object.entries(inputSchema.properties ?? {}).map(([field, schema]) => {
      const about = typeof schema === 'object' && schema !== null && 'description' in schema ? schema.description : '';
      return `${name}.${field}: ${about}`;
    }),
  ]);
  expect(texts.filter((text) => OF_REST.test(text))).toEqual([]);
  await client.close();
});

test('Of operations that do the same one is a tool', async () => {
  const client = await connectAgent(app.url, key);
  const names = (await client.listTools()).tools.map(({ name }) => name);
  for (const [tool, ...twins] of [
    ['review_commissions', 'update_commission', 'update_commissions'],
    ['list_affiliate_commissions', 'list_commissions'],
    ['get_affiliate_commission', 'get_commission'],
    ['list_affiliate_links', 'list_affiliates'],
    ['settle_payout', 'settle_payout_by_body'],
    ['list_applications', 'list_campaign_applications'],
    ['get_analytics_breakdown', 'list_campaign_performance'],
  ]) {
    expect(names).toContain(tool);
    for (const twin of twins) expect(names).not.toContain(twin);
  }
  expect(names).toEqual(
    expect.arrayContaining(['list_affiliate_performance', 'list_affiliate_stores', 'bulk_create_affiliate_codes']),
  );
  await client.close();
});

test('The text of a result is one line of ids where the connection asks for a summary', async () => {
  const client = await connectAgent(app.url, key, '/mcp?summary=1');
  const made = await client.callTool({ name: 'create_campaign', arguments: { name: 'In a line' } });
  expect(made.content).toEqual([{ type: 'text', text: expect.stringMatching(/^cmp_\w+ In a line$/) }]);
  expect(made.structuredContent).toMatchObject({ data: { title: 'In a line' } });
  await client.close();
});

test('The audit log says which changes an agent made', async () => {
  const client = await connectAgent(app.url, key);
  await client.callTool({ name: 'create_campaign', arguments: { name: 'Audited' } });
  await send(`${app.url}/v1/campaigns`, key, 'POST', { name: 'By hand' });
  const { body } = await call(`${app.url}/v1/audit-log?operation=create_campaign&limit=2`, key);
  expect(body.data.map((entry: { by_agent: boolean }) => entry.by_agent)).toEqual([false, true]);
  await client.close();
});

test('A change under one idempotency_key is made once', async () => {
  const client = await connectAgent(app.url, key);
  const args = { name: 'Once', idempotency_key: 'agent-1' };
  const [first, again] = [
    await client.callTool({ name: 'create_campaign', arguments: args }),
    await client.callTool({ name: 'create_campaign', arguments: args }),
  ];
  expect(again.structuredContent).toEqual(first.structuredContent);
  await client.close();
});

test('An unknown argument is refused before anything is charged, with the likely name', async () => {
  const client = await connectAgent(app.url, await brand.key('data'));
  const refusal = errorOf(await client.callTool({ name: 'search_creators', arguments: { folower_min: 10 } }));
  expect(refusal).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'folower_min', code: 'unknown' }] });
  expect(refusal.error).toContain('follower_min');
  const list = errorOf(await client.callTool({ name: 'search_creators', arguments: { city: ['NYC', 'LA'] } }));
  expect(list).toMatchObject({ details: [{ field: 'city', code: 'invalid_type' }] });
  await client.close();
});

test('Every POST without a valid key gets 401 with WWW-Authenticate', async () => {
  for (const method of ['initialize', 'tools/list', 'tools/call', 'ping']) {
    const params = method === 'tools/call' ? { name: 'list_campaigns', arguments: {} } : {};
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    };
    for (const wrong of [undefined, `svk_${'a'.repeat(40)}`]) {
      const answer = await call(`${app.url}/mcp`, wrong, init);
      expect(answer.status, method).toBe(401);
      expect(answer.headers.get('www-authenticate'), method).toContain('Bearer');
    }
  }
});

test('A foreign Host or Origin is refused', async () => {
  const headers = { 'content-type': 'application/json', origin: 'https://evil.example' };
  const answer = await call(`${app.url}/mcp`, key, { method: 'POST', headers, body: '{}' });
  expect([answer.status, answer.body.code]).toEqual([403, 'FOREIGN_HOST']);
});

test('The parameters toolsets, tools and readonly narrow the list, and output=1 adds response schemas', async () => {
  const namesOf = async (path: string) => {
    const client = await connectAgent(app.url, key, path);
    const { tools } = await client.listTools();
    await client.close();
    return tools;
  };
  const own = await namesOf('/mcp?toolsets=campaigns');
  expect(own.map(({ name }) => name)).toEqual(['list_campaigns', 'create_campaign', 'get_campaign', 'update_campaign']);
  const reading = await namesOf('/mcp?toolsets=campaigns&readonly=1&output=1');
  expect(reading.map(({ name }) => name)).toEqual(['list_campaigns', 'get_campaign']);
  expect(reading.every(({ outputSchema }) => outputSchema?.type === 'object')).toBe(true);
  const one = await namesOf('/mcp?tools=list_payouts');
  expect(one.map(({ name }) => name)).toEqual(['list_payouts']);
  const wrong = await call(`${app.url}/mcp?toolset=campaigns`, key, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect([wrong.status, wrong.body.details[0].code]).toEqual([422, 'unknown']);
});
