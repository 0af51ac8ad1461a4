import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { retrying } from '../clients/typescript/src/retries.ts';
import { importDirectory } from '../src/directory/imports/indexing/import.ts';
import { sampleSource } from '../src/directory/imports/indexing/sample.ts';
import { toDirectoryEngines } from '../src/directory/imports/indexing/writer.ts';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { createBrand, listSubscriptions } from '../src/platform/brands/brands.ts';
import { createKey } from '../src/platform/keys/keys.ts';
import type { EngineUrls } from '../src/process/engine-urls.ts';
import { environmentOf, type Server, startNode, startServer } from './children.ts';
import { slugOf } from './click-links.ts';
import { benchCommand } from './command.ts';
import { makeDataKeys } from './keys.ts';
import { cpuSecondsOf, openTarget, percentile, type Shot, type Target, volley } from './load.ts';
import { makeLinks } from './make-links.ts';
import { deliveryOf, makeShop } from './make-stores.ts';
import { type Flood, Flooded, searchPath } from './open-loop.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { type Add, progress, type Ratio, type Results, round } from './report.ts';

const options = benchCommand(
  'bench overload',
  'Measures searches that arrive at twice and at five times the rate that one API process can answer, and other calls beside ' +
    'them. The load shares the machine. Exits with 1 if a bound is missed.',
)
  .option('--quick', '15 s of each rate instead of 60')
  .parse()
  .opts<{ quick?: true }>();

const CREATORS = 20_000;
/** Few enough that each is known after the first seconds, and so many that their rate refuses none. */
const KEYS_PER_BRAND = 12;
const CAPACITY_MS = 10_000;
const MOST_TURNS = 8;
/** A turn that is less faster than the one before says that the process is warm. */
const GROWS = 1.05;
const IDLE_MS = 8_000;
const FLOOD_MS = options.quick ? 15_000 : 60_000;
/** After this, everything must be as it was before. */
const RECOVERED_MS = 5_000;
const PROBE_PAUSE_MS = 25;
/** So many that a key's rate refuses none of the probes. */
const PROBE_KEYS = 60;
const LINKS = 20;
const CLIENTS = 200;
const MOST_LATE_MS = 50;
const KIB_PER_MB = 1_024;

/** Calls besides searches, and a search of a brand that sends few. */
type Probe = 'brand' | 'order' | 'redirect' | 'health' | 'search';
type Probes = Record<Probe, () => Promise<number>>;
type Latencies = Record<Probe, number[]>;

interface Bench {
  server: Server;
  keys: string[];
  probes: Probes;
}

/** Prepares what the probes call; returns the probes of a server. */
async function openProbes(context: Context): Promise<(server: Server) => Probes> {
  const { postgres, clock } = context;
  const brandId = await createBrand(postgres.db, clock, {
    ...{ name: `overload ${process.pid}`, plan: 'enterprise', status: 'active' },
  });
  const subscriptionId = (await listSubscriptions(postgres.db, brandId)).find(({ kind }) => kind === 'brand')?.id ?? '';
  const keys: string[] = [];
  const request = { brandId, subscriptionId, kind: 'brand', name: 'bench' } as const;
  while (keys.length < PROBE_KEYS) keys.push((await createKey(postgres.db, clock, request)).key);
  await makeLinks(context, LINKS);
  const shop = await makeShop(context, 'bench overload');
  let turn = 0;
  return (server) => {
    const pool = new Pool(server.url, { connections: 16 });
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
      await body.dump();
      return statusCode;
    };
    const asBrand = () => ({ authorization: `Bearer ${keys[turn % keys.length]}` });
    const next = () => {
      turn += 1;
      return turn;
    };
    return {
      brand: async () => await get('/v1/brand', { ...asBrand(), 'x-turn': String(next()) }),
      order: async () => {
        const { path, headers, body: sent } = deliveryOf(context, shop, next());
        const { statusCode, body } = await pool.request({ method: 'POST', path, headers, body: sent });
        await body.dump();
        return statusCode;
      },
      redirect: async () => await get(`/r/${slugOf(next() % LINKS)}`, { 'user-agent': 'Mozilla/5.0' }),
      health: async () => await get('/healthz'),
      search: async () => await get(`/v1/creators/search?limit=20&follower_max=${1e9 + next()}`, asBrand()),
    };
  };
}

