import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/harness/engines.ts'],
    // Tests wait for engines half of the time: on two cores a single worker leaves one idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 180_000,
    reporters: [['default', { summary: false }], './test/harness/summary.ts'],
  },
});
