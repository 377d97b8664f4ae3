import { syncPaths } from '../endpoints/sync-paths.js';
import {
  addressFromEnvironment,
  forwardFromEnvironment,
  logFromEnvironment,
  type OpenedDatabase,
  openDatabase,
} from '../environment.js';
import { listen } from '../node.js';
import { createSync } from '../server.js';
import { loadConfig } from './config.js';
import { prepareDatabase } from './database.js';
import type { Terminal } from './terminal.js';

/** Serves until SIGTERM or SIGINT, or until an embedded Postgres is lost. Resolves once it is listening. */
export async function serve(terminal: Terminal, { config: path }: { readonly config?: string }): Promise<void> {
  const config = await loadConfig(path);
  const address = addressFromEnvironment();
  const log = logFromEnvironment();
  const forward = forwardFromEnvironment();
  const database = await openDatabase({ log: terminal.log });
  try {
    if (database.embedded) await prepareDatabase(terminal, config, database);
    const { url, readURLs } = database;
    const sync = await createSync({ ...config, database: url, readDatabase: readURLs, log, forward });
    const close = async (): Promise<void> => {
      await sync.close();
      await database.close();
    };
    try {
      const server = await listen({ ...sync, close, lost: database.lost }, { log, ...address });
      terminal.say(listening(server.url, syncPaths(config.basePath ?? '', config.paths), database));
    } catch (error) {
      await sync.close();
      throw error;
    }
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** What is printed when a server listens. */
export function listening(
  url: string,
  { pull, push }: { readonly pull: string; readonly push: string },
  { embedded }: OpenedDatabase,
): string {
  const where = embedded ? 'the embedded Postgres' : 'the Postgres at DATABASE_URL';
  return `Listening at ${url}${pull} and ${url}${push}, on ${where}.`;
}
