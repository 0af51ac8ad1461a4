import { importDirectory } from '../src/directory/imports/indexing/import.ts';
import { sampleSource } from '../src/directory/imports/indexing/sample.ts';
import { toDirectoryEngines } from '../src/directory/imports/indexing/writer.ts';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import type { EngineUrls } from '../src/process/engine-urls.ts';
import { environmentOf, startServer } from './children.ts';
import { benchCommand } from './command.ts';
import { makeDataKeys, takeTurns } from './keys.ts';
import { alternate, cpuSecondsOf, median, openTarget, type Shot, volley } from './load.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { progress, type Results, round } from './report.ts';

const CREATORS = 20_000;
const ROUNDS = 10;
const ROUND_MS = 4_000;

benchCommand(
  'bench recording',
  'Measures the CPU of a search in an API that records its calls against one that does not, in turns.',
).parse();

/** More searches than the API keeps prepared, so that each is read, and its filters are hashed. */
const shots: readonly Shot[] = Array.from({ length: 20_000 }, (_, i) => ({
  method: 'GET',
  path: `/v1/creators/search?limit=20&follower_min=${i}&category=${['food', 'fitness', 'beauty'][i % 3]}`,
}));

async function measure(results: Results, context: Context, urls: EngineUrls): Promise<void> {
  const { config, postgres, clickhouse } = context;
  await migratePostgres(postgres.db);
  await migrateClickHouse(clickhouse);
  progress(`Importing ${CREATORS.toLocaleString('en')} creators, making keys`);
  await importDirectory(toDirectoryEngines(context), { source: sampleSource(CREATORS, 1), bounds: { mode: 'force' } });
  const nextKey = takeTurns(await makeDataKeys(context));
  const env = environmentOf(config, urls);
  const sides = [];
  for (const change of ['unrecorded', 'unchanged']) {
    const server = await startServer(() => ['bench/altered-api.ts', change], env);
    const target = openTarget(server.url, () => ({ authorization: `Bearer ${nextKey()}` }));
    const run = async () => {
      const before = cpuSecondsOf(server.pid);
      const { sent, errors } = await volley(target, shots, ROUND_MS);
      if (errors > 0) throw new Error(`${errors} of ${sent} searches failed.`);
      return ((cpuSecondsOf(server.pid) - before) * 1e6) / sent;
    };
    sides.push({ run, stop: async () => Promise.all([server.stop(), target.pool.close()]) });
  }
  const runs = sides.map(({ run }) => run);
  await alternate(2, runs);
  const [without = [], recorded = []] = await alternate(ROUNDS, runs);
  for (const { stop } of sides) await stop();
  const [base, more] = [median(without), median(recorded)];
  await results.part('recording', async (add) =>
    add({
      ...{ name: 'cpu_recorded_to_unrecorded', value: more / base, floor: 1.05, bound: 'at most', warm: 'keys' },
      measured: `${round(base)} and ${round(more)} µs of CPU a search, medians of ${ROUNDS}`,
    }),
  );
}

measureOnOwnEngines(measure, { mayBeGiven: true });
