import { expect, test } from 'vitest';
import { randomRuns, testSeed as SEED } from '../harness/kit/random-runs.ts';
import { longDeadlineMs } from '../run/deadline.ts';
import { openCases } from './search-cases.ts';

const COUNT = randomRuns(500);
const AT_ONCE = 8;

test(
  'random searches over every filter and order find what the oracle finds',
  async () => {
    const cases = await openCases(4_000, SEED);
    try {
      const share = Math.ceil(COUNT / AT_ONCE);
      const runs = Array.from({ length: AT_ONCE }, (_, i) => cases.differences(share, SEED + i));
      expect((await Promise.all(runs)).flat()).toEqual([]);
    } finally {
      await cases.close();
    }
  },
  longDeadlineMs,
);
