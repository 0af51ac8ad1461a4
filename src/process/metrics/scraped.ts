import { Gauge } from 'prom-client';
import type { Metrics } from '../../values/metrics.ts';
import { within } from '../../values/within.ts';

/** An engine that hangs must not keep the other figures from being scraped. */
const ANSWERED_WITHIN_MS = 1_000;

/** Declares one gauge; its values are set by `report`, from what was read for this scrape. */
export type Declare<Facts> = <Label extends string>(
  name: string,
  help: string,
  labelNames: Label[],
  report: (gauge: Gauge<Label>, facts: Facts) => void,
) => void;

/**
 * Figures that an engine holds, read at a scrape. All gauges of one engine show the same moment, which is kept for
 * `keptMs`. A figure that an engine does not report is absent.
 */
export function openScraped<Facts>({ registry }: Metrics, read: () => Promise<Facts>, keptMs = 0): Declare<Facts> {
  let requested: Promise<Facts | undefined> | undefined;
  let requestedAtMs = Number.NEGATIVE_INFINITY;
  let isAnswered = false;
  const facts = () => {
    const nowMs = performance.now();
    if (requested && !(isAnswered && nowMs - requestedAtMs >= keptMs)) return requested;
    requestedAtMs = nowMs;
    isAnswered = false;
    requested = within(ANSWERED_WITHIN_MS, read())
      .catch(() => undefined)
      .finally(() => {
        isAnswered = true;
      });
    return requested;
  };
  return (name, help, labelNames, report) => {
    new Gauge({
      ...{ name, help, labelNames, registers: [registry] },
      async collect() {
        const known = await facts();
        this.reset();
        // Without labels a reset gauge is 0, which is not what is meant.
        if (known) report(this, known);
        else if (labelNames.length === 0) this.set(Number.NaN);
      },
    });
  };
}
