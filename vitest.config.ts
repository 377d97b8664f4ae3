import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

const file = (path: string) => fileURLToPath(new URL(`packages/${path}`, import.meta.url));

/** Examples import the packages by their public names; tests run them on the sources, and the client on its built engine. */
const alias = {
  '#engine': file('client/dist/engine.js'),
  '@tidemark/client/poke': file('client/src/poke.ts'),
  '@tidemark/client/react': file('client/src/react.ts'),
  '@tidemark/client/tanstack-db': file('client/src/tanstack-db.ts'),
  '@tidemark/client': file('client/src/index.ts'),
  '@tidemark/embedded-postgres': file('embedded-postgres/src/index.ts'),
  'tidemark/node': file('tidemark/src/node.ts'),
  tidemark: file('tidemark/src/index.ts'),
};

const longTests = 'test/**/*.long.test.ts';
const clientTests = 'test/integration/conformance/client/**/*.test.ts';
const browserTests = 'test/{e2e/{browser,create},stress/hostile}/**/*.long.test.ts';
const browserSetup = 'test/e2e/browser/setup.ts';

/**
 * They run every night instead of with each change: they start many processes, wait for timeouts of a minute, or go deeper where
 * another long test shows the same.
 */
const nightlyTests = [
  'test/docs/{failovers,tanstack-db}.long.test.ts',
  'test/e2e/{hosts,orms}/*.long.test.ts',
  'test/integration/cli/{cli,embedded,late-database,tenants}.long.test.ts',
  'test/integration/live/{calls-killed,crashed,login-refused,nodes,notifier-killed}.long.test.ts',
  'test/integration/{embedded,stopping,workers}/*.long.test.ts',
  'test/integration/tenants/{failing,isolation}.long.test.ts',
  'test/stress/fuzz/standby.long.test.ts',
  'test/stress/oracle/{altered-views,altering,crowd,reading,row-formats,single-changes,standbys}.long.test.ts',
  'test/stress/{torture,upgrade}/*.long.test.ts',
];
const nightlyBrowserTests = [
  'test/e2e/browser/{docs,hung-tabs,many-todos,requests,screenshots,session}.long.test.ts',
  'test/e2e/create/*.long.test.ts',
];

/**
 * They prove that long tests detect known faults. Some faults show only if a client pulls at the right moment, which takes many
 * pulls. `npm run stress -- torture 17` runs them too.
 */
const detectorTests = 'test/stress/detectors/*.test.ts';

/** They keep both cores busy by themselves, with hundreds of clients, or with servers that start five at a time. */
const loneTests = ['test/integration/conformance/large-pulls.long.test.ts', 'test/stress/hostile/hostile.long.test.ts'];
const nightlyLoneTests = ['test/integration/live/calls-killed.long.test.ts', 'test/stress/oracle/crowd.long.test.ts'];

interface Options {
  readonly exclude?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** False: the files of a worker share their modules, which take long to load. */
  readonly isolate?: boolean;
  readonly timeoutMs?: number;
  readonly maxWorkers?: number;
  readonly groupOrder?: number;
  readonly globalSetup?: readonly string[];
}

/** Projects whose name begins with "long" are those of `npm run test:long`; with "nightly", of `npm run test:nightly`. */
function project(
  name: string,
  include: readonly string[],
  { exclude = [], env = {}, isolate = false, timeoutMs = 30_000, globalSetup = [], ...options }: Options = {},
) {
  const { maxWorkers, groupOrder } = options;
  return {
    resolve: { alias },
    test: {
      name,
      setupFiles: ['test/support/worker.ts'],
      include: [...include],
      exclude: [...configDefaults.exclude, ...exclude],
      env: { ...env },
      isolate,
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
      globalSetup: [...globalSetup],
      expect: { poll: { timeout: 10_000 } },
      ...(maxWorkers !== undefined && { maxWorkers }),
      ...(groupOrder !== undefined && { sequence: { groupOrder } }),
    },
  };
}

const filesOf = (names: readonly string[]) => names.map((name) => `test/integration/${name}.test.ts`);

/** Run again through a pgbouncer in transaction mode: one file or more for each way to the database. */
const pooledTests = filesOf([
  'conformance/{client-records,pull-wire}',
  'doctor/healthy',
  'rest/{calls,idempotency,view-streams}',
  'writes/{nested-transactions,push,sessions}',
]);

/** Run again on databases that have settings and a publication: see `test/support/ordinary-settings.ts`. */
const ordinaryTests = filesOf([
  'conformance/{bad-values,client-records,pull-wire,refused-mutations}',
  'conformance/client/convergence',
]);
/** Relies on the actions of foreign keys, which sessions that act as a replica do not run. */
const cascadingTests = filesOf(['conformance/client/sync']);

const ordinary = (settings: string, tests: readonly string[]) =>
  project(`long ${settings}`, tests, {
    env: { NODE_ENV: 'production', TIDEMARK_TEST_ENGINE: 'replicache', TIDEMARK_TEST_SETTINGS: settings },
    maxWorkers: 2,
    groupOrder: 1,
  });

/**
 * The client's tests run on both engines: Replicache, which checks less of what it receives in production, both ways,
 * and that of `@tidemark/client`, which is always built for production.
 */
const client = (
  name: string,
  engine: 'replicache' | 'tidemark',
  mode: 'production' | 'development',
  options: Options = {},
) =>
  project(name, [clientTests], {
    env: { NODE_ENV: mode, TIDEMARK_TEST_ENGINE: engine },
    timeoutMs: 60_000,
    ...options,
  });

const long = (name: string, include: readonly string[], options: Options = {}) =>
  project(name, include, { isolate: true, timeoutMs: 120_000, maxWorkers: 2, groupOrder: 1, ...options });

export default defineConfig({
  test: {
    globalSetup: ['test/support/clusters.ts'],
    // One more than cores on a small machine: tests often wait.
    maxWorkers: 3,
    projects: [
      project('unit', ['packages/*/src/**/*.test.ts']),
      project('integration', ['test/**/*.test.ts'], { exclude: [longTests, clientTests, detectorTests] }),
      client('client', 'replicache', 'production'),
      project('long pooled', pooledTests, { env: { TIDEMARK_TEST_POOLED: 'true' } }),
      client('long client in development', 'replicache', 'development', { maxWorkers: 2, groupOrder: 1 }),
      client('long client on its own engine', 'tidemark', 'production', { maxWorkers: 2, groupOrder: 1 }),
      ...['formats', 'transactions', 'plans'].map((name) => ordinary(name, [...ordinaryTests, ...cascadingTests])),
      ordinary('replica', ordinaryTests),
      long('long browser', [browserTests], {
        exclude: [...loneTests, ...nightlyBrowserTests],
        globalSetup: [browserSetup],
      }),
      long('long', [longTests], { exclude: [browserTests, ...loneTests, ...nightlyTests] }),
      long('long alone', loneTests, { maxWorkers: 1, groupOrder: 2, globalSetup: [browserSetup] }),
      long('nightly browser', nightlyBrowserTests, { globalSetup: [browserSetup] }),
      long('nightly', nightlyTests, { exclude: nightlyLoneTests }),
      long('nightly alone', [detectorTests, ...nightlyLoneTests], { maxWorkers: 1, groupOrder: 2 }),
    ],
  },
});
