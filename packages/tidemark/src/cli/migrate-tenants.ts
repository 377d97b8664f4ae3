import { SetupError } from '../errors.js';
import { explainFailure } from '../failure.js';
import { migrate } from '../migrate.js';
import type { TenantsOptions } from '../tenants/options.js';
import { countSteps } from './database.js';
import type { Terminal } from './terminal.js';

/** A tenant whose migration failed. */
interface Failure {
  readonly tenant: string;
  readonly reason: string;
}

/**
 * Migrates the databases of all tenants, several at the same time, and prints the progress. If one fails, the others
 * are still migrated. Another run migrates those that failed.
 * @returns the exit code: 1 if a migration failed
 * @throws SetupError if the configuration has no `list`; and the errors of `list`
 */
export async function migrateTenants(terminal: Terminal, config: TenantsOptions, parallel: number): Promise<number> {
  const names = await namesIn(config);
  // All workers take names from the same iterator.
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

/** Returns the reason without a stack, which would bury the other tenants' reasons. */
function reasonOf(error: unknown): string {
  return explainFailure(error).split(/\n +at /, 1)[0]!;
}

/** @returns the outcome, in a few words */
async function migrateOne(terminal: Terminal, config: TenantsOptions, tenant: string): Promise<string> {
  const tenantConfig = await config.open(tenant);
  if (!tenantConfig) throw new SetupError('`list` names it, but `open` returns nothing for it.');
  const steps = await countSteps(terminal, (log) => migrate({ ...tenantConfig, log }));
  return steps === 0 ? 'up to date' : `ready after ${steps} ${steps === 1 ? 'step' : 'steps'}`;
}

async function namesIn({ list }: TenantsOptions): Promise<string[]> {
  if (!list) throw new SetupError('The configuration has no `list` that returns the names of all tenants.');
  const names = new Set<string>();
  for await (const name of list()) names.add(name);
  return [...names];
}
