/** A quotient of amounts that are not negative, rounded to the nearest integer and halves to the even one. */
export function divideHalfToEven(dividend: bigint, divisor: bigint): number {
  const quotient = dividend / divisor;
  const twice = (dividend % divisor) * 2n;
  const isUp = twice > divisor || (twice === divisor && quotient % 2n === 1n);
  return Number(isUp ? quotient + 1n : quotient);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

interface Portion {
  place: number;
  whole: number;
  remainder: bigint;
}

/**
 * Divides an amount in proportion to weights by the largest remainder; of equal ones the earlier gets the unit. The shares
 * always add up to `total`, and while `total` is at most the sum of the weights, none exceeds its own weight.
 */
export function allocateShares(total: number, weights: readonly number[]): number[] {
  const all = sum(weights);
  if (total === all) return [...weights];
  if (all === 0) return weights.map(() => 0);
  const shares = weights.map((weight, place): Portion => {
    const product = BigInt(total) * BigInt(weight);
    return { place, whole: Number(product / BigInt(all)), remainder: product % BigInt(all) };
  });
  const units = total - sum(shares.map(({ whole }) => whole));
  const largest = shares.toSorted((a, b) => Number(b.remainder - a.remainder) || a.place - b.place).slice(0, units);
  for (const share of largest) share.whole += 1;
  return shares.map(({ whole }) => whole);
}
