import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { importDirectory } from '../src/directory/imports/indexing/import.ts';
import { sampleSource } from '../src/directory/imports/indexing/sample.ts';
import { toDirectoryEngines } from '../src/directory/imports/indexing/writer.ts';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import type { EngineUrls } from '../src/process/engine-urls.ts';
import { benchCommand } from './command.ts';
import { sampleCreators } from './directory-file.ts';
import { cpuSecondsOf, openTarget, type Shot, volley } from './load.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { makeKinds } from './queries.ts';
import { progress, type Results, round } from './report.ts';
import { prepareSearches } from './searches.ts';

const SEED = 20_260_101;
const SAMPLE_ROWS = 4_000;
const SEARCHES = 60;
const COUNTS = 400;
const MILLION = 1_000_000;
/** Enough for ten million creators. */
const HEAP_MB = 2_048;

const { sizes } = benchCommand(
  'bench curves',
  'Measures what a directory of several sizes costs Elasticsearch, fits a line through all but the largest, and says how far off it is there.',
)
  .option('--sizes <numbers>', 'creators, with commas between them', '50000,100000,200000,400000')
  .parse()
  .opts<{ sizes: string }>();

const Nodes = z.object({ nodes: z.record(z.string(), z.object({ process: z.object({ id: z.number() }) })) });
const Stored = z.object({
  _all: z.object({ primaries: z.object({ store: z.object({ size_in_bytes: z.number() }) }) }),
});

const FIGURES = ['megabytes', 'importSeconds', 'pageMicros', 'countMicros'] as const;
type Cost = Record<(typeof FIGURES)[number], number>;

/** A total that no cache has, of about half of all creators. */
const makeCounts = (index: string): Shot[] =>
  Array.from({ length: COUNTS }, (_, n) => ({
    method: 'POST' as const,
    path: `/${index}/_search?request_cache=false&filter_path=hits.total`,
    body: JSON.stringify({
      size: 0,
      track_total_hits: true,
      query: { range: { followers: { gte: 20_000 + n } } },
    }),
  }));

async function measureSize(context: Context, elasticsearch: string, creators: number): Promise<Cost> {
  progress(`${creators.toLocaleString('en')} creators`);
  const from = performance.now();
  const source = sampleSource(creators, SEED);
  const { index } = await importDirectory(toDirectoryEngines(context), { source, bounds: { mode: 'force' } });
  const importSeconds = (performance.now() - from) / 1_000;
  const { client } = context.elastic;
  const { nodes } = Nodes.parse(await client.nodes.info({ metric: 'process' }));
  const pid = Object.values(nodes)[0]?.process.id ?? 0;
  // Searches learn within a second which index is live.
  while ((await context.directory.snapshot()).index !== index) await sleep(100);
  const kinds = makeKinds(sampleCreators(creators, SAMPLE_ROWS), creators, SEARCHES / 10, 7);
  const pages = (await prepareSearches(context, kinds)).filter(({ isDeep }) => !isDeep).map(({ same }) => same);
  const target = openTarget(elasticsearch, () => ({ 'content-type': 'application/json' }));
  const cost = async (shots: readonly Shot[], times: number) => {
    await volley(target, shots);
    const before = cpuSecondsOf(pid);
    for (let n = 0; n < times; n += 1) {
      const { errors } = await volley(target, shots);
      if (errors > 0) throw new Error(`${errors} failed.`);
    }
    return ((cpuSecondsOf(pid) - before) * MILLION) / (times * shots.length);
  };
  const [pageMicros, countMicros] = [await cost(pages, 10), await cost(makeCounts(index), 3)];
  await target.pool.close();
  const { _all } = Stored.parse(await client.indices.stats({ index, metric: 'store' }));
  return { megabytes: _all.primaries.store.size_in_bytes / MILLION, importSeconds, pageMicros, countMicros };
}

/** The line through points by least squares. */
function fit(points: readonly (readonly [x: number, y: number])[]): (x: number) => number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const slope =
    mean(points.map(([x, y]) => (x - meanX) * (y - meanY))) / mean(points.map(([x]) => (x - meanX) * (x - meanX)));
  return (x) => meanY + slope * (x - meanX);
}

async function measure(results: Results, context: Context, { elasticsearch }: EngineUrls): Promise<void> {
  await migratePostgres(context.postgres.db);
  await migrateClickHouse(context.clickhouse);
  const creators = sizes.split(',').map(Number);
  const costs: Cost[] = [];
  for (const size of creators) {
    const cost = await measureSize(context, elasticsearch, size);
    progress(FIGURES.map((name) => `${name} ${round(cost[name])}`).join(', '));
    costs.push(cost);
  }
  const largest = creators.at(-1) ?? 0;
  await results.part('curves', async (add) => {
    for (const name of FIGURES) {
      const points = costs.map((cost, i) => [creators[i] ?? 0, cost[name]] as const);
      const line = fit(points.slice(0, -1));
      const found = points.at(-1)?.[1] ?? Number.NaN;
      add({
        name: `${name}_fit_to_measured_at_${largest}`,
        value: line(largest) / found,
        ...{ floor: null, bound: 'at least', warm: 'all' },
        measured: `${points.map(([x, y]) => `${x}: ${round(y)}`).join('; ')}; ${round(line(0))} + ${round(line(MILLION) - line(0))} a million`,
      });
    }
  });
}

measureOnOwnEngines(measure, { mayBeGiven: true, elasticsearchHeapMb: HEAP_MB });
