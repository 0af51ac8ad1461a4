import { readConfig } from './config.ts';
import { report } from './local/terminal.ts';
import { checkEngines } from './process/check-engines.ts';
import { openProgram } from './process/commands/program.ts';
import { startJobs } from './process/jobs.ts';
import { assertSharedStorage, configuredUrls, openContext } from './process/open-context.ts';
import { openShutdown, reportFailure } from './process/shutdown.ts';
import { ignoreFailure } from './values/errors.ts';

const STOP_WITHIN_MS = 10_000;

openProgram(
  'rollcall-worker',
  "Background work, alongside the API. Reads the engines' URLs from the environment, like the API.",
).parse();

try {
  const config = readConfig();
  assertSharedStorage(config);
  const urls = configuredUrls(config);
  await checkEngines(config, report);
  const shutdown = openShutdown(STOP_WITHIN_MS);
  const { context, readClock, close } = openContext(config, urls);
  shutdown.add(close);
  await context.elastic.assertOneCluster();
  await readClock().catch(ignoreFailure('the engines may start later; the clock is read each second'));
  shutdown.add(startJobs(context, urls.redis).stop);
  shutdown.started();
  report('worker started');
} catch (error) {
  reportFailure(error);
  process.exit();
}
