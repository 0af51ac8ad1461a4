import path from 'node:path';
import { inspect } from 'node:util';
import { readConfig } from '../src/config.ts';
import type { Config } from '../src/kit/values/config.ts';
import { engineFolder } from '../src/local/engines/folder.ts';
import { openContext } from '../src/process/open-context.ts';
import { lastWords, SECRET, startNode, stopNode } from './children.ts';
import { benchCommand } from './command.ts';
import { sampleCreators } from './directory-file.ts';
import { measureImport } from './import.ts';
import { makeDataKeys, takeTurns } from './keys.ts';
import { measureCached, measureMix, measureNaive } from './mix.ts';
import { withOwnData } from './own-data.ts';
import { measurePages } from './pages.ts';
import { measurePostgres } from './postgres.ts';
import { makeKinds, shuffled } from './queries.ts';
import { type Add, openResults, progress, type Results } from './report.ts';
import { assertSameAnswers, prepareSearches } from './searches.ts';
import { type Scale, type Session, someOfEach, targetApi, targetElastic } from './session.ts';
import { measureStart, type Started } from './start.ts';
import { measureUpdates } from './updates.ts';

const SEED = 7;
const SAMPLE_ROWS = 4_000;
/** One in this many queries is compared with Elasticsearch's own answer before anything is timed. */
const CHECK_EVERY = 10;

const FULL: Scale = {
  creators: 1_000_000,
  lastPage: 10_000,
  rounds: 4,
  slowRounds: 2,
  warmUps: 24,
  repeats: 8,
  slowStep: 4,
  updateMs: 12_000,
  isFull: true,
};
const QUICK: Scale = {
  creators: 100_000,
  lastPage: 1_000,
  rounds: 2,
  slowRounds: 1,
  warmUps: 4,
  repeats: 2,
  slowStep: 8,
  updateMs: 5_500,
  isFull: false,
};

const options = benchCommand(
  'bench directory',
  'Measures the directory against Elasticsearch, PostgreSQL and a bare proxy, on engines and data that are ' +
    'removed at the end. Prints a table and, as the last line, JSON. Exits with 1 if a floor is missed.',
)
  .option('--quick', '100,000 creators instead of 1,000,000; only the floors that do not grow with the data')
  .option('--only <part>', 'mix, cached, naive, pages, postgres or updates')
  .parse()
  .opts<{ quick?: true; only?: string }>();

async function openSession(config: Config, scale: Scale, started: Started) {
  const { urls, env, api } = started;
  const { context, close } = openContext(config, urls);
  await context.redis.ready();
  progress('Making keys');
  const nextKey = takeTurns(await makeDataKeys(context));
  const kinds = makeKinds(sampleCreators(scale.creators, SAMPLE_ROWS), scale.creators, scale.lastPage, SEED);
  const { index } = await context.directory.snapshot();
  // Only for the raw side, whose deep pages by `from` and `size` would otherwise be refused.
  await context.elastic.client.indices.putSettings({ index, settings: { max_result_window: scale.creators + 1_000 } });
  progress('Preparing queries');
  const searches = shuffled(await prepareSearches(context, kinds), SEED);
  const asCaller = () => ({ authorization: `Bearer ${nextKey()}` });
  const session: Session = { scale, config, urls, env, context, index, searches, api, nextKey, asCaller };
  return { session, close };
}

async function measureSearches(results: Results, session: Session, dataName: string): Promise<void> {
  progress('Comparing answers');
  const checked = someOfEach(session.searches, CHECK_EVERY);
  await assertSameAnswers(targetApi(session, session.api), targetElastic(session), checked);
  const parts: Record<string, (add: Add) => Promise<void>> = {
    mix: (add) => measureMix(session, add),
    cached: (add) => measureCached(session, add),
    naive: (add) => measureNaive(session, add),
    pages: (add) => measurePages(session, add),
    postgres: (add) => measurePostgres(session, dataName, add),
    updates: (add) => measureUpdates(session, add),
  };
  for (const [name, measure] of Object.entries(parts)) {
    if ((options.only ?? name) === name) await results.part(name, measure);
  }
}

async function measureAll(results: Results, config: Config, scale: Scale, dataName: string): Promise<void> {
  const started = await results.part('start', (add) => measureStart(config, dataName, add));
  if (!started) return;
  const worker = startNode(['src/worker.ts'], started.env);
  lastWords(worker);
  try {
    const folder = path.join(engineFolder(config.directory), dataName);
    await results.part('import', (add) => measureImport(scale, folder, started.urls.elasticsearch, started.env, add));
    await results.part('searches', async () => {
      const { session, close } = await openSession(config, scale, started);
      try {
        await measureSearches(results, session, dataName);
      } finally {
        await close();
      }
    });
  } finally {
    await stopNode(worker);
    await started.stop();
  }
}

async function main(): Promise<void> {
  const config = { ...readConfig(), directoryAlias: 'creators', secret: Buffer.from(SECRET, 'hex') };
  const from = performance.now();
  const results = openResults();
  await withOwnData(config, (dataName) => measureAll(results, config, options.quick ? QUICK : FULL, dataName));
  progress(`Measured in ${Math.round((performance.now() - from) / 1000)} s`);
  process.exitCode = results.report() ? 0 : 1;
}

main().catch((error: unknown) => {
  process.stderr.write(`${inspect(error)}\n`);
  process.exitCode = 1;
});
