/** `npm run stress -- fuzz --minutes 60`: test runs of any length, each on its own servers. */
import { runCommand } from './run-command.mjs';

/** Servers in these runs use the built packages, so `tsx` must not map them to the sources. */
const builtPackages = { TSX_TSCONFIG_PATH: 'test/stress/torture/run.tsconfig.json' };

const commands = {
  faults: {
    file: 'test/stress/faults/run.ts',
    about: 'defects in locks, isolation, access and SQL, each of which a test must detect',
  },
  fuzz: {
    file: 'test/stress/fuzz/run.ts',
    about: 'generated schemas, views and transactions, compared at the snapshot of each pull',
  },
  hostile: {
    file: 'test/stress/hostile/run.ts',
    about: 'clients in Chromium with a hostile network, broken storage and tabs that hang',
  },
  mutants: { file: 'test/stress/mutants/run.ts', about: 'Stryker over the code that needs no database' },
  oracle: {
    file: 'test/stress/oracle/run.ts',
    about: 'random transactions on several servers and standbys, checked by an oracle',
  },
  tenants: {
    file: 'test/stress/tenants/run.ts',
    about: 'a thousand tenants in one server, while one of them is flooded, locked or dead',
  },
  torture: {
    file: 'test/stress/torture/run.ts',
    about: 'a line of internals/reliability.md in full; --help lists them',
    env: builtPackages,
    hasHelp: true,
  },
  wants: {
    file: 'test/stress/wants/run.ts',
    about: 'clients that want other instances of views with each pull, compared with new queries',
  },
  upgrade: {
    file: 'test/stress/upgrade/run.ts',
    about: 'two versions of Tidemark, and of an application, side by side',
  },
};

runCommand('npm run stress --', commands, process.argv.slice(2));
