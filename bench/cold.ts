import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { importDirectory } from '../src/directory/imports/indexing/import.ts';
import { sampleSource } from '../src/directory/imports/indexing/sample.ts';
import { toDirectoryEngines } from '../src/directory/imports/indexing/writer.ts';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import type { EngineUrls } from '../src/process/engine-urls.ts';
import { environmentOf, NOWHERE, type Server, startServer } from './children.ts';
import { benchCommand } from './command.ts';
import { sampleCreators } from './directory-file.ts';
import { makeDataKeys, takeTurns } from './keys.ts';
import { alternate, cpuSecondsOf, median, openTarget, type Shot, type Target, volley } from './load.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { makeKinds, shuffled } from './queries.ts';
import { progress, type Results, round } from './report.ts';
import { prepareSearches, type Search } from './searches.ts';

const CREATORS = 100_000;
const SAMPLE_ROWS = 4_000;
const SEED = 20_260_101;
/** Longer than a running API takes to notice that the index was refreshed. */
const REFRESH_SEEN_MS = 1_500;

const { rounds, only } = benchCommand(
  'bench cold',
  'Shows where the time of a search goes that nobody made before: CPU of each process and requests to Elasticsearch a ' +
    'search, with parts of the API switched off, in turns.',
)
  .option('--rounds <number>', 'rounds of each side', '6')
  .option('--only <sides>', 'sides to measure, with commas between them')
  .parse()
  .opts<{ rounds: string; only?: string }>();

const Nodes = z.object({ nodes: z.record(z.string(), z.object({ process: z.object({ id: z.number() }) })) });
const Searched = z.object({
  _all: z.object({ primaries: z.object({ search: z.object({ query_total: z.number() }) }) }),
});

interface Watched {
  elasticsearch: number;
  redis: number;
}

async function pidsOf({ elastic, redis }: Context): Promise<Watched> {
  const { nodes } = Nodes.parse(await elastic.client.nodes.info({ metric: 'process' }));
  const info = await redis.use((client) => client.info('server'));
  return {
    elasticsearch: Object.values(nodes)[0]?.process.id ?? 0,
    redis: Number(/^process_id:(\d+)/m.exec(info)?.[1]),
  };
}

interface Side {
  name: string;
  target: Target;
  shots(): Shot[];
  pid?: number;
  isWarm?: true;
}

/** What one search costs, in microseconds of CPU. */
interface Cost {
  perSecond: number;
  own: number;
  elasticsearch: number;
  redis: number;
  load: number;
  requests: number;
}

async function openCosts(context: Context) {
  const pids = await pidsOf(context);
  const { index } = await context.directory.snapshot();
  const { indices } = context.elastic.client;
  const searched = async () =>
    Searched.parse(await indices.stats({ index, metric: 'search' }))._all.primaries.search.query_total;
  const spent = (pid: number | undefined) => ({
    own: pid === undefined ? 0 : cpuSecondsOf(pid),
    elasticsearch: cpuSecondsOf(pids.elasticsearch),
    redis: cpuSecondsOf(pids.redis),
    load: cpuSecondsOf(process.pid),
  });

  return async (side: Side): Promise<Cost> => {
    if (!side.isWarm) {
      await indices.refresh({ index });
      await indices.clearCache({ index, request: true });
    }
    // Every side, because a machine that rested is faster.
    await pause(REFRESH_SEEN_MS);
    const shots = side.shots();
    const [requestsBefore, before] = [await searched(), spent(side.pid)];
    const { perSecond, errors, refusals } = await volley(side.target, shots);
    const after = spent(side.pid);
    if (errors > 0) throw new Error(`${side.name}: ${errors} failed, ${JSON.stringify(refusals)}.`);
    const micros = (name: keyof typeof before) => ((after[name] - before[name]) * 1e6) / shots.length;
    return {
      ...{ perSecond, own: micros('own'), elasticsearch: micros('elasticsearch'), redis: micros('redis') },
      ...{ load: micros('load'), requests: ((await searched()) - requestsBefore) / shots.length },
    };
  };
}

/** The same searches at URLs that the API has not read before: a blank value is ignored. */
function openUnseen(shots: readonly Shot[]): () => Shot[] {
  let turn = 0;
  return () => {
    turn += 1;
    return shots.map((shot) => ({ ...shot, path: `${shot.path}&with=${'%20'.repeat(turn)}` }));
  };
}

