import { createKey } from '../src/platform/keys/keys.ts';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { createBrand, listSubscriptions } from '../src/platform/brands/brands.ts';
import { buildApps } from '../src/process/apps.ts';
import { benchCommand } from './command.ts';
import { alternate, latencyMs, median, openTarget, type Shot } from './load.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { type Ratio, type Results, round } from './report.ts';

const CAMPAIGNS = 100;
const ROUNDS = 300;
/** Calls of one key before the next one takes over; a key may make a hundred a minute. */
const PER_KEY = 40;
const AT_MOST = 1.3;

benchCommand('bench:mcp', 'Measures tools/call against the same REST call, in turn.').parse();

const toolCall = (name: string, args: object): Shot => ({
  method: 'POST',
  path: '/mcp',
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
});

const CALLS: readonly { name: string; rest: Shot; tool: Shot }[] = [
  { name: 'get_brand', rest: { method: 'GET', path: '/v1/brand' }, tool: toolCall('get_brand', {}) },
  {
    name: 'list_campaigns',
    rest: { method: 'GET', path: '/v1/campaigns?limit=20' },
    tool: toolCall('list_campaigns', { limit: 20 }),
  },
];

async function measureCall(url: string, keys: readonly string[], { name, rest, tool }: (typeof CALLS)[number]) {
  let calls = 0;
  const headers = () => ({
    authorization: `Bearer ${keys[Math.floor(calls++ / PER_KEY) % keys.length]}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  });
  const target = openTarget(url, headers);
  const [byRest, byTool] = await alternate(ROUNDS, [() => latencyMs(target, rest), () => latencyMs(target, tool)]);
  const ratio: Ratio = {
    name: `mcp_beside_rest_${name}`,
    value: median(byTool ?? []) / median(byRest ?? []),
    floor: AT_MOST,
    bound: 'at most',
    measured: `REST ${round(median(byRest ?? []))} ms, tools/call ${round(median(byTool ?? []))} ms`,
    warm: "PostgreSQL's buffers",
  };
  return ratio;
}

async function measure(results: Results, context: Context): Promise<void> {
  const { db } = context.postgres;
  await migratePostgres(db);
  await migrateClickHouse(context.clickhouse);
  const brandId = await createBrand(db, context.clock, {
    name: `mcp ${Date.now()}`,
    plan: 'enterprise',
    status: 'active',
  });
  const subscriptionId = (await listSubscriptions(db, brandId)).find(({ kind }) => kind === 'brand')?.id ?? '';
  const request = { brandId, subscriptionId, kind: 'brand', name: 'bench' } as const;
  const keys: string[] = [];
  while (keys.length < 60) keys.push((await createKey(db, context.clock, request)).key);
  const apps = await buildApps(context);
  const url = await apps.api.listen({ host: '127.0.0.1', port: 0 });
  for (let i = 0; i < CAMPAIGNS; i += 1) {
    const headers = { authorization: `Bearer ${keys[i % keys.length]}`, 'content-type': 'application/json' };
    await fetch(`${url}/v1/campaigns`, { method: 'POST', headers, body: JSON.stringify({ name: `Campaign ${i}` }) });
  }
  for (const call of CALLS) await results.part(call.name, async (add) => add(await measureCall(url, keys, call)));
  await apps.close();
}

measureOnOwnEngines(measure, { only: ['postgres', 'redis', 'clickhouse'], mayBeGiven: true });
