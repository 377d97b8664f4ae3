import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));

/** The example imports the package by its public name; tests run it on the sources. */
const alias = {
  'tidemark/node': source('node.ts'),
  'tidemark/poke': source('poke.ts'),
  tidemark: source('index.ts'),
};

const shared = { resolve: { alias } };
const setupFiles = ['test/worker.ts'];
const clientTests = 'test/conformance/client/**/*.test.ts';
const browserTests = 'test/browser/**/*.test.ts';
const browserTrials = 'test/browser/**/*.trial.ts';

/** The files of a worker share their modules, which take long to load. */
const server = {
  ...shared,
  test: {
    name: 'server',
    setupFiles,
    include: ['test/**/*.test.ts'],
    exclude: [clientTests, browserTests],
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
};

/** The sync client checks less of what it receives in production, so its tests run both ways. */
const client = (name: string, mode: 'production' | 'development') => ({
  ...shared,
  test: {
    name,
    setupFiles,
    include: [clientTests],
    isolate: false,
    env: { NODE_ENV: mode },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

/** What keeps the machine busy by itself, which it gets once others are done. */
const alone = (name: string, include: string, groupOrder: number) => ({
  ...shared,
  test: {
    name,
    setupFiles,
    include: [include],
    maxWorkers: 1,
    sequence: { groupOrder },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

/** The example as it is delivered, in a real browser. */
const browser = (...project: Parameters<typeof alone>) => {
  const { test, ...rest } = alone(...project);
  const expect = { poll: { timeout: 20_000, interval: 50 } };
  return { ...rest, test: { ...test, globalSetup: ['test/browser/setup.ts'], expect } };
};

/** What takes long: random histories, broken copies, kills. */
const trials = alone('trials', 'test/**/*.trial.ts', 2);

export default defineConfig({
  test: {
    globalSetup: ['test/clusters.ts'],
    // One more than cores on a small machine: tests often wait.
    maxWorkers: 3,
    projects: [
      server,
      client('client', 'production'),
      browser('browser', browserTests, 1),
      { ...trials, test: { ...trials.test, exclude: [browserTrials] } },
      browser('browser trials', browserTrials, 3),
      client('client trials', 'development'),
    ],
  },
});
