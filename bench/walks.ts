import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { importDirectory } from '../src/directory/imports/indexing/import.ts';
import { sampleSource } from '../src/directory/imports/indexing/sample.ts';
import { toDirectoryEngines } from '../src/directory/imports/indexing/writer.ts';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { createBrand, listSubscriptions } from '../src/platform/brands/brands.ts';
import { createKey } from '../src/platform/keys/keys.ts';
import type { EngineUrls } from '../src/process/engine-urls.ts';
import { environmentOf, startServer } from './children.ts';
import { benchCommand } from './command.ts';
import { makeDataKeys, takeTurns } from './keys.ts';
import { alternate, latencyMs, median, medianRatio, openTarget, percentile } from './load.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { progress, type Results, round } from './report.ts';

const CREATORS = 210_000;
const ROUNDS = 6;
const ROUND_MS = 6_000;
/** Searches that are sent at a time, each after a pause, so that the machine is not full without walks. */
const SEARCHERS = 4;
const PAUSE_MS = 40;
const RETRY_MS = 100;
const SAMPLE_EVERY_MS = 1_000;
const BARE_BLOCK = 1_000;
/** Far fewer searches a second than other benches send. */
const KEYS_PER_BRAND = 20;

benchCommand(
  'bench walks',
  `Measures searches beside two walks against searches alone, and the time and memory of a walk of ${CREATORS.toLocaleString('en')} creators.`,
).parse();

async function makeWalkKey({ postgres, clock }: Context): Promise<string> {
  const brandId = await createBrand(postgres.db, clock, {
    ...{ name: `walks ${process.pid}`, plan: 'enterprise', status: 'active' },
  });
  const subscriptionId = (await listSubscriptions(postgres.db, brandId)).find(({ kind }) => kind === 'brand')?.id ?? '';
  return (await createKey(postgres.db, clock, { brandId, subscriptionId, kind: 'brand', name: 'bench' })).key;
}

