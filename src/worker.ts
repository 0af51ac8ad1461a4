import { setFlagsFromString } from 'node:v8';
import { readConfig } from './config.ts';
import { HELD, isHeld } from './kit/engines/postgres/home.ts';
import { ignoreFailure } from './kit/values/errors.ts';
import { report } from './local/terminal.ts';
import { openProgram, parseOptions } from './process/commands/program.ts';
import { assertSharedStorage, configuredUrls } from './process/engine-urls.ts';
import { openShutdown, reportRefusedStart } from './process/shutdown.ts';

const STOP_WITHIN_MS = 10_000;

// A long job leaves much garbage, and V8 lets the heap grow to four times what is used before it collects it.
setFlagsFromString('--heap-growing-percent=50');

parseOptions(
  openProgram(
    'rollcall-worker',
    "Background work, alongside the API. Reads the engines' URLs from the environment, like the API.",
  ),
);

try {
  const config = readConfig();
  assertSharedStorage(config);
  const urls = configuredUrls(config);
  // All nouns and engines, which take a second to load: a wrong flag or a missing variable is reported before that.
  const [{ checkEngines }, { openContext }, { startJobs }] = await Promise.all([
    import('./process/check-engines.ts'),
    import('./process/open-context.ts'),
    import('./process/jobs.ts'),
  ]);
  await checkEngines(config, report);
  const shutdown = openShutdown(STOP_WITHIN_MS);
  const { context, readClock, close } = openContext(config, urls);
  shutdown.add(close);
  await context.elastic.assertOneCluster();
  await readClock().catch(ignoreFailure('the engines may start later; the clock is read each second'));
  shutdown.add(startJobs(context, urls.redis).stop);
  shutdown.started();
  report('worker started');
  const isCopy = await isHeld(context.postgres.db).catch(ignoreFailure('PostgreSQL may start later'));
  if (isCopy) report(HELD);
} catch (error) {
  reportRefusedStart(error);
  process.exit();
}
