/** The commands that change the database: `migrate` and `uninstall`. */
import { SetupError } from '../errors.js';
import { uninstall } from '../migrate.js';
import { isOfTenants, loadAnyConfig } from './config.js';
import { migrateDatabase, withDatabase, withExistingDatabase } from './database.js';
import { migrateTenants } from './migrate-tenants.js';
import { readCount, type Terminal, UsageError } from './terminal.js';

interface MigrateCommandOptions {
  readonly config?: string;
  readonly all?: boolean;
  readonly parallel: string;
}

/**
 * Installs or upgrades Tidemark's schema and the change capture of every table that the views read, in one database or
 * in those of all tenants.
 * @returns the exit code: 1 if a tenant's migration failed
 */
export async function migrateCommand(terminal: Terminal, options: MigrateCommandOptions): Promise<number> {
  const config = await loadAnyConfig(options.config);
  if (isOfTenants(config)) {
    if (!options.all) throw new UsageError('The configuration has tenants: to migrate the databases of all, add --all');
    const parallel = readCount(options.parallel, '--parallel must be a number from 1 to 999');
    return migrateTenants(terminal, config, parallel);
  }
  if (options.all) throw new UsageError('--all is for a configuration of tenants');
  await withDatabase(terminal, async (database) => {
    const steps = await migrateDatabase(terminal, config, database);
    terminal.say(steps === 0 ? 'Nothing to do: the database is up to date.' : 'Done: the database is ready.');
  });
  return 0;
}

/**
 * Removes Tidemark from the database.
 * @throws SetupError unless the user confirms with `--yes`.
 */
export async function uninstallCommand(terminal: Terminal, { yes }: { readonly yes?: boolean }): Promise<void> {
  if (!yes) {
    throw new SetupError(
      'This removes the schema "tidemark", with the change log and all records of clients, and the triggers on your tables. ' +
        'Your tables and their rows stay. Every client then starts over. To confirm, run it again with --yes.',
    );
  }
  await withExistingDatabase(terminal, async ({ url }) => {
    await uninstall({ database: url });
    terminal.say('Tidemark has been removed. Your tables are unchanged.');
  });
}
