import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../../src/config.ts';
import { findMatches } from '../../../src/directory/saved-searches/matches.jobs.ts';
import { ignoreFailure } from '../../../src/kit/values/errors.ts';
import { configuredUrls } from '../../../src/process/engine-urls.ts';
import { openContext } from '../../../src/process/open-context.ts';

/** The worker's search for new matches as a process that a test may kill. */
const config = readConfig();
const { context } = openContext(config, configuredUrls(config));
process.stderr.write('matching started\n');
for (;;) {
  await findMatches(context).catch(ignoreFailure('the next pass tries again, as that of a worker does'));
  await sleep(100);
}
