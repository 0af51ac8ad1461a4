import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/harness/engines.ts'],
    testTimeout: 60_000,
    hookTimeout: 180_000,
    reporters: [['default', { summary: false }], './test/harness/summary.ts'],
  },
});
