import type { Earning } from './simulated-order.ts';
import type { SimulationProgress } from './simulations.shapes.ts';

/** The earnings of an order under the recorded and the simulated rules. */
interface EarningComparison {
  row: { currency: string };
  now: Earning | undefined;
  after: Earning | undefined;
}

export type SimulationSums = SimulationProgress['sums'][number];

const NO_SUMS = {
  orders_now: 0,
  orders_simulated: 0,
  commission_now_minor: 0,
  commission_simulated_minor: 0,
  in_review_now_minor: 0,
  in_review_simulated_minor: 0,
};

const toKey = ({ creatorId, currency }: Pick<SimulationSums, 'creatorId' | 'currency'>) => `${currency} ${creatorId}`;

/** Sums by creator and currency. */
export class Tally {
  readonly #sums = new Map<string, SimulationSums>();
  readonly #at: Date;

  constructor(at: Date, before: readonly SimulationSums[]) {
    this.#at = at;
    for (const sums of before) this.#sums.set(toKey(sums), { ...sums });
  }

  add({ row: { currency }, now, after }: EarningComparison): void {
    if (now) this.#addTo(now, currency, 'now');
    if (after) this.#addTo(after, currency, 'simulated');
  }

  #addTo({ creatorId, minor, holdEndsAt }: Earning, currency: string, side: 'now' | 'simulated'): void {
    const key = toKey({ creatorId, currency });
    const sums = this.#sums.get(key) ?? { ...NO_SUMS, creatorId, currency };
    sums[`orders_${side}` as const] += 1;
    sums[`commission_${side}_minor` as const] += minor;
    if (holdEndsAt && holdEndsAt > this.#at) sums[`in_review_${side}_minor` as const] += minor;
    this.#sums.set(key, sums);
  }

  /** Sorted by the change of the commission, largest first. */
  get rows(): SimulationSums[] {
    const change = (sums: SimulationSums) => Math.abs(sums.commission_simulated_minor - sums.commission_now_minor);
    return [...this.#sums.values()].sort(
      (a, b) => change(b) - change(a) || (`${a.creatorId}${a.currency}` < `${b.creatorId}${b.currency}` ? -1 : 1),
    );
  }
}

export function sumByCurrency(rows: readonly SimulationSums[]) {
  const totals = new Map<string, typeof NO_SUMS>();
  for (const { creatorId: _creator, currency, ...sums } of rows) {
    const total = totals.get(currency) ?? NO_SUMS;
    totals.set(currency, {
      orders_now: total.orders_now + sums.orders_now,
      orders_simulated: total.orders_simulated + sums.orders_simulated,
      commission_now_minor: total.commission_now_minor + sums.commission_now_minor,
      commission_simulated_minor: total.commission_simulated_minor + sums.commission_simulated_minor,
      in_review_now_minor: total.in_review_now_minor + sums.in_review_now_minor,
      in_review_simulated_minor: total.in_review_simulated_minor + sums.in_review_simulated_minor,
    });
  }
  return [...totals].sort(([a], [b]) => (a < b ? -1 : 1)).map(([currency, sums]) => ({ currency, ...sums }));
}
