import type { Fault } from '../fault.js';

const stopping = ['test/stopping/stopping.test.ts'];
const environment = ['test/environment.test.ts'];

/** The life of the process: starting, stopping, and the Postgres that it runs. */
export const living: readonly Fault[] = [
  {
    name: 'a logger that throws fails what it is to log',
    file: 'src/log.ts',
    find: 'given ? new GuardedLogger(given) : jsonLog()',
    replace: 'given ?? jsonLog()',
    tests: ['test/failing-logger.test.ts'],
  },
  {
    name: 'a sync starts anew with each use',
    file: 'src/lazy-sync.ts',
    find: 'starting ??= begin()',
    replace: 'starting = begin()',
    tests: ['test/lazy-sync.test.ts'],
  },
  {
    name: 'a sync that could not start never does',
    file: 'src/lazy-sync.ts',
    find: '      starting = undefined;\n',
    replace: '',
    tests: ['test/lazy-sync.test.ts'],
  },
  {
    name: 'a response that is still being read is broken off when the server stops',
    file: 'src/connections.ts',
    find: 'NetServer.prototype.close.call(this.#server, () => resolve());',
    replace: 'this.#server.close(() => resolve());',
    tests: ['test/node.test.ts'],
  },
  {
    name: 'a server that is about to stop does not announce the end of its connections',
    file: 'src/connections.ts',
    find: 'if (this.#isLast) sayLast(response);',
    replace: '',
    tests: stopping,
  },
  {
    name: 'a server that is about to stop says that it is ready',
    file: 'src/server.ts',
    find: 'isStopping = true;',
    replace: '',
    tests: stopping,
  },
  {
    name: 'a server stops listening before anybody knows',
    file: 'src/serving.ts',
    find: 'if (delayMs > 0) await sleep(delayMs);',
    replace: '',
    tests: stopping,
  },
  {
    name: 'the exit status does not say that requests were cut off',
    file: 'src/serving.ts',
    find: 'return cutOff.length === 0 && isClosed;',
    replace: 'return true;',
    tests: stopping,
  },
  {
    name: 'an embedded Postgres that ends is not started again',
    file: 'src/embedded/supervise.ts',
    find: 'const pauseMs = pausesMs[attempts++];',
    replace: 'const pauseMs = pausesMs[attempts++ + pausesMs.length];',
    tests: ['test/embedded/restarts.trial.ts'],
  },
  {
    name: 'an embedded Postgres that is started again is not guarded',
    file: 'src/embedded/supervise.ts',
    find: 'guardAgainstCrash(server, programs.user);',
    replace: '',
    tests: ['test/embedded/restarts.trial.ts'],
  },
  {
    name: 'a database that cannot be reached yet is not waited for',
    file: 'src/db/reachable.ts',
    find: 'if (!mayPass || ',
    replace: 'if (mayPass || ',
    tests: environment,
  },
  {
    name: 'a wrong password is tried again',
    file: 'src/db/reachable.ts',
    find: '!mayPass || ',
    replace: '',
    tests: environment,
  },
  {
    name: 'the password is printed into logs',
    file: 'src/environment.ts',
    find: 'if (isTerminal) return url;',
    replace: 'return url;',
    tests: environment,
  },
  {
    name: 'any role can hold up a migration',
    file: 'src/installation/migrate.ts',
    find: "await client.query('lock table tidemark.migration in share row exclusive mode');",
    replace: "await client.query(`select pg_advisory_xact_lock(hashtextextended('tidemark migrate', 0))`);",
    tests: ['test/installation/migrate-locks.test.ts'],
  },
  {
    name: 'a migration waits for a lock for ever',
    file: 'src/installation/migrate.ts',
    find: "select set_config('lock_timeout', '60s', true)",
    replace: "select set_config('lock_timeout', '0', true)",
    tests: ['test/installation/migrate-locks.test.ts'],
  },
];
