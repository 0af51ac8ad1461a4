import { randomInt } from 'node:crypto';

process.env.TEST_SEED ??= String(randomInt(2 ** 31));

/** The seed of all random tests: a new one in each run, unless `TEST_SEED` repeats an earlier one. */
export const testSeed = Number(process.env.TEST_SEED);

/**
 * How many random runs a test makes: fewer in `npm test` than in a run of the long tests, which have the same file, or
 * as many as asked for: `RANDOM_RUNS=2000 npx vitest run test/affiliates/oracle.long.test.ts`.
 */
export const randomRuns = (few: number, many = few): number =>
  Number(process.env.RANDOM_RUNS || (process.env.TEST_LENGTH === 'long' ? many : few));
