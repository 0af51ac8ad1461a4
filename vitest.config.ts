import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/harness/longest-first.ts';

/** Long random runs and sweeps over every page: `npm run test:long`. */
const LONG = 'test/**/*.long.test.ts';
/** Several nodes of one engine in each file: `npm run test:cluster`. */
const CLUSTER = 'test/cluster/*.test.ts';
/** Files that replace modules, measure CPU time, or read what a process keeps for itself: its clock, its prepared statements. */
const ALONE = [
  'test/api/prepared.test.ts',
  'test/api/slow-requests.test.ts',
  'test/stores/store-bounds.test.ts',
  'test/workflow/contact-guard.test.ts',
];

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
        test: {
          ...PATIENCE,
          name: 'short',
          include: ['test/**/*.test.ts'],
          exclude: [LONG, CLUSTER, ...ALONE],
          isolate: false,
        },
      },
      { test: { ...PATIENCE, name: 'long', include: [LONG], isolate: false } },
      { test: { ...PATIENCE, name: 'cluster', include: [CLUSTER], fileParallelism: false } },
    ],
  },
});
