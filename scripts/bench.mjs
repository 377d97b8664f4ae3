/** `npm run bench`, or `npm run bench -- jit --turns 3`: measurements. Without a name, all scenarios of `bench/scenarios`. */
import { runCommand } from './run-command.mjs';

const commands = {
  run: {
    file: 'bench/run.ts',
    about: 'the server beside bare limits; without a name, this runs. --only chooses scenarios',
  },
  report: { file: 'bench/report.ts', about: 'makes internals/performance.md of a run’s record' },
  jit: {
    file: 'bench/jit.ts',
    about: 'Debian’s Postgres with its default settings, beside the same with jit = off',
    env: { TIDEMARK_TEST_POSTGRES: 'stock' },
  },
  offline: { file: 'bench/offline.ts', about: 'what offline calls and many rows cost a page' },
  'on-demand': { file: 'bench/on-demand.ts', about: 'what some wanted rows of many cost a page' },
  pooler: { file: 'bench/pooler.ts', about: 'what pgbouncer costs' },
  scale: {
    file: 'bench/scale/run.ts',
    about: 'the processor time of each operation; --publish makes internals/scale.md of it',
  },
  'scale-report': { file: 'bench/scale/report/publish.ts', about: 'makes internals/scale.md of an earlier record' },
  screen: { file: 'bench/screen.ts', about: 'the time from a commit to a screen' },
};

const args = process.argv.slice(2);
const isNamed = args[0] === '--help' || args[0]?.startsWith('--') === false;
runCommand('npm run bench --', commands, isNamed ? args : ['run', ...args]);
