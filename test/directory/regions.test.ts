import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cover,
  cutByPks,
  cutByValues,
  type Level,
  MAX_REGION,
  nextUp,
  type RegionBounds,
  toLevel,
} from '../../src/directory/search/regions.ts';

interface Row {
  value: number | null;
  pk: number;
}

const within = (row: Row, { gte, lt, missing, pkGte, pkLt }: RegionBounds): boolean =>
  (missing ? row.value === null : row.value !== null) &&
  (gte === undefined || (row.value !== null && row.value >= gte)) &&
  (lt === undefined || (row.value !== null && row.value < lt)) &&
  (pkGte === undefined || row.pk >= pkGte) &&
  (pkLt === undefined || row.pk < pkLt);

/** The order the API promises. */
function inOrder(a: Row, b: Row): number {
  if (a.value !== b.value) return a.value === null ? 1 : b.value === null ? -1 : b.value - a.value;
  return a.pk - b.pk;
}

const count = (rows: readonly Row[], regions: readonly RegionBounds[]): Level =>
  toLevel(
    regions,
    regions.map((region) => rows.filter((row) => within(row, region)).length),
  );

/** What the engine does for `refine`, on rows in memory and with few, badly chosen cuts. */
function refineOver(rows: readonly Row[]) {
  return async (region: RegionBounds): Promise<Level> => {
    const inside = rows.filter((row) => within(row, region));
    const values = inside.flatMap(({ value }) => (value === null ? [] : [value]));
    const least = Math.min(...values);
    const most = Math.max(...values);
    const regions =
      values.length > 0 && least < most
        ? cutByValues([(least + most) / 2, nextUp(least)], region)
        : cutByPks([inside.reduce((sum, row) => sum + row.pk, 0) / inside.length], region);
    return count(inside, regions);
  };
}

describe('pages by regions', () => {
  it('isolate one double with nextUp', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, max: 1e300, min: -1e300 }), (value) => {
        const next = nextUp(value);
        expect(next).toBeGreaterThan(value);
        const middle = value + (next - value) / 2;
        expect(middle === value || middle === next).toBe(true);
      }),
    );
  });

  it('cut the whole order without a gap or an overlap', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 50 })),
        fc.array(fc.integer({ min: 0, max: 60 })),
        (cuts, values) => {
          const regions: RegionBounds[] = [...cutByValues(cuts), { missing: true }];
          for (const value of [...values, null]) {
            const matching = regions.filter((region) =>
              region.missing
                ? value === null
                : value !== null &&
                  (region.gte === undefined || value >= region.gte) &&
                  (region.lt === undefined || value < region.lt),
            );
            expect(matching).toHaveLength(1);
          }
        },
      ),
    );
  });

  it('give the same page as sorting everything, even inside ties and among missing values', async () => {
    const row = fc.record({
      value: fc.oneof(fc.constant(7), fc.constant(null), fc.integer({ min: 0, max: 20 })),
      pk: fc.integer({ min: 0, max: 1_000_000 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(row, { selector: ({ pk }) => pk, minLength: 1, maxLength: 60 }),
        fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 5 }),
        fc.integer({ min: 0, max: 30_000 }),
        async (few, cuts, start) => {
          // Each row stands for many, so that regions pass MAX_REGION and must be cut.
          const rows = few.flatMap(({ value, pk }) =>
            Array.from({ length: 500 }, (_, i) => ({ value, pk: pk * 500 + i })),
          );
          const level = count(rows, [...cutByValues(cuts), { missing: true }]);
          const { regions, from } = await cover(level, start, start + 100, refineOver(rows));
          const found = rows.filter((candidate) => regions.some((region) => within(candidate, region))).sort(inOrder);
          expect(from).toBeLessThan(MAX_REGION);
          expect(found.slice(from, from + 100)).toEqual([...rows].sort(inOrder).slice(start, start + 100));
        },
      ),
      { numRuns: 40 },
    );
  });
});
