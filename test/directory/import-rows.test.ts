import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkRecord } from '../../src/directory/imports/indexing/rows.ts';
import { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';

const Row = DirectoryCreatorDetail.partial().required({ pk: true, username: true });

/** Texts at a limit, also of characters that are two UTF-16 units. */
const nearLimit = fc
  .tuple(fc.constantFrom(1, 50, 200, 320, 500, 2_000), fc.integer({ min: -1, max: 1 }), fc.constantFrom('a', 'é', '🌱'))
  .map(([limit, more, character]) => character.repeat(Math.ceil((limit + more) / character.length)));
const number = fc.oneof(
  fc.constantFrom(0, -0, -1, 0.5, 1e21, 150, 151, 1_000_000, 1_000_001, 2 ** 53 - 1, 2 ** 53, -1.5),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const anything = fc.oneof(nearLimit, number, fc.constantFrom(null, true, false, '', [], {}, ['a']), fc.string());
const fitting = fc.record({ pk: fc.nat(), username: fc.string({ minLength: 1, maxLength: 200 }) });
const row = fc.tuple(
  fitting,
  fc.dictionary(fc.constantFrom(...Object.keys(Row.shape), 'unknown'), anything, { maxKeys: 4 }),
);

it('a row is accepted exactly when it has the shape of the API', () => {
  fc.assert(
    fc.property(fc.oneof(row, fc.tuple(anything, fc.constant({}))), ([base, more]) => {
      const text = JSON.stringify(
        typeof base === 'object' && base && !Array.isArray(base) ? { ...base, ...more } : base,
      );
      const value: unknown = JSON.parse(text);
      const { row: taken } = checkRecord({ file: 'rows.ndjson', line: 1, text: '', value }, new Map());
      expect(taken !== undefined, text).toBe(Row.safeParse(value).success);
      if (taken) expect(Row.parse(taken)).toEqual(Row.parse(value));
    }),
    { numRuns: 5_000 },
  );
});
