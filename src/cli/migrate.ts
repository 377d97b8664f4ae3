import { loadConfig } from './config.js';
import { migrateDatabase, withDatabase } from './database.js';
import { say } from './say.js';

/** Installs or upgrades Tidemark's schema and the capture of every table that the views read. */
export async function migrateCommand({ config: path }: { readonly config?: string }): Promise<void> {
  const config = await loadConfig(path);
  await withDatabase(async (database) => {
    const steps = await migrateDatabase(config, database);
    say(steps === 0 ? 'Nothing to do: the database is up to date.' : 'Done: the database is ready to be served.');
  });
}
