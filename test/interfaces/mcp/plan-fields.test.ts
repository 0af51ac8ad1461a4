import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openCatalog } from '../../../src/interfaces/mcp/catalog.ts';
import { nouns, operations } from '../../../src/interfaces/nouns.ts';
import { connectAgent } from '../../harness/interfaces/agent.ts';
import { type DemoBrand, openDemoBrand, withIds } from '../../harness/local/demo-brand.ts';
import { signIn } from '../../harness/platform/session.ts';

/** A key has 100 calls a minute, and there are more tools. */
const AT_ONCE = 60;
const ALL = `/mcp?toolsets=${openCatalog(operations).toolsets.join(',')}`;

type Json = Record<string, unknown>;

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The document, whose shapes a plan's fields are compared with. */
const document: Json = JSON.parse(await readFile('test/check/openapi.json', 'utf8'));

/** Collects the fields of a schema, as the API's errors name them: `compensation.amount`. */
function collectFields(schema: unknown, path: string, into: Set<string>, seen: readonly string[] = []): void {
  if (!isJson(schema)) return;
  const ref = schema.$ref;
  if (typeof ref === 'string') {
    if (seen.includes(ref)) return;
    const [, , , name = ''] = ref.split('/');
    const { components } = document;
    const schemas = isJson(components) && isJson(components.schemas) ? components.schemas : {};
    collectFields(schemas[name], path, into, [...seen, ref]);
    return;
  }
  for (const parts of [schema.anyOf, schema.allOf, schema.oneOf]) {
    if (Array.isArray(parts)) for (const part of parts) collectFields(part, path, into, seen);
  }
  // The items of a list are named without their positions.
  if (isJson(schema.items)) collectFields(schema.items, path, into, seen);
  for (const [name, field] of Object.entries(isJson(schema.properties) ? schema.properties : {})) {
    const isWrapper = path === '' && ['data', 'settings', 'rules'].includes(name);
    const own = isWrapper ? '' : `${path}${name}`;
    if (own !== '') into.add(own);
    collectFields(field, own === '' ? '' : `${own}.`, into, seen);
  }
}

const fieldsByTag = new Map<string, Set<string>>();
/** Operations with `mode`. */
const planable = new Set<unknown>();
for (const item of Object.values(isJson(document.paths) ? document.paths : {})) {
  for (const operation of Object.values(isJson(item) ? item : {})) {
    if (!isJson(operation) || !Array.isArray(operation.tags)) continue;
    const [tag] = operation.tags;
    const fields = fieldsByTag.get(tag) ?? new Set();
    fieldsByTag.set(tag, fields);
    const { requestBody, responses, parameters } = operation;
    if (JSON.stringify(parameters ?? []).includes('parameters/Mode')) planable.add(operation.operationId);
    const answers = Object.entries(isJson(responses) ? responses : {}).filter(([status]) => status.startsWith('2'));
    for (const part of [requestBody, ...answers.map(([, answer]) => answer)]) {
      const content = isJson(part) && isJson(part.content) ? part.content['application/json'] : undefined;
      if (isJson(content)) collectFields(content.schema, '', fields);
    }
  }
}
/** The tags whose shapes show a row, by the prefix of its id: those of its noun, and a creator's are the roster's. */
const tagsByPrefix = new Map(
  nouns.flatMap(({ ids = {}, operations: own = [] }) =>
    Object.values(ids).map((prefix): [string, Set<string>] => [prefix, new Set(own.map(({ tag }) => tag))]),
  ),
);
tagsByPrefix.set('crt', new Set(['Roster']));
tagsByPrefix.set('cnv', new Set(['Messages']));
/** Says who is paid or written to; the API has it wherever a creator has no address to name. */
const ANYWHERE = ['creator_id'];

/** What the demo brand has nothing for. */
const WITHOUT = [
  'remove_sample',
  'delete_past_commission',
  'delete_import_mapping',
  'delete_export_schedule',
  'create_customers',
  'cancel_job',
  'report_refund',
];

