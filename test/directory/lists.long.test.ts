import { expect, test } from 'vitest';
import { randomRuns, testSeed as SEED } from '../harness/kit/random-runs.ts';
import { longDeadlineMs } from '../run/deadline.ts';
import { openListCases } from './list-cases.ts';

const COUNT = randomRuns(500);
const AT_ONCE = 8;

test(
  'random searches with lists find the difference of the sets, in order and with its exact total',
  async () => {
    const cases = await openListCases(4_000, SEED);
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