const EXPECTED: Record<Probe, number> = { brand: 200, order: 200, redirect: 302, health: 200, search: 200 };

/** Probes one call of each kind at a time until the work is done. Only a search may be refused. */
async function probeDuring(probes: Probes, work: Promise<unknown>): Promise<Latencies> {
  const latencies: Latencies = { brand: [], order: [], redirect: [], health: [], search: [] };
  let isOver = false;
  const probe = async (kind: Probe) => {
    while (!isOver) {
      const from = performance.now();
      const status = await probes[kind]();
      if (status === EXPECTED[kind]) latencies[kind].push(performance.now() - from);
      else if (kind !== 'search') throw new Error(`${kind} was answered ${status}.`);
      await pause(PROBE_PAUSE_MS);
    }
  };
  const probing = (['brand', 'order', 'redirect', 'health', 'search'] as const).map(probe);
  await Promise.race([work, Promise.all(probing)]);
  isOver = true;
  await Promise.all(probing);
  return latencies;
}

/** The most memory that a process had so far, in MB. */
function mostMemory(pid: number): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / KIB_PER_MB;
}

let floods = 0;
/** Numbers of searches that nobody has made: more than arrive in any flood. */
function nextNumbers(): number {
  floods += 1;
  return floods * 10_000_000;
}

/** More searches than are answered in a flood, each of a flood's kind. */
function makeShots(): Shot[] {
  const first = nextNumbers();
  return Array.from({ length: 200_000 }, (_, i) => ({ method: 'GET', path: searchPath(first + i) }));
}

/** Searches a second of a warm process: the engine and the process become faster for a while. */
async function findCapacity(target: Target): Promise<number> {
  let capacity = 0;
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const { perSecond, refusals } = await volley(target, makeShots(), CAPACITY_MS);
    if (sum(refusals) > 0) throw new Error(`Searches within capacity were refused: ${JSON.stringify(refusals)}`);
    progress(`${round(perSecond)} searches/s`);
    if (perSecond < capacity * GROWS) return Math.max(capacity, perSecond);
    capacity = perSecond;
  }
  return capacity;
}

async function flood(env: Record<string, string>, request: Omit<Flood, 'first'>) {
  const child = startNode(['bench/open-loop.ts'], env, 'pipe');
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  child.stderr?.pipe(process.stderr);
  child.stdin?.end(JSON.stringify({ ...request, first: nextNumbers() }));
  await once(child, 'close');
  return Flooded.parse(JSON.parse(said));
}

const p95 = (values: readonly number[]) => percentile(values, 95);
const p99 = (values: readonly number[]) => percentile(values, 99);
const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, count) => all + count, 0);

const atMost = (name: string, value: number, floor: number, measured: string): Ratio => ({
  ...{ name, value, floor, measured, bound: 'at most', warm: '-' },
});

