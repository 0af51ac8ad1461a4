import { countUnsynced } from '../../analytics/figures/sync.ts';
import { measureBacklog } from '../../interfaces/links-host/waiting-clicks.ts';
import { CONSUMER_NAMES } from '../../interfaces/nouns.ts';
import type { Redis } from '../../kit/engines/redis/open.ts';
import { countMails } from '../../kit/mail/mails.ts';
import type { Context } from '../../kit/operation/context.ts';
import { measureLag } from '../../kit/outbox/relay.ts';
import {
  type Metrics,
  meterCalls,
  meterClicks,
  meterLedger,
  meterMails,
  meterOutbox,
  openMetrics,
} from '../../kit/values/metrics.ts';
import { readWebhookFigures } from '../../platform/webhooks/webhooks.ts';
import { openJobQueues } from '../job-status.ts';
import { meterJobs } from './jobs.ts';
import { openScraped } from './scraped.ts';
import { meterSearches } from './searches.ts';
import { meterDirectory, meterImports, meterInbox, meterPayouts, meterStores, meterSweeps } from './stock.ts';
import { meterWebhooks } from './webhooks.ts';

const RECENTLY_MS = 300_000;

/** Metrics of jobs that are due but have not started. */
function meterQueues(metrics: Metrics, redis: Redis): void {
  const queues = openJobQueues(redis);
  const gauge = openScraped(metrics, async () => {
    const now = new Date();
    return (await queues.listBacklogs(now)).map(({ name, waiting, waitingSince }) => {
      return { job: name, waiting, seconds: waitingSince ? (now.getTime() - waitingSince.getTime()) / 1_000 : 0 };
    });
  });
  gauge('rollcall_job_waiting', 'Runs of a job that are due but have not started.', ['job'], (one, jobs) => {
    for (const { job, waiting } of jobs) one.set({ job }, waiting);
  });
  gauge('rollcall_job_oldest_waiting_seconds', 'How long the oldest of them has waited.', ['job'], (one, jobs) => {
    for (const { job, seconds } of jobs) one.set({ job }, seconds);
  });
}

/** The metrics that this process counts, and those read from the engines. */
export function openProcessMetrics(context: Context): Metrics {
  const { postgres, redis, clicksRedis, clock, config } = context;
  const metrics = openMetrics();
  meterOutbox(metrics, CONSUMER_NAMES, (consumer) => measureLag(postgres.reads, consumer));
  meterLedger(metrics, () => countUnsynced(postgres.reads));
  meterCalls(metrics, () => context.calls.dropped());
  meterClicks(metrics, config.maxClicksBytes, () => measureBacklog(clicksRedis, clock.now()));
  const recently = () => new Date(clock.now().getTime() - RECENTLY_MS);
  meterWebhooks(metrics, () => readWebhookFigures(postgres.reads, clock.now(), recently()), clock.now);
  meterMails(metrics, () => countMails(postgres.reads), clock.now);
  meterJobs(metrics, redis);
  meterQueues(metrics, redis);
  meterSearches(metrics, context.directory.admission);
  meterDirectory(metrics, context);
  meterPayouts(metrics, context);
  meterInbox(metrics, context);
  meterStores(metrics, context);
  meterImports(metrics, context);
  meterSweeps(metrics, context);
  return metrics;
}
