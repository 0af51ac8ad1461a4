import { Gauge } from 'prom-client';
import type { Metrics } from '../../kit/values/metrics.ts';
import { within } from '../../kit/values/within.ts';

/** A hanging engine must not prevent other metrics from being scraped. */
const ANSWERED_WITHIN_MS = 1_000;

/** Declares one gauge, whose values `report` sets from what was read for this scrape. */
export type Declare<Facts> = <Label extends string>(
  name: string,
  help: string,
  labelNames: Label[],
  report: (gauge: Gauge<Label>, facts: Facts) => void,
) => void;

/**
 * Metrics that are read from an engine at a scrape. All gauges of one engine show the same moment, which is reused for
 * `keptMs`. A value that an engine does not report is absent.
 */
export function openScraped<Facts>({ registry }: Metrics, read: () => Promise<Facts>, keptMs = 0): Declare<Facts> {
  let requestedFacts: Promise<Facts | undefined> | undefined;
  let requestedAtMs = Number.NEGATIVE_INFINITY;
  let isAnswered = false;
  const facts = () => {
    const nowMs = performance.now();
    if (requestedFacts && !(isAnswered && nowMs - requestedAtMs >= keptMs)) return requestedFacts;
    requestedAtMs = nowMs;
    isAnswered = false;
    requestedFacts = within(ANSWERED_WITHIN_MS, read())
      .catch(() => undefined)
      .finally(() => {
        isAnswered = true;
      });
    return requestedFacts;
  };
  return (name, help, labelNames, report) => {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const currentFacts = await facts();
        this.reset();
        // A reset gauge without labels would be 0, which is wrong for an unknown value.
        if (currentFacts) report(this, currentFacts);
        else if (labelNames.length === 0) this.set(Number.NaN);
      },
    });
  };
}
