/** The commands that change the database: `migrate` and `uninstall`. */
import { SetupError } from '../errors.js';
import { uninstall } from '../migrate.js';
import { loadConfig } from './config.js';
import { migrateDatabase, withDatabase, withExistingDatabase } from './database.js';
import type { Terminal } from './terminal.js';

/** Installs or upgrades Tidemark's schema and the capture of every table that the views read. */
export async function migrateCommand(
  terminal: Terminal,
  { config: path }: { readonly config?: string },
): Promise<void> {
  const config = await loadConfig(path);
  await withDatabase(terminal, async (database) => {
    const steps = await migrateDatabase(terminal, config, database);
    terminal.say(steps === 0 ? 'Nothing to do: the database is up to date.' : 'Done: the database is ready.');
  });
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