/** Walks the whole directory, and returns how many lines came before the end or the signal. */
async function walk(url: string, key: string, sort: string, signal?: AbortSignal): Promise<number> {
  let lines = 0;
  try {
    const answer = await fetch(`${url}/v1/creators/search?walk=true&sort=${sort}`, {
      headers: { authorization: `Bearer ${key}` },
      ...(signal ? { signal } : {}),
    });
    if (answer.status === 429) {
      // An aborted walk leaves its slot after its last read.
      await answer.body?.cancel();
      await pause(RETRY_MS, undefined, signal ? { signal } : {});
      return await walk(url, key, sort, signal);
    }
    if (!answer.ok || !answer.body) throw new Error(`A walk was answered ${answer.status}.`);
    for await (const chunk of answer.body) for (const byte of chunk) if (byte === 10) lines += 1;
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
  return lines;
}

const Page = z.object({ hits: z.object({ hits: z.array(z.object({ sort: z.array(z.unknown()) })) }) });

/** Seconds in which Elasticsearch alone gives all cards, in the order that costs least: what a walk could reach at best. */
async function readBare({ elastic, config }: Context): Promise<number> {
  const { id } = await elastic.client.openPointInTime({ index: config.directoryAlias, keep_alive: '5m' });
  const from = performance.now();
  for (let after: unknown[] | undefined; ; ) {
    const body = {
      ...{ size: BARE_BLOCK, track_total_hits: false, _source: ['card'], sort: ['_shard_doc'] },
      ...{ pit: { id, keep_alive: '5m' }, ...(after ? { search_after: after } : {}) },
    };
    const answer = await elastic.post('/_search?filter_path=hits.hits._source,hits.hits.sort', JSON.stringify(body));
    const text = answer.toString('utf8');
    const { hits } = text === '{}' ? { hits: { hits: [] } } : Page.parse(JSON.parse(text));
    after = hits.hits.at(-1)?.sort;
    if (hits.hits.length < BARE_BLOCK) break;
  }
  const seconds = (performance.now() - from) / 1_000;
  await elastic.client.closePointInTime({ id });
  return seconds;
}

async function memoryOf(url: string): Promise<{ heap: number; resident: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const of = (name: string) => Number(new RegExp(`^${name} ([\\d.e+]+)$`, 'm').exec(text)?.[1]) / 1e6;
  return { heap: of('nodejs_heap_size_used_bytes'), resident: of('process_resident_memory_bytes') };
}

async function measureSearches(results: Results, url: string, walkKey: string, nextKey: () => string): Promise<void> {
  const target = openTarget(url, () => ({ authorization: `Bearer ${nextKey()}` }));
  let sent = 0;
  const search = async () => {
    sent += 1;
    const path = `/v1/creators/search?limit=20&follower_min=${sent}&category=${['food', 'fitness', 'beauty'][sent % 3]}`;
    return await latencyMs(target, { method: 'GET', path });
  };
  const p95 = async (): Promise<number> => {
    const until = performance.now() + ROUND_MS;
    const latencies: number[] = [];
    const searcher = async () => {
      while (performance.now() < until) {
        latencies.push(await search());
        await pause(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: SEARCHERS }, searcher));
    return percentile(latencies, 95);
  };
  let walked = 0;
  const beside = async () => {
    const stop = new AbortController();
    const walks = ['followers', 'engagement'].map((sort) => walk(url, walkKey, sort, stop.signal));
    const found = await p95();
    stop.abort();
    for (const lines of await Promise.all(walks)) walked += lines;
    return found;
  };
  await alternate(1, [p95, beside]);
  walked = 0;
  const [alone = [], besideWalks = []] = await alternate(ROUNDS, [p95, beside]);
  const pace = walked / (ROUNDS * (ROUND_MS / 1_000)) / 2;
  await results.part('searches', async (add) =>
    add({
      ...{ name: 'search_p95_beside_two_walks', value: medianRatio(besideWalks, alone), floor: 1.3, bound: 'at most' },
      ...{
        measured: `${round(median(alone))} and ${round(median(besideWalks))} ms; a walk ${round(pace)}/s`,
        warm: '-',
      },
    }),
  );
  await target.pool.close();
}

async function measureWalk(results: Results, context: Context, url: string, walkKey: string): Promise<void> {
  const bareSeconds = await readBare(context);
  const before = await memoryOf(url);
  const samples: Awaited<ReturnType<typeof memoryOf>>[] = [];
  const from = performance.now();
  let isOver = false;
  const walking = walk(url, walkKey, 'followers').finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await Promise.race([pause(SAMPLE_EVERY_MS), walking]);
    samples.push(await memoryOf(url));
  }
  const seconds = (performance.now() - from) / 1_000;
  const creators = (await walking) - Math.floor(CREATORS / 1_000) - 2;
  const third = Math.floor(samples.length / 3);
  const least = (part: typeof samples) => Math.min(...part.map(({ heap }) => heap));
  const [first, last] = [least(samples.slice(0, third)), least(samples.slice(-third))];
  const grown = Math.max(...samples.map(({ resident }) => resident)) - before.resident;
  await results.part('walk', async (add) => {
    const shared = { bound: 'at most', warm: '-' } as const;
    const million = (1_000_000 / creators) * seconds;
    const pace = `${creators.toLocaleString('en')} creators in ${round(seconds)} s`;
    add({ ...shared, name: 'seconds_of_a_million', value: million, floor: 60, measured: pace });
    const bare = `Elasticsearch alone ${round(bareSeconds)} s, the walk ${round(seconds)} s`;
    add({
      name: 'walk_of_bare_read',
      value: bareSeconds / seconds,
      floor: 0.5,
      bound: 'at least',
      measured: bare,
      warm: '-',
    });
    const heap = `least used heap in MB: ${round(first)} in the first third, ${round(last)} in the last`;
    add({ ...shared, name: 'heap_last_to_first_third', value: last / first, floor: 1.2, measured: heap });
    const resident = `resident ${round(before.resident)} MB before`;
    add({ ...shared, name: 'more_resident_memory_mb', value: grown, floor: 60, measured: resident });
  });
}

async function measure(results: Results, context: Context, urls: EngineUrls): Promise<void> {
  const { config, postgres, clickhouse } = context;
  await migratePostgres(postgres.db);
  await migrateClickHouse(clickhouse);
  progress(`Importing ${CREATORS.toLocaleString('en')} creators, making keys`);
  await importDirectory(toDirectoryEngines(context), { source: sampleSource(CREATORS, 1), bounds: { mode: 'force' } });
  const nextKey = takeTurns(await makeDataKeys(context, KEYS_PER_BRAND));
  const walkKey = await makeWalkKey(context);
  const server = await startServer(() => ['bench/altered-api.ts', 'unchanged'], environmentOf(config, urls));
  // First, so that the process has its working size.
  await measureSearches(results, server.url, walkKey, nextKey);
  await measureWalk(results, context, server.url, walkKey);
  await server.stop();
}

measureOnOwnEngines(measure, { mayBeGiven: true });
