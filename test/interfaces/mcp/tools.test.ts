import { readFile } from 'node:fs/promises';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { openCatalog } from '../../../src/interfaces/mcp/catalog.ts';
import { operations } from '../../../src/interfaces/nouns.ts';
import { call, keysInTurn, makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { connectAgent, errorOf, type Protocol } from '../../harness/interfaces/agent.ts';
import { signIn } from '../../harness/platform/session.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;

beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(() => app?.close());

/** Operations that are tools, and those of them that a connection lists without being asked. */
const forAgents = operations.filter(({ forAgents: isFor, takesFile }) => isFor && !takesFile);
const listed = forAgents.filter(({ forAgents: facts }) => facts !== false && facts.isListed !== false);

describe.each<Protocol>(['2025-11-25', '2026-07-28'])('the official client at protocol %s', (protocol) => {
  it('lists every operation that the key may call, in at most 85 kB and 20,000 tokens, with all four hints and an example', async () => {
    const client = await connectAgent(app.url, key, '/mcp', protocol);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      [...listed.filter(({ callers }) => callers.includes('brand')).map(({ id }) => id), 'list_toolsets'].toSorted(),
    );
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThanOrEqual(85_000);
    expect(encode(JSON.stringify(tools)).length).toBeLessThanOrEqual(20_000);
    for (const { name, description, annotations } of tools.filter(({ name }) => name !== 'list_toolsets')) {
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

test('Every operation but files and what people decide is a tool, and an unlisted one is called by its name', async () => {
  const others = operations.filter(({ forAgents: isFor, callers }) => !isFor && callers.includes('brand'));
  const ofPeople = others.map(({ id }) => id).filter((id) => !/data_request/.test(id));
  expect(ofPeople.toSorted()).toEqual(['apply_plan', 'update_agent_policy']);
  const client = await connectAgent(app.url, key);
  const { structuredContent } = await client.callTool({ name: 'list_toolsets', arguments: {} });
  const { data, how } = JSON.parse(JSON.stringify(structuredContent));
  expect(how).toContain('?toolsets=');
  const named = data.flatMap(({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name));
  const own = forAgents.filter(({ callers }) => callers.includes('brand')).map(({ id }) => id);
  expect(named.toSorted()).toEqual(own.toSorted());
  const owner = await signIn(app, brand.id);
  const [{ email }] = (await owner.get('/v1/people')).body.data;
  const alert = { name: 'Sales drop', metric: 'revenue', condition: 'change_percent', threshold: -20, to: [email] };
  const made = await client.callTool({ name: 'create_alert', arguments: alert });
  expect(made.structuredContent, JSON.stringify(made.content)).toMatchObject({ data: { name: 'Sales drop' } });
  await client.close();
});

test('What decides how much creators are paid, an agent plans and a person applies', async () => {
  const client = await connectAgent(app.url, key);
  const change = { velocity: { action: 'off' } };
  const refused = errorOf(await client.callTool({ name: 'update_fraud_rules', arguments: change }));
  expect(refused).toMatchObject({ code: 'POLICY_REFUSED', rule: 'planned' });
  const planned = await client.callTool({ name: 'update_fraud_rules', arguments: { ...change, mode: 'plan' } });
  expect(planned.structuredContent).toMatchObject({ plan_id: expect.stringMatching(/^pln_/) });
  await client.close();
});

test('A connection that asks for a toolset or a tool gets it whole, with the arguments that others leave out', async () => {
  const listOf = async (path: string) => {
    const client = await connectAgent(app.url, key, path);
    const { tools } = await client.listTools();
    await client.close();
    return tools;
  };
  const reports = (await listOf('/mcp?toolsets=reports-and-alerts')).map(({ name }) => name);
  expect(reports).toEqual(expect.arrayContaining(['create_report', 'create_alert', 'delete_alert']));
  const [brief] = (await listOf('/mcp')).filter(({ name }) => name === 'list_campaigns');
  const [whole] = await listOf('/mcp?tools=list_campaigns');
  const names = (tool: typeof whole) => Object.keys(tool?.inputSchema.properties ?? {});
  expect(names(whole)).toEqual(expect.arrayContaining([...names(brief), 'created_after', 'updated_after', 'sort']));
  const all = new Map(
    (await listOf(`/mcp?tools=${forAgents.map(({ id }) => id).join(',')}`)).map((one) => [one.name, one]),
  );
  for (const { id, callers, params, query, body, forAgents: facts } of forAgents) {
    if (!callers.includes('brand')) continue;
    const inputs = [params, query, body].flatMap((shape) =>
      shape instanceof z.ZodObject ? Object.keys(shape.shape) : [],
    );
    const restOnly = facts === false ? [] : (facts.restOnly ?? []);
    const taken = inputs.filter((name) => !restOnly.includes(name));
    expect(names(all.get(id)), id).toEqual(expect.arrayContaining(taken));
  }
});

/** The rows of the manual's table: toolsets, and what the list of each costs at most. */
async function readCosts(): Promise<Map<string, number>> {
  const [, section = ''] = (await readFile('docs/agents.md', 'utf8')).split('| Toolset | Tokens, at most |\n');
  const [table = ''] = section.split('\n\n');
  return new Map(
    [...table.matchAll(/^\| (.+) \| ([\d,]+) \|$/gm)].flatMap(([, names = '', most = '']) => {
      const named = names.startsWith('all ') ? ['all'] : (names.match(/(?<=`)[a-z-]+(?=`)/g) ?? []);
      return named.map((name): [string, number] => [name, Number(most.replace(',', ''))]);
    }),
  );
}

test('The manual says what the list of each toolset costs in tokens, and of all', async () => {
  const costs = await readCosts();
  const { toolsets } = openCatalog(operations);
  expect([...costs.keys()].toSorted()).toEqual([...toolsets, 'all'].toSorted());
  // A connection for each list is more calls than the key of all tests may make.
  const keyInTurn = await keysInTurn(brand, 3);
  for (const [name, most] of costs) {
    const client = await connectAgent(
      app.url,
      keyInTurn(),
      `/mcp?toolsets=${name === 'all' ? toolsets.join(',') : name}`,
    );
    const { tools } = await client.listTools();
    await client.close();
    const tokens = encode(JSON.stringify(tools)).length;
    expect([tokens <= most, tokens >= most / 4], `${name} costs ${tokens}`).toEqual([true, true]);
  }
});

const OF_REST =
  /`X-|\bheader|\bCSV\b|\/v1\/|\b(?:PATCH|POST|DELETE|GET)\b|wrapped|mode=plan|=true|(?<!at most )\b4\d\d\b/;

test('No tool or argument is described in the words of REST, such as headers, paths, methods and statuses', async () => {
  const client = await connectAgent(app.url, key, `/mcp?tools=${forAgents.map(({ id }) => id).join(',')}`);
  const { tools } = await client.listTools();
  const texts = tools.flatMap(({ name, description = '', inputSchema }) => [
    `${name}: ${description.split(' Example:')[0]}`,
    ...Object.entries(inputSchema.properties ?? {}).map(([field, schema]) => {
      const about = typeof schema === 'object' && schema !== null && 'description' in schema ? schema.description : '';
      return `${name}.${field}: ${about}`;
    }),
  ]);
  // An export's files are CSV.
  expect(texts.filter((text) => OF_REST.test(text) && !text.startsWith('create_export.'))).toEqual([]);
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

test('Only tools that change something list mode and take it; a job that is started by a read takes idempotency_key', async () => {
  const client = await connectAgent(app.url, key, `/mcp?tools=${forAgents.map(({ id }) => id).join(',')}`);
  const { tools } = await client.listTools();
  const isPlannable = ({ inputSchema }: (typeof tools)[number]) => 'mode' in (inputSchema.properties ?? {});
  const plannable = tools.filter(isPlannable).map(({ name }) => name);
  const changes = forAgents.filter(({ method, hints }) => method !== 'GET' && !hints.readOnly).map(({ id }) => id);
  expect(plannable.toSorted()).toEqual(changes.toSorted());
  const refused = errorOf(await client.callTool({ name: 'simulate_rules', arguments: { mode: 'plan' } }));
  expect(refused.details).toMatchObject([{ field: 'mode', code: 'unknown' }]);
  const keyed = tools.find(({ name }) => name === 'simulate_rules')?.inputSchema.properties;
  expect(keyed).toHaveProperty('idempotency_key');
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
  expect(own.map(({ name }) => name)).toEqual([
    ...['list_campaigns', 'create_campaign', 'get_campaign', 'update_campaign', 'list_campaign_creators'],
  ]);
  const reading = await namesOf('/mcp?toolsets=campaigns&readonly=1&output=1');
  expect(reading.map(({ name }) => name)).toEqual(['list_campaigns', 'get_campaign', 'list_campaign_creators']);
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

const post = async (message: unknown, headers: Record<string, string> = {}, path = '/mcp') =>
  await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(message),
  });

test.each([
  ['application/json, text/event-stream', 'application/json'],
  ['application/json', 'application/json'],
  ['text/event-stream', 'text/event-stream'],
  ['*/*', 'application/json'],
])('A host that accepts %s is answered as %s', async (accept, type) => {
  for (const version of ['2025-03-26', '2025-06-18', '2025-11-25']) {
    const answer = await post(
      { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
      { accept, 'mcp-protocol-version': version, 'mcp-session-id': 'a-session-of-before' },
      version === '2025-03-26' ? '/mcp/' : '/mcp',
    );
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0]], version).toEqual([200, type]);
    const text = await answer.text();
    const message = type === 'application/json' ? text : /^event: message\ndata: (.*)\n\n$/.exec(text)?.[1];
    expect(JSON.parse(message ?? '')).toMatchObject({ id: 1, result: { tools: expect.any(Array) } });
  }
});

test('A host that accepts neither form of an answer is refused', async () => {
  const answer = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { accept: 'text/html' });
  expect([answer.status, await answer.json()]).toMatchObject([406, { code: 'NOT_ACCEPTABLE' }]);
});

test.each(['2025-03-26', '2025-06-18', '2025-11-25'])(
  'A host that initializes with %s gets that version',
  async (version) => {
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'host', version: '1' } };
    const answer = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params }, { accept: 'application/json' });
    expect(await answer.json()).toMatchObject({ result: { protocolVersion: version } });
  },
);

/** Calls a tool with arguments as a host sent them. */
async function callRaw(name: string, args: unknown) {
  const params = { name, arguments: args };
  const answer = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, { accept: 'application/json' });
  const { result, ...rest } = JSON.parse(await answer.text());
  return { ...rest, ...result, body: result ? JSON.parse(result.content[0].text) : undefined };
}

test('Lists, objects, numbers and whole arguments that a host sends as JSON text are read, and texts stay texts', async () => {
  const made = await callRaw('create_campaign', {
    name: '{"not": "read"}',
    compensation: '{"type": "commission", "amount": "10"}',
  });
  expect(made.body.data).toMatchObject({ title: '{"not": "read"}', compensation_label: '10% commission' });
  const whole = await callRaw('create_campaign', JSON.stringify({ name: 'Whole' }));
  expect(whole.body.data).toMatchObject({ title: 'Whole' });
  const added = await callRaw('add_to_roster', { creator_email: 'texts@example.com' });
  const tagged = await callRaw('update_roster_creator', { id: added.body.data.id, tags: '["vip", "food"]' });
  expect(tagged.body.data).toMatchObject({ tags: ['vip', 'food'] });
});

test('A text that is not JSON where a list or an object belongs is refused with the form that belongs there', async () => {
  const wrong = await callRaw('create_campaign', { name: 'Wrong', compensation: 'ten percent' });
  expect(wrong.body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'compensation' }] });
  expect(wrong.body.error).toContain('must be of the form {');
  expect(wrong.body.error).toContain('got the text "ten percent"');
  const number = await callRaw('create_campaign', {
    name: 'Wrong',
    compensation: { type: 'commission', amount: 'ten' },
  });
  expect(number.body.error).toBe('compensation.amount: must be a number; got the text "ten".');
  const whole = await callRaw('create_campaign', 'name: X');
  expect(whole).toMatchObject({ id: 1, isError: true, body: { details: [{ field: 'arguments' }] } });
});