async function measureFlood(
  { server, keys, probes }: Bench,
  env: Record<string, string>,
  { times, capacity, idle }: { times: number; capacity: number; idle: Latencies },
  add: Add,
): Promise<void> {
  progress(`Searches at ${times} times the capacity`);
  const before = mostMemory(server.pid);
  const flooding = flood(env, { url: server.url, perSecond: capacity * times, forMs: FLOOD_MS, keys });
  const beside = await probeDuring(probes, flooding);
  const { sent, answeredMs, refusedMs, others, lateMs, perSecond } = await flooding;
  if (p95(lateMs) > MOST_LATE_MS) {
    throw new Error(`The machine is too busy to measure: the load itself was ${round(p95(lateMs))} ms late.`);
  }
  const memory = mostMemory(server.pid) - before;
  await pause(RECOVERED_MS);
  const after = await probeDuring(probes, pause(IDLE_MS));
  const name = (what: string) => `${what}_at_${times}_times`;
  const ratio = (kind: Probe, during: Latencies) => p95(during[kind]) / p95(idle[kind]);
  const both = (kind: Probe, during: Latencies) =>
    `p95 ${round(p95(during[kind]))} ms, idle ${round(p95(idle[kind]))}; p99 ${round(p99(during[kind]))}`;
  add(
    {
      ...{ name: name('goodput_to_capacity'), value: perSecond / capacity, floor: 0.9, bound: 'at least', warm: '-' },
      measured: `${round(perSecond)}/s of ${round(capacity)}/s; ${sent} sent, ${refusedMs.length} refused, ${sum(others)} neither`,
    },
    atMost(name('answered_p95_ms'), p95(answeredMs), 1_000, `p50 ${round(percentile(answeredMs, 50))} ms`),
    atMost(name('refused_p95_ms'), p95(refusedMs), 50, `p50 ${round(percentile(refusedMs, 50))} ms`),
    atMost(name('brand_p95_to_idle'), ratio('brand', beside), 3, both('brand', beside)),
    atMost(name('order_p95_to_idle'), ratio('order', beside), 3, both('order', beside)),
    atMost(name('order_p99_ms'), p99(beside.order), 100, both('order', beside)),
    atMost(name('redirect_p99_ms'), p99(beside.redirect), 100, both('redirect', beside)),
    atMost(name('health_p95_ms'), p95(beside.health), 100, both('health', beside)),
    atMost(name('memory_mb'), memory, 150, 'more than before'),
    atMost(name('quiet_brand_search_p95_ms'), p95(beside.search), 1_000, both('search', beside)),
    atMost(name('recovered_search_p95_to_idle'), ratio('search', after), 1.3, both('search', after)),
  );
}

/**
 * The bound of the goodput on this machine: as many searches as can be answered while a bare server refuses as many calls as arrive
 * beyond the capacity, and the load makes them.
 */
async function measureBound(
  env: Record<string, string>,
  { times, capacity, target }: { times: number; capacity: number; target: Target },
  add: Add,
): Promise<void> {
  progress(`A bare server refuses what arrives beyond the capacity, at ${times} times`);
  const bare = await startServer((port) => ['bench/bare-refusals.ts', String(port)], env);
  try {
    const before = cpuSecondsOf(bare.pid);
    const flooding = flood(env, { url: bare.url, perSecond: capacity * (times - 1), forMs: FLOOD_MS, keys: ['none'] });
    const { perSecond } = await volley(target, makeShots(), FLOOD_MS);
    const { refusedMs } = await flooding;
    const micros = ((cpuSecondsOf(bare.pid) - before) * 1e6) / refusedMs.length;
    add({
      ...{
        name: `bound_of_goodput_at_${times}_times`,
        value: perSecond / capacity,
        floor: null,
        bound: 'at least',
        warm: '-',
      },
      measured: `${round(perSecond)}/s, ${refusedMs.length} refused, p95 ${round(p95(refusedMs))} ms, ${round(micros)} µs of CPU each`,
    });
  } finally {
    await bare.stop();
  }
}

/** The same probes of another process, beside which the first one is flooded. */
async function measureApart(
  { server, keys, probeOn }: Bench & { probeOn: (server: Server) => Probes },
  env: Record<string, string>,
  capacity: number,
  add: Add,
): Promise<void> {
  progress('Another process, beside searches at twice the capacity');
  const apart = await startServer(() => ['bench/altered-api.ts', 'unchanged'], env);
  try {
    const probes = probeOn(apart);
    await probeDuring(probes, pause(IDLE_MS));
    const flooding = flood(env, { url: server.url, perSecond: capacity * 2, forMs: FLOOD_MS, keys });
    const { order, redirect } = await probeDuring(probes, flooding);
    add(
      atMost('order_p99_ms_of_another_process', p99(order), 100, `p95 ${round(p95(order))} ms`),
      atMost('redirect_p99_ms_of_another_process', p99(redirect), 100, `p95 ${round(p95(redirect))} ms`),
    );
  } finally {
    await apart.stop();
  }
}

