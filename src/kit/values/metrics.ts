import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  registry: Registry;
  requests: Histogram<'operation' | 'status'>;
  credits: Counter<'kind'>;
  /** Calls that only this process rate-limited, because Redis did not respond. */
  localLimits: Counter;
  /** Clicks of visitors who were redirected although Redis did not confirm the click. */
  lostClicks: Counter;
  /** Visits of short links by outcome. Plain numbers, because a redirect must be fast. */
  redirects: Record<RedirectOutcome, number>;
  /** Error responses by code. */
  refusals: Counter<'door' | 'code'>;
}

export type RedirectOutcome = 'sent_on' | 'unknown' | 'not_allowed' | 'unavailable';

function meterRedirects(registry: Registry): Metrics['redirects'] {
  const redirects = { sent_on: 0, unknown: 0, not_allowed: 0, unavailable: 0 };
  new Counter({
    name: 'rollcall_redirects_total',
    help: 'Visits of short links that this process answered, by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(redirects)) this.inc({ outcome }, count);
    },
  });
  return redirects;
}

export function openMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    requests: new Histogram({
      name: 'rollcall_request_duration_seconds',
      help: 'Response time by operation and status.',
      labelNames: ['operation', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [registry],
    }),
    credits: new Counter({
      name: 'rollcall_credits_total',
      help: 'Credits debited and refunded by this process.',
      labelNames: ['kind'],
      registers: [registry],
    }),
    localLimits: new Counter({
      name: 'rollcall_local_rate_limits_total',
      help: 'Calls that only this process rate-limited, because Redis did not respond.',
      registers: [registry],
    }),
    lostClicks: new Counter({
      name: 'rollcall_clicks_lost_total',
      help: 'Visitors that this process redirected without confirmation that their click was recorded.',
      registers: [registry],
    }),
    redirects: meterRedirects(registry),
    refusals: new Counter({
      name: 'rollcall_refusals_total',
      help: 'Error responses of this process, by door and code.',
      labelNames: ['door', 'code'],
      registers: [registry],
    }),
  };
}

/** Measures how many outbox events each consumer has yet to receive. Calls `lagOf` at each scrape. */
export function meterOutbox(
  { registry }: Metrics,
  consumers: readonly string[],
  lagOf: (consumer: string) => Promise<number>,
): void {
  new Gauge({
    name: 'rollcall_outbox_lag_events',
    help: 'Outbox events that the consumer has not received yet.',
    labelNames: ['consumer'],
    registers: [registry],
    async collect() {
      for (const consumer of consumers) {
        // Without PostgreSQL the lag is unknown; the other metrics must still be scraped.
        const lag = await lagOf(consumer).catch(() => undefined);
        if (lag === undefined) this.remove({ consumer });
        else this.set({ consumer }, lag);
      }
    },
  });
}

/** Counts calls that were dropped from the record of calls. */
export function meterCalls({ registry }: Metrics, dropped: () => number): void {
  new Counter({
    name: 'rollcall_calls_unrecorded_total',
    help: 'Calls that this process dropped from the record of calls, because ClickHouse did not take them.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(dropped());
    },
  });
}

interface Backlog {
  groups: number;
  bytes: number;
  oldestSeconds: number;
}

/** Measures the clicks that are not in ClickHouse yet. Calls `backlogOf` at each scrape. */
export function meterClicks({ registry }: Metrics, maxBytes: number, backlogOf: () => Promise<Backlog>): void {
  let requestedBacklog: Promise<Backlog | undefined> | undefined;
  // Both gauges show the same moment, whichever is collected first.
  const backlog = () => {
    requestedBacklog ??= backlogOf()
      .catch(() => undefined)
      .finally(() => {
        requestedBacklog = undefined;
      });
    return requestedBacklog;
  };
  // Without Redis neither is known, which scrapers read from NaN.
  new Gauge({
    name: 'rollcall_clicks_waiting_oldest_seconds',
    help: 'Age of the oldest click that is not in ClickHouse yet; 0 when all are.',
    registers: [registry],
    async collect() {
      this.set((await backlog())?.oldestSeconds ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'rollcall_clicks_waiting_groups',
    help: 'Groups of clicks in Redis that are not in ClickHouse yet.',
    registers: [registry],
    async collect() {
      this.set((await backlog())?.groups ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'rollcall_clicks_waiting_bytes',
    help: 'Memory in Redis of clicks that are not in ClickHouse yet.',
    registers: [registry],
    async collect() {
      this.set((await backlog())?.bytes ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'rollcall_clicks_waiting_limit_bytes',
    help: 'Memory that these clicks may take; beyond it, clicks are not recorded.',
    registers: [registry],
  }).set(maxBytes);
}

interface MailCount {
  state: string;
  total: number;
  oldestDueAt: Date | null;
}

/** Counts mails by state. Calls `countMails` at each scrape. */
export function meterMails({ registry }: Metrics, countMails: () => Promise<MailCount[]>, now: () => Date): void {
  new Gauge({
    name: 'rollcall_mails_total',
    help: 'Emails by state: queued, sent, failed, suppressed, held.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      // Without PostgreSQL the counts are unknown; the other metrics must still be scraped.
      const counts = await countMails().catch(() => []);
      this.reset();
      for (const { state, total } of counts) this.set({ state }, total);
    },
  });
  new Gauge({
    name: 'rollcall_mails_oldest_due_seconds',
    help: 'Seconds since the oldest waiting email became due; 0 when no email is due.',
    registers: [registry],
    async collect() {
      const counts = await countMails().catch(() => undefined);
      const dueAt = counts?.find(({ state }) => state === 'queued')?.oldestDueAt ?? now();
      this.set(counts ? Math.max(0, (now().getTime() - dueAt.getTime()) / 1_000) : Number.NaN);
    },
  });
}

/** Counts ledger entries that are not in ClickHouse yet. Calls `countUnsynced` at each scrape. */
export function meterLedger({ registry }: Metrics, countUnsynced: () => Promise<number>): void {
  new Gauge({
    name: 'rollcall_ledger_lag_entries',
    help: 'Ledger entries that are not in ClickHouse yet.',
    registers: [registry],
    async collect() {
      // Without PostgreSQL the count is unknown, which scrapers read from NaN.
      this.set(await countUnsynced().catch(() => Number.NaN));
    },
  });
}
