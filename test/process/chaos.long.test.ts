import { beforeAll, expect, it } from 'vitest';
import { runChaos } from '../chaos/run.ts';
import { builtClient } from '../harness/kit/offered.ts';
import { testSeed } from '../harness/kit/random-runs.ts';
import { longDeadlineMs } from '../run/deadline.ts';

// The API's first start would build it, and be late.
beforeAll(async () => void (await builtClient()));

it(
  `Acknowledged work is counted exactly once and reported to its webhooks, whatever is killed: 3 of ${'`npm run chaos`'}'s rounds, seed ${testSeed}`,
  async () => {
    const said: string[] = [];
    const report = (line: string) => void said.push(line);
    const outcome = await runChaos({ rounds: 3, seed: testSeed, dataName: `test-${process.pid}-chaos`, report });
    expect(outcome.differences, [...said, ...outcome.differences].join('\n')).toEqual([]);
    expect(outcome.clicks.acknowledged.size).toBeGreaterThan(200);
    expect(outcome.orders.taken.length).toBeGreaterThan(20);
    expect(outcome.foundHooks.events).toBeGreaterThan(20);
  },
  longDeadlineMs,
);