/** Calls of our own clients at twice the capacity: how often each is sent. */
async function measureClients({ server, keys }: Bench, capacity: number, add: Add): Promise<void> {
  progress(`${CLIENTS} clients of ours at twice the capacity`);
  const pool = new Pool(server.url, { connections: 512 });
  let attempts = 0;
  let calls = 0;
  let answered = 0;
  const send = async ({ url, headers }: Request): Promise<Response> => {
    attempts += 1;
    const { pathname, search } = new URL(url);
    const answer = await pool.request({ method: 'GET', path: pathname + search, headers });
    const retryAfter = answer.headers['retry-after'];
    await answer.body.dump();
    return new Response(null, {
      status: answer.statusCode,
      headers: typeof retryAfter === 'string' ? { 'retry-after': retryAfter } : {},
    });
  };
  const everyMs = (CLIENTS * 1_000) / (capacity * 2);
  const forMs = FLOOD_MS / 2;
  const client = async (number: number) => {
    const call = retrying(send, 3);
    const calling: Promise<void>[] = [];
    const from = performance.now() + Math.random() * everyMs;
    for (let n = 0; n * everyMs < forMs; n += 1) {
      await pause(Math.max(0, from + n * everyMs - performance.now()));
      calls += 1;
      const request = new Request(
        `${server.url}/v1/creators/search?limit=20&follower_min=${9e8 + number * 100_000 + n}`,
        {
          headers: { authorization: `Bearer ${keys[(number + n * CLIENTS) % keys.length]}` },
        },
      );
      const sending = call(request).then(({ status }) => {
        if (status === 200) answered += 1;
      });
      calling.push(sending);
    }
    await Promise.all(calling);
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  const seconds = (performance.now() - from) / 1_000;
  await pool.close();
  const measured = `${calls} calls, ${answered} answered in ${round(seconds)} s`;
  // Ten retries that each client has at once, and a tenth of its calls.
  const most = 1.1 + (10 * CLIENTS) / calls;
  add(atMost('attempts_a_call_of_our_clients', attempts / calls, most, measured));
}

async function measure(results: Results, context: Context, urls: EngineUrls): Promise<void> {
  const { config, postgres, clickhouse } = context;
  await migratePostgres(postgres.db);
  await migrateClickHouse(clickhouse);
  progress(`Importing ${CREATORS.toLocaleString('en')} creators, making keys`);
  await importDirectory(toDirectoryEngines(context), { source: sampleSource(CREATORS, 1), bounds: { mode: 'force' } });
  const keys = await makeDataKeys(context, KEYS_PER_BRAND);
  const env = { ...environmentOf(config, urls), DIRECTORY_ALIAS: config.directoryAlias };
  const server = await startServer(() => ['bench/altered-api.ts', 'unchanged'], env);
  const probeOn = await openProbes(context);
  const bench = { server, keys, probes: probeOn(server) };
  try {
    let turn = 0;
    const target = openTarget(server.url, () => {
      turn += 1;
      return { authorization: `Bearer ${keys[turn % keys.length]}` };
    });
    progress('Finding the capacity');
    const capacity = await findCapacity(target);
    await probeDuring(bench.probes, pause(IDLE_MS));
    const idle = await probeDuring(bench.probes, pause(IDLE_MS));
    for (const times of [2, 5]) {
      await results.part(`${times}_times`, (add) => measureFlood(bench, env, { times, capacity, idle }, add));
    }
    for (const times of [2, 5]) {
      const bound = { times, capacity, target };
      await results.part(`bound_${times}_times`, (add) => measureBound(env, bound, add));
    }
    await target.pool.close();
    await results.part('apart', (add) => measureApart({ ...bench, probeOn }, env, capacity, add));
    await results.part('clients', (add) => measureClients(bench, capacity, add));
  } finally {
    await server.stop();
  }
}

measureOnOwnEngines(measure, { mayBeGiven: true });
