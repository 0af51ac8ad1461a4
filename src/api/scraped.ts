import { Gauge } from 'prom-client';
import { within } from '../values/within.ts';
import type { Metrics } from './metrics.ts';

/** An engine that hangs must not keep the other figures from being scraped. */
const ASKED_WITHIN_MS = 1_000;

/** Declares one gauge; its values are told by `tell`, from what was read for this scrape. */
export type Declare<Facts> = <Label extends string>(
  name: string,
  help: string,
  labelNames: Label[],
  tell: (gauge: Gauge<Label>, facts: Facts) => void,
) => void;

/**
 * Figures that lie in an engine, asked for at a scrape: all gauges of one say the same moment, which is kept for `keptMs`.
 * What an engine does not tell is absent.
 */
export function openScraped<Facts>({ registry }: Metrics, read: () => Promise<Facts>, keptMs = 0): Declare<Facts> {
  let asked: Promise<Facts | undefined> | undefined;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let isAnswered = false;
  const facts = () => {
    const nowMs = performance.now();
    if (asked && !(isAnswered && nowMs - askedAtMs >= keptMs)) return asked;
    askedAtMs = nowMs;
    isAnswered = false;
    asked = within(ASKED_WITHIN_MS, read())
      .catch(() => undefined)
      .finally(() => {
        isAnswered = true;
      });
    return asked;
  };
  return (name, help, labelNames, tell) => {
    new Gauge({
      ...{ name, help, labelNames, registers: [registry] },
      async collect() {
        const known = await facts();
        this.reset();
        // Without labels a reset gauge is 0, which is not what is meant.
        if (known) tell(this, known);
        else if (labelNames.length === 0) this.set(Number.NaN);
      },
    });
  };
}
