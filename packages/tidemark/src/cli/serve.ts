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
import type { ServedPaths } from '../workers/messages.js';
import { isOfTenants, loadAnyConfig } from './config.js';
import { prepareDatabase } from './database.js';
import type { Terminal } from './terminal.js';

/** Serves until SIGTERM or SIGINT, or until an embedded Postgres is lost. Resolves once the server listens. */
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
      terminal.say(describeListening(server.url, syncPaths(config.basePath ?? '', config.paths), database));
    } catch (error) {
      await sync.close();
      throw error;
    }
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Serves tenants, each from the database in its options. */
async function serveTenants(
  { say }: Terminal,
  config: TenantsOptions,
  { log, address }: { readonly log: Logger; readonly address: ListenAddress },
): Promise<void> {
  refuseForward();
  const tenants = await createTenants({ ...config, log });
  try {
    const { url } = await listen(tenants, { log, ...address });
    say(describeListening(url, null));
  } catch (error) {
    await tenants.close();
    throw error;
  }
}

/** @throws SetupError if `SYNC_MUTATE_URL` is set: with tenants, each one has its own option `forward` */
export function refuseForward(): void {
  if (!forwardFromEnvironment()) return;
  throw new SetupError('SYNC_MUTATE_URL is for one application. Let `open` return the option `forward` instead.');
}

/**
 * Returns the message to print when a server listens.
 * @param paths null for a server of tenants
 */
export function describeListening(url: string, paths: ServedPaths | null, database?: OpenedDatabase): string {
  if (!paths) return `Listening at ${url}, for the tenants of the configuration.`;
  const where = database?.embedded ? 'the embedded Postgres' : 'the Postgres at DATABASE_URL';
  return `Listening at ${url}${paths.pull} and ${url}${paths.push}, on ${where}.`;
}
