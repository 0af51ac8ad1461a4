import path from 'node:path';
import type { SerializedError, TestCase, TestModule, TestSpecification, TestSuite } from 'vitest/node';

/** A test that failed, or a hook or a file that did, and the messages. */
export interface Failure {
  kind: 'test' | 'hook' | 'file';
  /** Empty for the file itself. */
  title: string;
  said: readonly string[];
}

/** The result of a file in one run of it. */
export interface Outcome {
  file: string;
  passed: readonly string[];
  skipped: number;
  failures: readonly Failure[];
}

/** The result of a file that was run again because it failed. */
export interface Verdict extends Outcome {
  /** Failures of the first run that the second run did not have. */
  flaky: readonly Failure[];
}

export const textOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);

export const relativePath = (file: string): string => path.relative(process.cwd(), file);

/** The names of the test and of the suites around it. */
export function titleOf(entity: TestCase | TestSuite): string {
  const { parent } = entity;
  return parent.type === 'module' ? entity.name : `${titleOf(parent)} › ${entity.name}`;
}

function collectFailures(module: TestModule): Failure[] {
  const failures: Failure[] = [];
  if (module.errors().length > 0) failures.push({ kind: 'file', title: '', said: module.errors().map(textOf) });
  for (const suite of module.children.allSuites()) {
    if (suite.errors().length > 0)
      failures.push({ kind: 'hook', title: titleOf(suite), said: suite.errors().map(textOf) });
  }
  for (const test of module.children.allTests('failed')) {
    failures.push({ kind: 'test', title: titleOf(test), said: (test.result().errors ?? []).map(textOf) });
  }
  return failures;
}

/** A rejection is thrown in the file that its stack names, which may be the one before the file that ran at the time. */
function isFrom(error: SerializedError, file: string, testFiles: ReadonlySet<string>): boolean {
  const frames: { file?: string }[] = Array.isArray(error.stacks) ? error.stacks : [];
  const named = frames.find((frame) => frame.file !== undefined && testFiles.has(frame.file))?.file;
  return (named ?? error.VITEST_TEST_PATH) === file || textOf(error.cause).endsWith(` ${file}`);
}

/**
 * The result of each file, with the errors that happened outside of its tests: a rejection that nobody handled, a worker
 * that was killed. `nobodys` are the errors that belong to no file.
 */
export function readOutcomes(
  specifications: readonly TestSpecification[],
  errors: readonly SerializedError[],
): { outcomes: Outcome[]; nobodys: string[] } {
  const testFiles = new Set(specifications.map(({ moduleId }) => moduleId));
  const unclaimed = new Set(errors);
  const outcomes = specifications.map(({ moduleId, testModule }): Outcome => {
    const failures = testModule ? collectFailures(testModule) : [];
    const own = errors.filter((error) => isFrom(error, moduleId, testFiles));
    for (const error of own) {
      unclaimed.delete(error);
      const cause = error.cause === undefined ? [] : [textOf(error.cause)];
      failures.push({ kind: 'file', title: 'outside of any test', said: [textOf(error), ...cause] });
    }
    const hasEnded = testModule !== undefined && !['queued', 'pending'].includes(testModule.state());
    if (!hasEnded && own.length === 0)
      failures.push({ kind: 'file', title: '', said: ['The file did not run to its end.'] });
    return {
      file: relativePath(moduleId),
      passed: testModule ? [...testModule.children.allTests('passed')].map(titleOf) : [],
      skipped: testModule ? [...testModule.children.allTests('skipped')].length : 0,
      failures,
    };
  });
  return { outcomes, nobodys: [...unclaimed].map(textOf) };
}

/**
 * Judges a file by its second run. A failure of the first is flaky if its test passed now; that of a hook or of the file,
 * if it is gone. One whose test did not run again still counts.
 */
export function judge(first: Outcome, again: Outcome): Verdict {
  const passed = new Set(again.passed);
  const failed = new Set(again.failures.map(({ title }) => title));
  const isUp = !again.failures.some(({ kind }) => kind === 'file');
  const isFlaky = ({ kind, title }: Failure) => (kind === 'test' ? passed.has(title) : isUp && !failed.has(title));
  const flaky = first.failures.filter(isFlaky);
  const unanswered = first.failures.filter((failure) => !isFlaky(failure) && !failed.has(failure.title));
  const flakyTitles = new Set(flaky.map(({ title }) => title));
  return {
    ...again,
    passed: again.passed.filter((title) => !flakyTitles.has(title)),
    failures: [...again.failures, ...unanswered],
    flaky,
  };
}
