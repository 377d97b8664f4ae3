import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));

/** The example imports the package by its public name; tests run it on the sources, and the client on its built engine. */
const alias = {
  '#engine': fileURLToPath(new URL('dist/client/engine.js', import.meta.url)),
  'tidemark/client': source('client.ts'),
  'tidemark/node': source('node.ts'),
  'tidemark/poke': source('poke.ts'),
  'tidemark/react': source('react.ts'),
  'tidemark/tanstack-db': source('tanstack-db.ts'),
  tidemark: source('index.ts'),
};

const shared = { resolve: { alias } };
const setupFiles = ['test/worker.ts'];
const expect = { poll: { timeout: 10_000 } };
const clientTests = 'test/conformance/client/**/*.test.ts';
const browserTests = 'test/browser/**/*.test.ts';
const browserTrials = 'test/{browser,create,hostile}/**/*.trial.ts';
const tortureTrials = 'test/torture/*.trial.ts';
/**
 * They keep both cores busy by themselves, with hundreds of clients, or with servers that start five at a time; or they find a
 * fault by pulling at the right moment, which takes many pulls.
 */
const loneTrials = [
  'test/conformance/large-pulls.trial.ts',
  'test/live/calls-killed.trial.ts',
  'test/oracle/crowd.trial.ts',
  'test/oracle/standbys.trial.ts',
];

/** The files of a worker share their modules, which take long to load. */
const server = {
  ...shared,
  test: {
    name: 'server',
    setupFiles,
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, clientTests, browserTests],
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect,
  },
};

/** What runs again through a pgbouncer in transaction mode: one file or more for each way to the database. */
const pooledTests = [
  'conformance/{client-records,pull-wire}',
  'doctor/healthy',
  'rest/{calls,idempotency,view-streams}',
  'writes/{nested-transactions,push,sessions}',
];

const pooled = {
  ...server,
  test: {
    ...server.test,
    name: 'pooled',
    include: pooledTests.map((file) => `test/${file}.test.ts`),
    env: { TIDEMARK_TEST_POOLED: 'true' },
  },
};

/** Conformance tests that run again on databases that have settings and a publication: see `test/ordinary-settings.ts`. */
const ordinaryTests = [
  'conformance/{bad-values,client-records,pull-wire,refused-mutations}',
  'conformance/client/convergence',
];
/** Relies on the actions of foreign keys, which sessions that act as a replica do not run. */
const cascadingTests = ['conformance/client/sync'];

const ordinary = (settings: string, tests: string[]) => ({
  ...server,
  test: {
    ...server.test,
    name: `${settings} trials`,
    include: tests.map((file) => `test/${file}.test.ts`),
    exclude: configDefaults.exclude,
    env: { NODE_ENV: 'production', TIDEMARK_TEST_ENGINE: 'replicache', TIDEMARK_TEST_SETTINGS: settings },
    maxWorkers: 2,
    sequence: { groupOrder: 1 },
  },
});

/**
 * The client's tests run on both engines: Replicache, which checks less of what it receives in production, both ways,
 * and that of `tidemark/client`, which is always built for production.
 */
const client = (name: string, engine: 'replicache' | 'tidemark', mode: 'production' | 'development') => ({
  ...shared,
  test: {
    name,
    setupFiles,
    include: [clientTests],
    isolate: false,
    env: { NODE_ENV: mode, TIDEMARK_TEST_ENGINE: engine },
    maxWorkers: 2,
    sequence: { groupOrder: 1 },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect,
  },
});

/** The example as it is delivered, in a real browser. */
const browser = (name: string, include: string) => ({
  ...shared,
  test: {
    name,
    setupFiles,
    include: [include],
    globalSetup: ['test/browser/setup.ts'],
    maxWorkers: 2,
    sequence: { groupOrder: 1 },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000, interval: 50 } },
  },
});

/** What takes long: random histories, broken copies, kills. Most files leave much of the machine to another one. */
const trials = (
  name: string,
  include: readonly string[],
  { exclude = [], maxWorkers = 2, groupOrder = 1 }: TrialsOptions = {},
) => ({
  ...shared,
  test: {
    name,
    setupFiles,
    include: [...include],
    exclude: [...configDefaults.exclude, ...exclude],
    maxWorkers,
    sequence: { groupOrder },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect,
  },
});

interface TrialsOptions {
  readonly exclude?: readonly string[];
  readonly maxWorkers?: number;
  readonly groupOrder?: number;
}

export default defineConfig({
  test: {
    globalSetup: ['test/clusters.ts'],
    // One more than cores on a small machine: tests often wait.
    maxWorkers: 3,
    projects: [
      server,
      pooled,
      client('client', 'replicache', 'production'),
      browser('browser', browserTests),
      client('client trials', 'replicache', 'development'),
      client('own client trials', 'tidemark', 'production'),
      browser('browser trials', browserTrials),
      ...['formats', 'transactions', 'plans'].map((name) => ordinary(name, [...ordinaryTests, ...cascadingTests])),
      ordinary('replica', ordinaryTests),
      // Projects of a group begin in the order of their names, so the longest file is not left to the end.
      trials('torture trials', [tortureTrials]),
      trials('trials', ['test/**/*.trial.ts'], { exclude: [browserTrials, tortureTrials, ...loneTrials] }),
      trials('lone trials', loneTrials, { maxWorkers: 1, groupOrder: 2 }),
    ],
  },
});
