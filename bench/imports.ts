import { openAsBlob } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { createBrand, listSubscriptions } from '../src/platform/brands/brands.ts';
import { createKey } from '../src/platform/keys/keys.ts';
import type { EngineUrls } from '../src/process/engine-urls.ts';
import { insertBare, parseBare } from './bare-rows.ts';
import { type Calls, callOthers, countdown, type Latencies, postgresCpu, request, residentMb } from './beside.ts';
import { environmentOf, type Server, startNode, startServer, stopNode } from './children.ts';
import { benchCommand } from './command.ts';
import { cpuSecondsOf, median, percentile } from './load.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { type Add, progress, type Results, round } from './report.ts';

const SAMPLE_EVERY_MS = 500;
const ALONE_MS = 30_000;
/** A key has a limit of calls a minute. */
const KEYS = 30;
const LINES_AT_ONCE = 20_000;
/** A worker that has written this many has loaded and compiled what it needs. */
const WARMING_LINES = 5_000;
const MOST_DELAY = 1.3;
const MOST_WORKER_MB = 150;
const MOST_API_MB = 64;

const { lines: LINES, profile: PROFILE } = benchCommand(
  'bench imports',
  "Reads and records a file of a brand's past orders. Measures time, memory, and the brand's other calls meanwhile.",
)
  .option('--lines <n>', 'lines of the file, of 200 bytes each', Number, 1_000_000)
  .option('--profile <folder>', "where the worker's CPU profile is written")
  .parse()
  .opts<{ lines: number; profile?: string }>();

const HEADER = 'order_id,order_number,placed_at,currency,subtotal,shipping,taxes,total,customer_email,sku,note';
const START = Date.parse('2025-01-01T00:00:00Z');

function makeLine(n: number): string {
  const at = new Date(START + n * 30_000).toISOString();
  const goods = 1_000 + ((n * 37) % 20_000);
  const [shipping, taxes] = [500, Math.round(goods / 10)];
  const money = [goods, shipping, taxes, goods + shipping + taxes].map((minor) => (minor / 100).toFixed(2)).join(',');
  const line = `58408${n},#${n},${at},EUR,${money},customer${n % 400_000}@mail.example,SKU-${n % 900}`;
  return `${line},${'Leave it at the door, please. '.repeat(4)}`.replace(/, please/g, ' please').slice(0, 198);
}

async function writeFile(file: string, lines: number): Promise<void> {
  const handle = await open(file, 'w');
  await handle.write(`${HEADER}\n`);
  for (let from = 0; from < lines; from += LINES_AT_ONCE) {
    const length = Math.min(LINES_AT_ONCE, lines - from);
    await handle.write(`${Array.from({ length }, (_, i) => makeLine(from + i)).join('\n')}\n`);
  }
  await handle.close();
}

/** Calls that the brand's people and stores make meanwhile. */
const CALLS: Calls = {
  brand: () => ({ path: '/v1/brand' }),
  orders: () => ({ path: '/v1/orders?limit=20' }),
  roster: () => ({ path: '/v1/roster?limit=20' }),
  order: (turn) => {
    const at = new Date().toISOString();
    const order = { order_id: `N-${turn}`, currency: 'EUR', amount: 50, placed_at: at, paid_at: at };
    return { path: '/v1/orders', body: { source: 'till', ...order } };
  },
};

const Import = z.object({
  data: z.object({
    id: z.string(),
    status: z.string(),
    reading_id: z.string().nullable(),
    counts: z.unknown(),
    result: z.unknown(),
  }),
});

type State = z.infer<typeof Import>['data'];

interface Measured {
  seconds: number;
  workerMb: number;
  apiMb: number;
  workerCpu: number;
  postgresCpu: number;
  latencies: Latencies;
  state: State;
}

interface Bench {
  context: Context;
  api: Server;
  workerPid: number;
  nextKey: () => string;
}

/** Measures everything until an import that a call began is at rest. */
async function measureUntil(
  { context, api, workerPid, nextKey }: Bench,
  begin: () => Promise<string>,
): Promise<Measured> {
  const [workerCpu, ownCpu] = [cpuSecondsOf(workerPid), await postgresCpu(context)];
  const from = performance.now();
  let [workerMb, apiMb, isOver] = [0, 0, false];
  const sampling = setInterval(() => {
    workerMb = Math.max(workerMb, residentMb(workerPid));
    apiMb = Math.max(apiMb, residentMb(api.pid));
  }, SAMPLE_EVERY_MS);
  const id = await begin();
  progress(`  answered after ${Math.round(performance.now() - from)} ms`);
  const calling = callOthers(api, nextKey, CALLS, () => isOver);
  for (;;) {
    await pause(SAMPLE_EVERY_MS);
    const { data } = Import.parse(JSON.parse((await request(api, nextKey(), `/v1/imports/${id}`)).text));
    if (['reading', 'running'].includes(data.status)) continue;
    const seconds = (performance.now() - from) / 1_000;
    isOver = true;
    clearInterval(sampling);
    const cpu = { workerCpu: cpuSecondsOf(workerPid) - workerCpu, postgresCpu: (await postgresCpu(context)) - ownCpu };
    return { seconds, workerMb, apiMb, ...cpu, latencies: await calling, state: data };
  }
}

async function send({ api, nextKey }: Bench, file: string, source: string): Promise<string> {
  const form = new FormData();
  form.append('source', source);
  form.append('of', 'orders');
  form.append('file', await openAsBlob(file), 'orders.csv');
  const headers = { authorization: `Bearer ${nextKey()}` };
  const answer = await fetch(`${api.url}/v1/imports`, { method: 'POST', headers, body: form });
  return Import.parse(await answer.json()).data.id;
}

