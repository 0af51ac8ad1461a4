import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { deadlineMs, longDeadlineMs } from './test/run/deadline.ts';
import { LongestFirst } from './test/run/longest-first.ts';
// Draws the seed, once for all workers.
import './test/harness/kit/random-runs.ts';

/** Long random runs and sweeps over every page: `npm run test:long`. */
const LONG = 'test/**/*.long.test.ts';
/** Random values: few of them with the short tests, and many with the long ones. */
const RANDOM = 'test/**/*.random.test.ts';
/** Several nodes of one engine in each file: `npm run test:cluster`. */
const CLUSTER = 'test/cluster/*.test.ts';
/** Files that replace modules, measure CPU time, or read what a process keeps for itself: its clock, its prepared statements. */
const ALONE = [
  'test/kit/engines/prepared.test.ts',
  'test/interfaces/http/slow-requests.test.ts',
  'test/affiliates/stores/store-bounds.test.ts',
  'test/workflow/contact-guard.test.ts',
];

/** Only tests that hang reach these limits, after a condition that they wait for has reached the run's deadline. */
const PATIENCE = {
  testTimeout: 2 * deadlineMs,
  hookTimeout: 2 * deadlineMs,
  expect: { poll: { timeout: deadlineMs, interval: 200 } },
};
/** Nodes of an engine start, stop and copy each other. */
const CLUSTER_PATIENCE = { testTimeout: longDeadlineMs, hookTimeout: longDeadlineMs };

const SETUP = { setupFiles: ['test/harness/setup.ts'] };

export default defineConfig({
  test: {
    globalSetup: ['test/harness/engines.ts'],
    // Tests wait for engines, some for a time limit: two workers leave two cores idle at times.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    sequence: { sequencer: LongestFirst },
    reporters: [['default', { summary: false }], './test/run/summary.ts'],
    projects: [
      { test: { ...PATIENCE, ...SETUP, name: 'alone', include: ALONE } },
      // Files of one worker share what they import: evaluating it again for each took a third of the CPU.
      {
        test: {
          ...PATIENCE,
          ...SETUP,
          name: 'short',
          include: ['test/**/*.test.ts'],
          exclude: [LONG, CLUSTER, ...ALONE],
          isolate: false,
        },
      },
      {
        test: {
          ...PATIENCE,
          ...SETUP,
          name: 'long',
          include: [LONG, RANDOM],
          env: { TEST_LENGTH: 'long' },
          isolate: false,
        },
      },
      // Two at a time: Elasticsearch's nodes are busy while those of Redis and PostgreSQL wait for each other.
      { test: { ...CLUSTER_PATIENCE, name: 'cluster', include: [CLUSTER], maxWorkers: 2 } },
    ],
  },
});
