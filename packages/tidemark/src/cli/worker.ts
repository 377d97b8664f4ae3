/** The entry point of a worker process of `tidemark serve --workers`. */
import { syncPaths } from '../endpoints/sync-paths.js';
import { databaseURL, forwardFromEnvironment, logFromEnvironment, openDatabase } from '../environment.js';
import { SetupError } from '../errors.js';
import { startSync } from '../server.js';
import type { ProcessGroup } from '../telemetry/exposition.js';
import type { TenantsOptions } from '../tenants/options.js';
import { startTenants } from '../tenants.js';
import { runWorker, type WorkerService } from '../workers/worker.js';
import { isOfTenants, type LoadedConfig, loadAnyConfig } from './config.js';
import { refuseForward } from './serve.js';
import { createTerminal } from './terminal.js';

const [, , path] = process.argv;

await runWorker(async (processes) => {
  const config = await loadAnyConfig(path);
  return isOfTenants(config) ? startForTenants(config, processes) : startOne(config, processes);
});

async function startOne(config: LoadedConfig, processes: ProcessGroup): Promise<WorkerService> {
  // The primary process has started an embedded Postgres, unless the configuration had tenants at that time.
  if (databaseURL() === undefined) {
    throw new SetupError('The configuration had tenants when the server was started. Restart the server.');
  }
  const log = logFromEnvironment();
  const forward = forwardFromEnvironment();
  const { url, readURLs } = await openDatabase({ log: createTerminal(process).log });
  const options = { ...config, database: url, readDatabase: readURLs, log, forward };
  const service = await startSync(options, { processes });
  const { pull, push } = syncPaths(config.basePath ?? '', config.paths);
  return { service, paths: { pull, push }, log };
}

async function startForTenants(config: TenantsOptions, processes: ProcessGroup): Promise<WorkerService> {
  refuseForward();
  const log = logFromEnvironment();
  const service = await startTenants({ ...config, log }, { processes });
  return { service, paths: null, log };
}
