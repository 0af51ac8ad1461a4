import { describe, expect, it } from 'vitest';
import { distinctNumbers } from '../../src/directory/imports/indexing/distinct-numbers.ts';

/** Numbers that repeat, of which some are above 32 bits. */
function* numbers(different: number): Generator<number> {
  for (const round of [1, 2]) {
    for (let i = 0; i < different; i += round) yield i % 3 === 0 ? i * 2 ** 30 : i;
  }
}

describe('The count of different pks in an import', () => {
  // 64 slices of 2,048 slots: the second size does not fit into memory.
  it.each([100_000, 400_000])('is exact for %i of them, in memory or on the disk', (different) => {
    const found = distinctNumbers(1 << 11);
    const expected = new Set<number>();
    for (const value of numbers(different)) {
      found.add(value);
      expected.add(value);
    }
    expect(found.count()).toBe(expected.size);
    found.close();
  });
});