const COLUMNS = ['perSecond', 'own', 'elasticsearch', 'redis', 'load', 'requests'] as const;

function show(name: string, costs: readonly Cost[]): void {
  const values = COLUMNS.map((column) => round(median(costs.map((cost) => cost[column]))));
  process.stdout.write(`${[name.padEnd(36), ...values.map((value) => String(value).padStart(13))].join('')}\n`);
}

/** Given engines may have the directory of an earlier run. */
async function isFilled({ directory, elastic }: Context): Promise<boolean> {
  const { index } = await directory.live();
  return index !== undefined && (await elastic.client.count({ index })).count === CREATORS;
}

async function measureSides(context: Context, urls: EngineUrls, servers: Server[]): Promise<void> {
  const { config, postgres, clickhouse } = context;
  await migratePostgres(postgres.db);
  await migrateClickHouse(clickhouse);
  if (!(await isFilled(context))) {
    progress(`Importing ${CREATORS.toLocaleString('en')} creators`);
    await importDirectory(toDirectoryEngines(context), {
      source: sampleSource(CREATORS, SEED),
      bounds: { mode: 'force' },
    });
  }
  progress('Making keys');
  const nextKey = takeTurns(await makeDataKeys(context, 60));
  const { index } = await context.directory.snapshot();
  await context.elastic.client.indices.putSettings({ index, settings: { max_result_window: CREATORS } });
  const kinds = makeKinds(sampleCreators(CREATORS, SAMPLE_ROWS), CREATORS, 100, 7);
  const searches = shuffled(await prepareSearches(context, kinds), 7);

  const env = environmentOf(config, urls);
  const start = async (change: string, more: Record<string, string> = {}) => {
    const server = await startServer(() => ['bench/altered-api.ts', change], { ...env, ...more });
    servers.push(server);
    const target = openTarget(server.url, () => ({ authorization: `Bearer ${nextKey()}` }));
    return { target, pid: server.pid };
  };
  const proxy = await startServer((port) => ['bench/proxy.ts', urls.elasticsearch, String(port)], env);
  servers.push(proxy);
  const json = () => ({ 'content-type': 'application/json' });
  const shotsOf =
    (side: 'api' | 'raw', chosen: readonly Search[] = searches) =>
    () =>
      chosen.map((search) => search[side]);
  const api = await start('unchanged');
  const raw = openTarget(urls.elasticsearch, json);
  const all: Side[] = [
    { name: 'raw', target: raw, shots: shotsOf('raw') },
    { name: 'proxy', target: openTarget(proxy.url, json), pid: proxy.pid, shots: shotsOf('raw') },
    { name: 'cold', ...api, shots: shotsOf('api') },
    { name: 'unseen', ...api, shots: openUnseen(shotsOf('api')()) },
    { name: 'warm', ...api, shots: shotsOf('api'), isWarm: true },
    { name: 'unmetered', ...(await start('unmetered')), shots: shotsOf('api') },
    { name: 'unrecorded', ...(await start('unrecorded')), shots: shotsOf('api') },
    // Its spans are made and dropped, as while a collector is away.
    { name: 'traced', ...(await start('unchanged', { OTEL_EXPORTER_OTLP_ENDPOINT: NOWHERE })), shots: shotsOf('api') },
    ...kinds.flatMap(({ name }): Side[] => {
      const chosen = searches.filter(({ kind }) => kind === name);
      return [
        { name: `raw: ${name}`, target: raw, shots: shotsOf('raw', chosen) },
        { name: `cold: ${name}`, ...api, shots: shotsOf('api', chosen) },
      ];
    }),
  ];
  const chosen = only?.split(',');
  const sides = all.filter(({ name }) => (chosen ? chosen.includes(name) : !name.includes(':')));
  const costOf = await openCosts(context);
  progress('Warming up');
  for (let i = 0; i < 4; i += 1) for (const { target, shots } of sides) await volley(target, shots());
  progress('In turns');
  const found = await alternate(
    Number(rounds),
    sides.map((side) => () => costOf(side)),
  );
  process.stdout.write(`${[''.padEnd(36), ...COLUMNS.map((column) => column.padStart(13))].join('')}\n`);
  for (const [i, side] of sides.entries()) show(side.name, found[i] ?? []);
}

async function measure(_results: Results, context: Context, urls: EngineUrls): Promise<void> {
  const servers: Server[] = [];
  try {
    await measureSides(context, urls, servers);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

measureOnOwnEngines(measure, { mayBeGiven: true });
