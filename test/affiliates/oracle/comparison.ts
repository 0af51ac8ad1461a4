import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomRuns, testSeed as seed } from '../../harness/kit/random-runs.ts';
import { longDeadlineMs } from '../../run/deadline.ts';
import { Undecided } from './door.ts';
import { type History, history } from './history.ts';
import { live, openStage, type Stage, shrink } from './run.ts';

/** Histories that share a drain and a shipment. */
const AT_ONCE = 40;

/** What the app said and what the oracle, where they were compared. */
function differenceOf(failure: Error): string {
  const { actual, expected } = { actual: undefined, expected: undefined, ...failure };
  return `${failure.stack}\napp:    ${JSON.stringify(actual)}\noracle: ${JSON.stringify(expected)}`;
}

/** How the app and the oracle parted, and the shortest history found on which they do so again. */
async function explain(stage: Stage, failed: History, failure: Error): Promise<string> {
  const least = await shrink(stage, failed);
  const [again] = await live(stage, [least]);
  const rest = again ? differenceOf(again) : 'It did not fail again: something happened at once, or took too long.';
  return `${differenceOf(failure)}\n\n${rest}\n${JSON.stringify(least)}`;
}

/** A test that lives random histories, and compares each figure of the app with the oracle's. */
export function compareWithOracle(defaultHistories: number): void {
  const histories = randomRuns(defaultHistories);
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage?.close());

  it(
    `figures are the oracle's to the minor unit: ${histories} histories, seed ${seed}`,
    async () => {
      const all = fc.sample(history, { seed, numRuns: histories });
      for (let first = 0; first < all.length; first += AT_ONCE) {
        const some = all.slice(first, first + AT_ONCE);
        const failures = await live(stage, some);
        const undecided = failures.filter((failure) => failure instanceof Undecided).length;
        expect(undecided, 'histories in which the machine stood still').toBeLessThanOrEqual(some.length / 2);
        for (const [i, failure] of failures.entries()) {
          const failed = some[i];
          if (!failure || !failed || failure instanceof Undecided) continue;
          const count = failures.filter(Boolean).length;
          expect.fail(
            `${count} of histories ${first} to ${first + some.length}: ${await explain(stage, failed, failure)}`,
          );
        }
      }
    },
    Math.max(longDeadlineMs, histories * 1_000),
  );
}
