import { readConfig } from '../../../src/config.ts';
import { configuredUrls } from '../../../src/process/engine-urls.ts';
import { openContext } from '../../../src/process/open-context.ts';
// Declares the operations that reports read.
import '../../../src/interfaces/nouns.ts';
import { mailReports } from '../../../src/analytics/reports/reports.jobs.ts';

/** The worker that mails reports, as a process that a test may kill. Its clock is always where the next period is due. */
const config = readConfig();
const [, , endsAt = ''] = process.argv;
const clock = { at: 0, now: () => new Date(clock.at) };
const { context, close } = openContext(config, configuredUrls(config), clock);
process.stderr.write('reports started\n');
/** A mail waits at most this long for events that are on their way. */
const WAIT_MS = 6 * 3_600_000;
for (;;) {
  const next = await context.postgres.db.selectFrom('reports').select('dueAt').orderBy('dueAt').executeTakeFirst();
  if (!next || next.dueAt.getTime() + WAIT_MS > Date.parse(endsAt)) break;
  clock.at = Math.max(clock.at, next.dueAt.getTime() + WAIT_MS);
  await mailReports.run(context);
}
process.stderr.write('reports done\n');
await close();
