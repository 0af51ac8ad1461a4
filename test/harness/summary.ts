import { writeSync } from 'node:fs';
import path from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** What failed, and what was said of it. */
interface Failure {
  what: string;
  said: readonly string[];
}

const MOST_LINES = 12;
const MOST_FAILURES = 50;

const textOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);

function countModule(module: TestModule, counts: Counts, failures: Failure[]): void {
  const file = path.relative(process.cwd(), module.moduleId);
  const fail = (what: string, errors: readonly unknown[]) => {
    counts.failed += 1;
    failures.push({ what, said: errors.map(textOf) });
  };
  // A file that does not load, or a hook that throws, is a failure that no test shows.
  if (module.errors().length > 0) fail(file, module.errors());
  for (const suite of module.children.allSuites()) {
    if (suite.errors().length > 0) fail(`${file} > ${suite.fullName}`, suite.errors());
  }
  for (const test of module.children.allTests()) {
    const { state, errors = [] } = test.result();
    if (state === 'passed') counts.passed += 1;
    else if (state === 'skipped') counts.skipped += 1;
    else fail(`${file} > ${test.fullName}`, errors);
  }
}

/** As `npm run check` reports: a line that begins with FAILED, and what was said of it below, set in. */
function shownFailure({ what, said }: Failure): string {
  const lines = said.flatMap((text) => text.split('\n')).filter((line) => line.trim() !== '');
  const more = lines.length > MOST_LINES ? [`and ${lines.length - MOST_LINES} lines more, above`] : [];
  return [`FAILED ${what}`, ...[...lines.slice(0, MOST_LINES), ...more].map((line) => `         ${line}`)].join('\n');
}

/**
 * Prints what failed, each with its file, name and message, after every other report, and `N passed, N failed[, N skipped]`
 * as the very last line of the run.
 */
export default class Summary implements Reporter {
  private counts: Counts = { passed: 0, failed: 0, skipped: 0 };

  onInit(): void {
    process.once('exit', (exitCode) => {
      const { passed, failed, skipped } = this.counts;
      // Engines that do not start fail the run before any test is counted.
      const isBroken = exitCode !== 0 && failed === 0;
      const broken = isBroken ? 'FAILED the run itself, outside of any test: what stands above says why\n' : '';
      const counted = `${passed} passed, ${isBroken ? 1 : failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`;
      writeSync(1, broken + counted);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const failures = unhandledErrors.map((error): Failure => ({ what: 'outside of any test', said: [textOf(error)] }));
    for (const module of modules) countModule(module, this.counts, failures);
    const unshown = failures.length - MOST_FAILURES;
    const more = unshown > 0 ? [`FAILED ${unshown} more, above`] : [];
    const shown = [...failures.slice(0, MOST_FAILURES).map(shownFailure), ...more];
    if (shown.length === 0) return;
    process.stdout.write(
      `\n${shown.join('\n')}\nWith TEST_SEED=${process.env.TEST_SEED}, the same random values are tested again.\n`,
    );
  }
}
