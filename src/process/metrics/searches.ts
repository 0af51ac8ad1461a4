import { Counter, Gauge } from 'prom-client';
import type { Admission } from '../../directory/search/admission.ts';
import type { Metrics } from '../../kit/values/metrics.ts';

/** Measures how many searches this process has under way, how many it may, and how many it refused. */
export function meterSearches({ registry }: Metrics, { figures }: Admission): void {
  new Gauge({
    name: 'rollcall_searches_limit',
    help: 'Searches that this process may have under way now, as measured latency allows.',
    registers: [registry],
    collect() {
      this.set(figures().limit);
    },
  });
  new Gauge({
    name: 'rollcall_searches',
    help: 'Searches of this process that are under way, and those that wait for a place.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { underWay, waiting } = figures();
      this.set({ state: 'under_way' }, underWay);
      this.set({ state: 'waiting' }, waiting);
    },
  });
  new Counter({
    name: 'rollcall_searches_refused_total',
    help: 'Searches that this process refused, because more arrived than could be answered.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(figures().refused);
    },
  });
}