async function confirm({ api, nextKey }: Bench, { id, status, reading_id }: State): Promise<string> {
  if (status !== 'ready') throw new Error(`The import is ${status}.`);
  await request(api, nextKey(), `/v1/imports/${id}/confirm`, { reading_id });
  return id;
}

/** How much longer the brand's other calls take than alone. */
function showDelays(add: Add, name: string, latencies: Latencies, alone: Latencies): void {
  for (const [kind, some] of Object.entries(latencies)) {
    const [before = 0, beside = 0] = [alone[kind] ?? [], some].map((values) => percentile(values, 95));
    add({
      ...{ name: `${name}_${kind}_p95_to_alone`, floor: MOST_DELAY, value: beside / before },
      ...{ bound: 'at most', warm: "PostgreSQL's buffers" },
      measured: `p50 ${round(median(alone[kind] ?? []))} → ${round(median(some))}, p95 ${round(before)} → ${round(beside)}, most ${round(Math.max(...some))} ms`,
    });
  }
}

async function measure(results: Results, context: Context, urls: EngineUrls): Promise<void> {
  await migratePostgres(context.postgres.db);
  await migrateClickHouse(context.clickhouse);
  const { postgres, clock } = context;
  const brandId = await createBrand(postgres.db, clock, { name: 'imports', plan: 'enterprise', status: 'active' });
  const subscriptionId = (await listSubscriptions(postgres.db, brandId)).find(({ kind }) => kind === 'brand')?.id ?? '';
  const wish = { brandId, subscriptionId, kind: 'brand', name: 'bench' } as const;
  const making = Array.from({ length: KEYS }, async () => (await createKey(postgres.db, clock, wish)).key);
  const keys = await Promise.all(making);
  let turn = 0;
  const nextKey = () => {
    turn += 1;
    return keys[turn % KEYS] ?? '';
  };
  const folder = await mkdtemp(path.join(tmpdir(), 'rollcall-imports-'));
  const file = path.join(folder, 'orders.csv');
  await writeFile(file, WARMING_LINES);
  const env = environmentOf(context.config, urls);
  const api = await startServer(() => ['src/server.ts'], env);
  const profiling = PROFILE === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${PROFILE}`];
  const worker = startNode([...profiling, 'src/worker.ts'], env);
  worker.stdout?.resume();
  worker.stderr?.pipe(process.stderr);
  const bench = { context, api, workerPid: worker.pid ?? 0, nextKey };
  try {
    progress('A first file');
    const first = await measureUntil(bench, () => send(bench, file, 'first'));
    await measureUntil(bench, () => confirm(bench, first.state));
    await writeFile(file, LINES);
    progress('Calls without an import');
    await callOthers(api, nextKey, CALLS, countdown(5_000));
    const alone = await callOthers(api, nextKey, CALLS, countdown(ALONE_MS));
    const [workerBefore, apiBefore] = [residentMb(bench.workerPid), residentMb(api.pid)];
    const show = (name: string, floor: number, add: Add, one: Measured) => {
      progress(`  ${JSON.stringify(one.state.counts)} ${JSON.stringify(one.state.result)}`);
      const shared = { bound: 'at most', warm: "PostgreSQL's buffers" } as const;
      const { seconds, workerMb, apiMb, latencies } = one;
      const cpu = `CPU: worker ${round(one.workerCpu)} s, PostgreSQL ${round(one.postgresCpu)} s`;
      add({ ...shared, name: `${name}_seconds`, value: seconds, floor, measured: cpu });
      const memory = `${round(workerMb)}; before ${round(workerBefore)}`;
      add({
        ...shared,
        name: `${name}_more_worker_mb`,
        value: workerMb - workerBefore,
        floor: MOST_WORKER_MB,
        measured: memory,
      });
      add({
        ...{ ...shared, name: `${name}_more_api_mb`, value: apiMb - apiBefore, floor: MOST_API_MB },
        measured: `${round(apiMb)}; before ${round(apiBefore)}`,
      });
      showDelays(add, name, latencies, alone);
    };
    progress(`A file of ${LINES.toLocaleString('en')} lines`);
    let state: State | undefined;
    await results.part('reading', async (add) => {
      const read = await measureUntil(bench, () => send(bench, file, 'second'));
      show('reading', (60 * LINES) / 1_000_000, add, read);
      state = read.state;
    });
    const read = state;
    if (read === undefined) return;
    await results.part('writing', async (add) => {
      const written = await measureUntil(bench, () => confirm(bench, read));
      show('writing', (600 * LINES) / 1_000_000, add, written);
    });
    await results.part('bare', async (add) => {
      const shared = { floor: null, bound: 'at most', warm: "PostgreSQL's buffers" } as const;
      add({ ...shared, name: 'bare_parse_seconds', value: await parseBare(file), measured: 'csv-parse alone' });
      let isOver = false;
      const calling = callOthers(api, nextKey, CALLS, () => isOver);
      const before = await postgresCpu(context);
      const value = await insertBare(context, brandId);
      const measured = `CPU: PostgreSQL ${round((await postgresCpu(context)) - before)} s`;
      isOver = true;
      add({ ...shared, name: 'bare_insert_seconds', value, measured });
      showDelays(add, 'bare_insert', await calling, alone);
    });
  } finally {
    await stopNode(worker);
    await api.stop();
    await rm(folder, { recursive: true });
  }
}

measureOnOwnEngines(measure, { only: ['postgres', 'redis', 'clickhouse'] });
