import type { Context } from '../api/context.ts';
import { meterJobs } from '../api/job-metrics.ts';
import { type Metrics, meterClicks, meterLedger, meterMails, meterOutbox, openMetrics } from '../api/metrics.ts';
import { meterDirectory, meterPayouts } from '../api/stock-metrics.ts';
import { meterWebhooks } from '../api/webhook-metrics.ts';
import { countUnsynced } from '../figures/sync/queries.ts';
import { backlogOf } from '../links-host/queries.ts';
import { countMails } from '../mail/queries.ts';
import { CONSUMER_NAMES } from '../outbox/consumer-names.ts';
import { lagOf } from '../outbox/relay.ts';
import { readWebhookFigures } from '../resources/webhooks/sending/figures-queries.ts';

const RECENTLY_MS = 300_000;

/** What this process counts, and what lies in the engines. */
export function openProcessMetrics(context: Context): Metrics {
  const { postgres, redis, clock } = context;
  const metrics = openMetrics();
  meterOutbox(metrics, CONSUMER_NAMES, (consumer) => lagOf(postgres.db, consumer));
  meterLedger(metrics, () => countUnsynced(postgres.db));
  meterClicks(metrics, () => backlogOf(redis, clock.now()));
  const recently = () => new Date(clock.now().getTime() - RECENTLY_MS);
  meterWebhooks(metrics, () => readWebhookFigures(postgres.db, clock.now(), recently()), clock.now);
  meterMails(metrics, () => countMails(postgres.db), clock.now);
  meterJobs(metrics, redis);
  meterDirectory(metrics, context);
  meterPayouts(metrics, context);
  return metrics;
}
