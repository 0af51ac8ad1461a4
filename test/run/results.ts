import type { Failure, Outcome, Verdict } from './outcome.ts';

/** More flaky tests than this fail the run: something is wrong that no second try should hide. */
const MOST_FLAKY = 5;
const MOST_LINES = 12;
const MOST_FAILURES = 50;

/** The result of a whole run. */
export interface Results {
  outcomes: readonly (Outcome | Verdict)[];
  /** Errors that belong to no file: of the engines' start, of Vitest itself. */
  nobodys: readonly string[];
}

const linesOf = (said: readonly string[]): string[] =>
  said.flatMap((text) => text.split('\n')).filter((line) => line.trim() !== '');

const nameOf = (file: string, { title }: Failure): string => (title === '' ? file : `${file} › ${title}`);

/** As `npm run check` reports: a line that begins with FAILED, and the messages below it, set in. */
function showFailure(name: string, said: readonly string[]): string {
  const lines = linesOf(said);
  const more = lines.length > MOST_LINES ? [`and ${lines.length - MOST_LINES} lines more, above`] : [];
  return [`FAILED ${name}`, ...[...lines.slice(0, MOST_LINES), ...more].map((line) => `         ${line}`)].join('\n');
}

/** The last lines of a run: its flaky tests, its failures, and the counts. `.ci/run` adds up the counts. */
export function showResults({ outcomes, nobodys }: Results): { text: string; failed: number } {
  const flaky = outcomes.flatMap((outcome) =>
    'flaky' in outcome
      ? outcome.flaky.map((one) => `FLAKY ${nameOf(outcome.file, one)}: ${linesOf(one.said)[0] ?? 'no message'}`)
      : [],
  );
  const failures = [
    ...nobodys.map((text) => showFailure('outside of any file', [text])),
    ...outcomes.flatMap(({ file, failures }) => failures.map((one) => showFailure(nameOf(file, one), one.said))),
  ];
  if (flaky.length > MOST_FLAKY) {
    const said = `A run may have ${MOST_FLAKY}: each failed and, when its file ran again alone, passed.`;
    failures.push(showFailure(`${flaky.length} flaky tests`, [said]));
  }
  const unshown = failures.length - MOST_FAILURES;
  const seed = `With TEST_SEED=${process.env.TEST_SEED}, the same random values are tested again.`;
  const counted = flaky.length === 1 ? '1 test is flaky' : `${flaky.length} tests are flaky`;
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed.length, 0);
  const skipped = outcomes.reduce((sum, outcome) => sum + outcome.skipped, 0);
  const text = [
    ...flaky,
    ...(flaky.length > 0 ? [`${counted}: failed once, and passed when the file ran again alone.`] : []),
    ...failures.slice(0, MOST_FAILURES),
    ...(unshown > 0 ? [`FAILED ${unshown} more, above`] : []),
    ...(failures.length + flaky.length > 0 ? [seed] : []),
    `${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
  ];
  return { text: `${text.join('\n')}\n`, failed: failures.length };
}
