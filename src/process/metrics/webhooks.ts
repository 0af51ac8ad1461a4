import { Gauge } from 'prom-client';
import type { Metrics } from '../../kit/values/metrics.ts';
import type { WebhookFigures } from '../../platform/webhooks/webhooks.ts';

/** Metrics of deliveries, which `read` reads at each scrape, because workers have no port. */
export function meterWebhooks({ registry }: Metrics, read: () => Promise<WebhookFigures>, now: () => Date): void {
  let requestedFigures: Promise<WebhookFigures | undefined> | undefined;
  // All gauges of a scrape show the same moment; without PostgreSQL they are absent.
  const figures = () => {
    requestedFigures ??= read()
      .catch(() => undefined)
      .finally(() => {
        requestedFigures = undefined;
      });
    return requestedFigures;
  };
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    set: (gauge: Gauge<Label>, figures: WebhookFigures) => void,
  ) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        this.reset();
        const currentFigures = await figures();
        if (currentFigures) set(this, currentFigures);
      },
    });
  gauge(
    'rollcall_webhook_pending',
    'Pending deliveries, by the pool that serves them.',
    ['pool'],
    (one, { pending }) => {
      for (const { pool, count } of pending) one.set({ pool }, count);
    },
  );
  gauge(
    'rollcall_webhook_oldest_due_seconds',
    'How long the oldest due delivery has waited; 0 if none is due.',
    [],
    (one, known) => {
      const dueAt = known.oldestDueAt ?? now();
      one.set(Math.max(0, (now().getTime() - dueAt.getTime()) / 1_000));
    },
  );
  gauge('rollcall_webhook_subscriptions', 'Subscriptions by state.', ['state'], (one, { subscriptions }) => {
    for (const { state, count } of subscriptions) one.set({ state }, count);
  });
  const labels: ('variant' | 'outcome')[] = ['variant', 'outcome'];
  gauge('rollcall_webhook_attempts_5m', 'Attempts in the last five minutes.', labels, (one, { attempts }) => {
    for (const { variant, outcome, count } of attempts) one.set({ variant, outcome }, count);
  });
  gauge('rollcall_webhook_attempt_p99_seconds_5m', 'Their 99th percentile.', labels, (one, { attempts }) => {
    for (const { variant, outcome, seconds } of attempts) one.set({ variant, outcome }, seconds);
  });
}
