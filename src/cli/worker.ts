/** A worker of `tidemark serve --workers`: what it runs. */
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
  return isOfTenants(config) ? ofTenants(config, together) : ofOne(config, together);
});

async function ofOne(config: LoadedConfig, together: ExposeTogether): Promise<WorkerService> {
  // The first process has started an embedded Postgres, unless the configuration was one of tenants then.
  if (databaseURL() === undefined) {
    throw new SetupError('The configuration had tenants when the server was started. Restart the server.');
  }
  const log = logFromEnvironment();
  const forward = forwardFromEnvironment();
  const { url, readURLs } = await openDatabase({ log: createTerminal(process).log });
  const options = { ...config, database: url, readDatabase: readURLs, log, forward };
  const service = await startSync(options, { together });
  const { pull, push } = syncPaths(config.basePath ?? '', config.paths);
  return { service, endStreams: () => service.endStreams(), served: { pull, push }, log };
}

async function ofTenants(config: TenantsOptions, together: ExposeTogether): Promise<WorkerService> {
  refuseForward();
  const log = logFromEnvironment();
  const service = await startTenants({ ...config, log }, { together });
  return { service, endStreams: () => service.endStreams(), served: null, log };
}