let demo: DemoBrand;
beforeAll(async () => {
  demo = await openDemoBrand();
});
afterAll(() => demo?.close());

/** Rows of the kinds that are no part of the demo brand, by the ids that stand for them in examples. */
async function addRows({ desk, ids }: DemoBrand): Promise<Record<string, object>> {
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await desk.post(path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.data.id;
  };
  const first = async (path: string): Promise<Record<string, string>> => (await desk.read(path))[0];
  const [{ email }] = (await (await signIn(demo.app, desk.brand.id)).get('/v1/people')).body.data;
  const group = await made('/v1/groups', { name: 'Testers' });
  const member = await desk.post(`/v1/groups/${group}/creators`, { creator_emails: ['ana@example.com'] });
  if (member.status >= 300) throw new Error(JSON.stringify(member.body));
  const link = await first('/v1/affiliates/links?type=discount_code');
  const customer = { customer_email: 'jane@example.com', code: link.value };
  const page = await desk.post('/api/brand/shipments/share', { title: 'Parcels' });
  Object.assign(ids, {
    'grp_…': [group],
    'delete_group grp_…': [await made('/v1/groups', { name: 'Nobody' })],
    'cst_…': [await made('/v1/costs', { kind: 'per_order', amount: 1, from: '2026-01-01' })],
    'rep_…': [await made('/v1/reports', { operation: 'breakdown', every: 'week', to: [email] })],
    'alr_…': [await made('/v1/alerts', { metric: 'orders', condition: 'below', threshold: 1, to: [email] })],
    'ord_…': [(await first('/v1/orders')).id],
    'cus_…': [await made('/v1/customers', { ...customer, customer_email: 'joe@example.com' })],
    'return_payout pay_…': [(await first('/v1/payouts?settled=true')).id],
    'claw_back_commission com_…': [(await first('/v1/commissions?status=paid')).id],
  });
  return {
    create_group: { name: 'Ambassadors of another kind' },
    update_group: { name: 'Others' },
    create_customer: customer,
    create_report: { to: [email] },
    create_alert: { threshold: 1, to: [email] },
    revoke_shipment_share: { shareId: page.body.shareId },
  };
}

interface PlannedChange {
  resource_id: string;
  old: object | null;
  new: object | null;
}

function listUnknown(tag: string, { resource_id: id, old, new: now }: PlannedChange): string[] {
  const tags = [tag, ...(tagsByPrefix.get(id.slice(0, 3)) ?? [])];
  const isKnown = (name: string) => ANYWHERE.includes(name) || tags.some((one) => fieldsByTag.get(one)?.has(name));
  return Object.keys({ ...old, ...now }).filter((name) => !isKnown(name));
}

test('A plan of every operation that can be planned shows fields of the API alone, by the names of its shapes', async () => {
  const { app, desk } = demo;
  await desk.send('PATCH', '/v1/agent-policy', { money_out: true, data_out: true });
  const more = await addRows(demo);
  const planned = operations.filter(
    ({ id, forAgents }) => planable.has(id) && forAgents !== false && !WITHOUT.includes(id),
  );
  const unknown: Record<string, unknown> = {};
  for (let start = 0; start < planned.length; start += AT_ONCE) {
    const client = await connectAgent(app.url, await desk.brand.key('brand'), ALL);
    const { tools } = await client.listTools();
    for (const { id, tag } of planned.slice(start, start + AT_ONCE)) {
      const { description = '' } = tools.find(({ name }) => name === id) ?? {};
      const args = { ...withIds(demo, id, description.split('Example: ')[1] ?? '{}'), ...more[id], mode: 'plan' };
      const { isError, content, structuredContent } = await client.callTool({ name: id, arguments: args });
      const { data } = JSON.parse(JSON.stringify(structuredContent ?? {}));
      const names = isError ? [content] : data.changes.flatMap((change: PlannedChange) => listUnknown(tag, change));
      if (names.length > 0) unknown[id] = names;
    }
    await client.close();
  }
  expect(unknown).toEqual({});
});
