import { expect, test } from 'vitest';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';
import { openBoundCases } from './bound-cases.ts';

const AT_ONCE = 2;

test('a bound key gets in 400 random requests what a free key gets on an index of its creators alone', async () => {
  const cases = await openBoundCases(1_500, testSeed);
  try {
    const share = Math.ceil(randomRuns(400) / AT_ONCE);
    const runs = Array.from({ length: AT_ONCE }, (_, i) => cases.differences(share, testSeed + i));
    expect((await Promise.all(runs)).flat().slice(0, 5)).toEqual([]);
    const [remaining, remainingFree] = await cases.spent();
    expect(remaining).toBe(remainingFree);
  } finally {
    await cases.close();
  }
}, 1_200_000);
