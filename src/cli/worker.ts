/** The entry point of a worker process of `tidemark serve --workers`. */
import { syncPaths } from '../endpoints/sync-paths.js';
import { databaseURL, forwardFromEnvironment, logFromEnvironment, openDatabase } from '../environment.js';
import { SetupError } from '../errors.js';
import { startSync } from '../server.js';
import type { ExposeTogether } from '../telemetry/telemetry.js';
import type { TenantsOptions } from '../tenants/options.js';
import { startTenants } from '../tenants.js';
import { runWorker, type WorkerService } from '../workers/worker.js';
import { isOfTenants, type LoadedConfig, loadAnyConfig } from './config.js';
import { refuseForward } from './serve.js';
import { createTerminal } from './terminal.js';

const [, , path] = process.argv;

await runWorker(async (together) => {
  const config = await loadAnyConfig(path);
  return isOfTenants(config) ? startForTenants(config, together) : startOne(config, together);
});

async function startOne(config: LoadedConfig, together: ExposeTogether): Promise<WorkerService> {
  // The primary process has started an embedded Postgres, unless the configuration had tenants at that time.
  if (databaseURL() === undefined) {
    throw new SetupError('The configuration had tenants when the server was started. Restart the server.');
  }
  const log = logFromEnvironment();
  const forward = forwardFromEnvironment();
  const { url, readURLs } = await openDatabase({ log: createTerminal(process).log });
  const options = { ...config, database: url, readDatabase: readURLs, log, forward };
  const service = await startSync(options, { together });
  const { pull, push } = syncPaths(config.basePath ?? '', config.paths);
  return { service, endStreams: () => service.endStreams(), paths: { pull, push }, log };
}

async function startForTenants(config: TenantsOptions, together: ExposeTogether): Promise<WorkerService> {
  refuseForward();
  const log = logFromEnvironment();
  const service = await startTenants({ ...config, log }, { together });
  return { service, endStreams: () => service.endStreams(), paths: null, log };
}
