/** A row as it was sent, for comparison with what is stored. */
export interface SampledRow {
  pk: number;
  version: number;
  document: string;
}

/** Twice the number to compare, because a later row with the same `pk` may replace a sampled one. */
const SIZE = 400;
const SEED = 0x2545f491;

/** A whole number below `limit` that depends only on `n`, so that a resumed import draws the same rows. */
function draw(n: number, limit: number): number {
  let mixedBits = Math.imul(n ^ SEED, 0x9e3779b1);
  mixedBits = Math.imul(mixedBits ^ (mixedBits >>> 16), 0x85ebca6b);
  return ((mixedBits ^ (mixedBits >>> 13)) >>> 0) % limit;
}

/** Keeps a fair sample of rows numbered from 1, however many there are, in a fixed number of places. */
export function createSampler<T = SampledRow>(
  size = SIZE,
): {
  wants(n: number): boolean;
  offer(n: number, row: T): void;
  taken(): T[];
} {
  const rows: T[] = [];
  const choosePlace = (n: number) => (n <= size ? n - 1 : draw(n, n));
  return {
    wants: (n) => choosePlace(n) < size,
    offer: (n, row) => {
      const place = choosePlace(n);
      if (place < size) rows[place] = row;
    },
    taken: () => rows,
  };
}
