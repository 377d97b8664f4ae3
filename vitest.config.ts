import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));

/** The example imports the package by its public name; tests run it on the sources. */
const alias = {
  'tidemark/node': source('node.ts'),
  'tidemark/poke': source('poke.ts'),
  tidemark: source('index.ts'),
};

const setupFiles = ['test/worker.ts'];
const clientTests = 'test/conformance/client/**/*.test.ts';
const browserTests = 'test/browser/**/*.test.ts';

/** The files of a worker share their modules, which take long to load. */
const serverProject = {
  resolve: { alias },
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
const clientProject = (mode: 'production' | 'development') => ({
  resolve: { alias },
  test: {
    name: `client, ${mode}`,
    setupFiles,
    include: [clientTests],
    env: { NODE_ENV: mode },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

/** The example as it is delivered, in a real browser, which gets the machine for itself. */
const browserProject = {
  test: {
    name: 'browser',
    setupFiles,
    include: [browserTests],
    globalSetup: ['test/browser/setup.ts'],
    maxWorkers: 1,
    sequence: { groupOrder: 1 },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000, interval: 50 } },
  },
};

/** What takes long: random histories, broken copies, kills. Each keeps the machine busy by itself. */
const trialsProject = {
  resolve: { alias },
  test: {
    name: 'trials',
    setupFiles,
    include: ['test/**/*.trial.ts'],
    maxWorkers: 1,
    sequence: { groupOrder: 2 },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
};

export default defineConfig({
  test: {
    globalSetup: ['test/clusters.ts'],
    maxWorkers: 2,
    projects: [serverProject, clientProject('production'), clientProject('development'), browserProject, trialsProject],
  },
});
