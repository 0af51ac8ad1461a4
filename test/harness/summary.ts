import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

function countModule(module: TestModule, counts: Counts): void {
  // A file that does not load, or a hook that throws, is a failure that no test shows.
  if (module.errors().length > 0) counts.failed += 1;
  for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed += 1;
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    if (state === 'passed') counts.passed += 1;
    else if (state === 'skipped') counts.skipped += 1;
    else counts.failed += 1;
  }
}

/** Prints `N passed, N failed[, N skipped]` as the very last line, after every other output of the run. */
export default class Summary implements Reporter {
  private counts: Counts = { passed: 0, failed: 0, skipped: 0 };

  onInit(): void {
    process.once('exit', (exitCode) => {
      const { passed, failed, skipped } = this.counts;
      // Engines that do not start fail the run before any test is counted.
      const shown = exitCode === 0 ? failed : Math.max(failed, 1);
      writeSync(1, `${passed} passed, ${shown} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) countModule(module, this.counts);
  }
}
