/** A worker of `tidemark serve --workers`: what it runs. */
import { syncPaths } from '../endpoints/sync-paths.js';
import { forwardFromEnvironment, logFromEnvironment, openDatabase } from '../environment.js';
import { startSync } from '../server.js';
import { runWorker } from '../workers/worker.js';
import { loadConfig } from './config.js';
import { createTerminal } from './terminal.js';

const [, , path] = process.argv;

await runWorker(async (together) => {
  const config = await loadConfig(path);
  const log = logFromEnvironment();
  const forward = forwardFromEnvironment();
  const { url, readURLs } = await openDatabase({ log: createTerminal(process).log });
  const options = { ...config, database: url, readDatabase: readURLs, log, forward };
  const service = await startSync(options, { together });
  const { pull, push } = syncPaths(config.basePath ?? '', config.paths);
  return { service, endStreams: () => service.endStreams(), served: { pull, push }, log };
});
