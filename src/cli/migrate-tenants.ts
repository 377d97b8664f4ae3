import { SetupError } from '../errors.js';
import { explainFailure } from '../failure.js';
import { migrate } from '../migrate.js';
import type { TenantsOptions } from '../tenants/options.js';
import { countSteps } from './database.js';
import type { Terminal } from './terminal.js';

/** What became of a tenant whose migration failed. */
interface Failure {
  readonly tenant: string;
  readonly reason: string;
}

/**
 * Migrates the databases of all tenants, some of them at once, and prints how far it is. One that fails does not keep
 * the others from being migrated; run again, it does what is left.
 * @returns the exit code: 1 if one failed
 * @throws SetupError if the configuration has no list, and what its list throws
 */
export async function migrateTenants(terminal: Terminal, config: TenantsOptions, parallel: number): Promise<number> {
  const names = await namesIn(config);
  // All take from one list.
  const left = names.values();
  const failures: Failure[] = [];
  let done = 0;
  const worker = async () => {
    for (const tenant of left) {
      const outcome = await migrateOne(terminal, config, tenant).catch((error: unknown) => {
        failures.push({ tenant, reason: reasonOf(error) });
        return 'failed';
      });
      terminal.say(`${++done} of ${names.length}  ${tenant}: ${outcome}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  if (failures.length === 0) {
    terminal.say(`Done: the databases of all ${names.length} tenants are ready.`);
    return 0;
  }
  const listed = failures.map(({ tenant, reason }) => `  ${tenant}: ${reason}`);
  terminal.say([`\n${failures.length} of ${names.length} tenants failed:`, ...listed].join('\n'));
  terminal.say('The others are ready. When the causes are removed, run this again.');
  return 1;
}

/** Without a stack, which would bury the other tenants' reasons. */
function reasonOf(error: unknown): string {
  return explainFailure(error).split(/\n +at /, 1)[0]!;
}

/** @returns what has been done, in a few words */
async function migrateOne(terminal: Terminal, config: TenantsOptions, tenant: string): Promise<string> {
  const opened = await config.open(tenant);
  if (!opened) throw new SetupError('`list` names it, but `open` returns nothing for it.');
  const steps = await countSteps(terminal, (log) => migrate({ ...opened, log }));
  return steps === 0 ? 'up to date' : `ready after ${steps} ${steps === 1 ? 'step' : 'steps'}`;
}

async function namesIn({ list }: TenantsOptions): Promise<string[]> {
  if (!list) throw new SetupError('The configuration has no `list` that returns the names of all tenants.');
  const names = new Set<string>();
  for await (const name of list()) names.add(name);
  return [...names];
}
