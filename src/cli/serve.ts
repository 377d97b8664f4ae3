import { syncPaths } from '../endpoints/sync-paths.js';
import {
  addressFromEnvironment,
  forwardFromEnvironment,
  type ListenAddress,
  logFromEnvironment,
  type OpenedDatabase,
  openDatabase,
} from '../environment.js';
import { SetupError } from '../errors.js';
import type { Logger } from '../log.js';
import { listen } from '../node.js';
import { createSync } from '../server.js';
import type { TenantsOptions } from '../tenants/options.js';
import { createTenants } from '../tenants.js';
import type { Served } from '../workers/messages.js';
import { isOfTenants, loadAnyConfig } from './config.js';
import { prepareDatabase } from './database.js';
import type { Terminal } from './terminal.js';

/** Serves until SIGTERM or SIGINT, or until an embedded Postgres is lost. Resolves once it is listening. */
export async function serve(terminal: Terminal, { config: path }: { readonly config?: string }): Promise<void> {
  const config = await loadAnyConfig(path);
  const address = addressFromEnvironment();
  const log = logFromEnvironment();
  const forward = forwardFromEnvironment();
  if (isOfTenants(config)) return serveTenants(terminal, config, { log, address });
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

/** Each tenant's database is what its options say. */
async function serveTenants(
  { say }: Terminal,
  config: TenantsOptions,
  { log, address }: { readonly log: Logger; readonly address: ListenAddress },
): Promise<void> {
  refuseForward();
  const tenants = await createTenants({ ...config, log });
  try {
    const { url } = await listen(tenants, { log, ...address });
    say(listening(url, null));
  } catch (error) {
    await tenants.close();
    throw error;
  }
}

/** @throws SetupError if the environment says where to forward pushes: with tenants, each of them says so */
export function refuseForward(): void {
  if (!forwardFromEnvironment()) return;
  throw new SetupError('SYNC_MUTATE_URL is for one application. Let `open` return the option `forward` instead.');
}

/**
 * What is printed when a server listens.
 * @param served null for a server of tenants
 */
export function listening(url: string, served: Served | null, database?: OpenedDatabase): string {
  if (!served) return `Listening at ${url}, for the tenants of the configuration.`;
  const where = database?.embedded ? 'the embedded Postgres' : 'the Postgres at DATABASE_URL';
  return `Listening at ${url}${served.pull} and ${url}${served.push}, on ${where}.`;
}
