import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/harness/longest-first.ts';

/** Long random runs and sweeps over every page: `npm run test:long`. */
const LONG = 'test/**/*.long.test.ts';
/** Files that replace modules, or that need a process whose clock no sandbox has put ahead. */
const ALONE = ['test/api/slow-requests.test.ts', 'test/stores/store-bounds.test.ts'];

const PATIENCE = { testTimeout: 60_000, hookTimeout: 180_000 };

export default defineConfig({
  test: {
    globalSetup: ['test/harness/engines.ts'],
    // Tests wait for engines half of the time: on two cores a single worker leaves one idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongestFirst },
    reporters: [['default', { summary: false }], './test/harness/summary.ts'],
    projects: [
      { test: { ...PATIENCE, name: 'alone', include: ALONE } },
      // Files of one worker share what they import: evaluating it again for each took a third of the CPU.
      {
        test: { ...PATIENCE, name: 'short', include: ['test/**/*.test.ts'], exclude: [LONG, ...ALONE], isolate: false },
      },
      { test: { ...PATIENCE, name: 'long', include: [LONG], isolate: false } },
    ],
  },
});
