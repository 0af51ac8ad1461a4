import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  registry: Registry;
  requests: Histogram<'operation' | 'status'>;
  credits: Counter<'kind'>;
  /** Calls limited by this process alone because Redis did not answer. */
  localLimits: Counter;
  /** Clicks of visitors who were redirected without Redis having answered. */
  lostClicks: Counter;
  /** Visitors of short links by what they were answered: counted here, for a redirect has no time to spare. */
  redirects: Record<RedirectOutcome, number>;
  /** What was answered with an error, by its code. */
  refusals: Counter<'door' | 'code'>;
}

export type RedirectOutcome = 'sent_on' | 'unknown' | 'not_allowed' | 'unavailable';

function meterRedirects(registry: Registry): Metrics['redirects'] {
  const redirects = { sent_on: 0, unknown: 0, not_allowed: 0, unavailable: 0 };
  new Counter({
    name: 'rollcall_redirects_total',
    help: 'Visitors of short links, by what this process answered them.',
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
      help: 'Time to answer, by operation and status.',
      labelNames: ['operation', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [registry],
    }),
    credits: new Counter({
      name: 'rollcall_credits_total',
      help: 'Credits debited and given back by this process.',
      labelNames: ['kind'],
      registers: [registry],
    }),
    localLimits: new Counter({
      name: 'rollcall_local_rate_limits_total',
      help: 'Calls counted by this process alone because Redis did not answer.',
      registers: [registry],
    }),
    lostClicks: new Counter({
      name: 'rollcall_clicks_lost_total',
      help: 'Visitors redirected by this process without their click being known to be recorded.',
      registers: [registry],
    }),
    redirects: meterRedirects(registry),
    refusals: new Counter({
      name: 'rollcall_refusals_total',
      help: 'Errors that this process answered, by door and code.',
      labelNames: ['door', 'code'],
      registers: [registry],
    }),
  };
}

/** Events that a consumer of the outbox has not been given yet, asked of `lagOf` at each scrape. */
export function meterOutbox(
  { registry }: Metrics,
  consumers: readonly string[],
  lagOf: (consumer: string) => Promise<number>,
): void {
  new Gauge({
    name: 'rollcall_outbox_lag_events',
    help: 'Events in the outbox that the consumer has not been given yet.',
    labelNames: ['consumer'],
    registers: [registry],
    async collect() {
      for (const consumer of consumers) {
        // Without PostgreSQL the lag is not known, and the other figures must still be scraped.
        const lag = await lagOf(consumer).catch(() => undefined);
        if (lag === undefined) this.remove({ consumer });
        else this.set({ consumer }, lag);
      }
    },
  });
}

interface Backlog {
  groups: number;
  oldestSeconds: number;
}

/** What is clicked and not in ClickHouse yet, asked of `backlogOf` at each scrape. */
export function meterClicks({ registry }: Metrics, backlogOf: () => Promise<Backlog>): void {
  let requested: Promise<Backlog | undefined> | undefined;
  // Both gauges of a scrape say the same moment, whichever is collected first.
  const backlog = () => {
    requested ??= backlogOf()
      .catch(() => undefined)
      .finally(() => {
        requested = undefined;
      });
    return requested;
  };
  // Without Redis neither is known, and a scraper takes NaN for that.
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
}

interface MailCount {
  state: string;
  total: number;
  oldestDueAt: Date | null;
}

/** Mails by what became of them, asked of `countMails` at each scrape. */
export function meterMails({ registry }: Metrics, countMails: () => Promise<MailCount[]>, now: () => Date): void {
  new Gauge({
    name: 'rollcall_mails_total',
    help: 'Mails by state: queued, sent, failed, suppressed, held.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      // Without PostgreSQL they are not known, and the other figures must still be scraped.
      const counts = await countMails().catch(() => []);
      this.reset();
      for (const { state, total } of counts) this.set({ state }, total);
    },
  });
  new Gauge({
    name: 'rollcall_mails_oldest_due_seconds',
    help: 'How long the oldest mail that waits has been due; 0 when none is.',
    registers: [registry],
    async collect() {
      const counts = await countMails().catch(() => undefined);
      const dueAt = counts?.find(({ state }) => state === 'queued')?.oldestDueAt ?? now();
      this.set(counts ? Math.max(0, (now().getTime() - dueAt.getTime()) / 1_000) : Number.NaN);
    },
  });
}

/** Ledger entries that figures lack, asked of `countUnsynced` at each scrape. */
export function meterLedger({ registry }: Metrics, countUnsynced: () => Promise<number>): void {
  new Gauge({
    name: 'rollcall_ledger_lag_entries',
    help: 'Entries of the ledger that are not in ClickHouse yet.',
    registers: [registry],
    async collect() {
      // Without PostgreSQL it is not known, and a scraper takes NaN for that.
      this.set(await countUnsynced().catch(() => Number.NaN));
    },
  });
}
