import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/scratch-cluster.ts'],
    testTimeout: 30_000,
  },
});
