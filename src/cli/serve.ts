import type { Config } from '../config.js';
import { syncPaths } from '../endpoints/sync-paths.js';
import {
  addressFromEnvironment,
  describeEmbedded,
  forwardFromEnvironment,
  logFromEnvironment,
  type OpenedDatabase,
  openDatabase,
} from '../environment.js';
import { listen } from '../node.js';
import { createSync } from '../server.js';
import { loadConfig } from './config.js';
import { migrateDatabase } from './database.js';
import type { Terminal } from './terminal.js';

/** Serves until SIGTERM or SIGINT, or until an embedded Postgres is lost. Resolves once it is listening. */
export async function serve(terminal: Terminal, { config: path }: { readonly config?: string }): Promise<void> {
  const config = await loadConfig(path);
  const address = addressFromEnvironment();
  const log = logFromEnvironment();
  const forward = forwardFromEnvironment();
  const database = await openDatabase({ log: terminal.log });
  try {
    if (database.embedded) {
      terminal.say(`Embedded Postgres: ${describeEmbedded(database, terminal.isInteractive)}`);
      await migrateDatabase(terminal, config, database);
    }
    const { url, readURLs } = database;
    const sync = await createSync({ ...config, database: url, readDatabase: readURLs, log, forward });
    const close = async (): Promise<void> => {
      await sync.close();
      await database.close();
    };
    try {
      const server = await listen({ ...sync, close, lost: database.lost }, { log, ...address });
      terminal.say(listening(server.url, config, database));
    } catch (error) {
      await sync.close();
      throw error;
    }
  } catch (error) {
    await database.close();
    throw error;
  }
}

function listening(url: string, { basePath = '', paths }: Config, { embedded }: OpenedDatabase): string {
  const where = embedded ? 'the embedded Postgres' : 'the Postgres at DATABASE_URL';
  const { pull, push } = syncPaths(basePath, paths);
  return `Listening at ${url}${pull} and ${url}${push}, on ${where}.`;
}
