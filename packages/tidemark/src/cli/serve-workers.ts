import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { addressFromEnvironment, logFromEnvironment, type OpenedDatabase, openDatabase } from '../environment.js';
import { SetupError } from '../errors.js';
import { settlesWithin } from '../limits/deadline.js';
import { closeMs, defaultDrainDelayMs } from '../serving.js';
import { type Stoppable, stopOnSignals } from '../signals.js';
import { Workers } from '../workers/primary.js';
import { isOfTenants, loadAnyConfig } from './config.js';
import { prepareDatabase } from './database.js';
import { describeListening } from './serve.js';
import { readCount, type Terminal } from './terminal.js';

const workerFile = fileURLToPath(new URL('./worker.js', import.meta.url));

/**
 * Returns the number of workers that an option requests.
 * @throws UsageError if it is neither `auto` nor a number from 1 to 999.
 */
export function countOfWorkers(option: string): number {
  if (option === 'auto') return availableParallelism();
  return readCount(option, '--workers must be auto, or a number from 1 to 999');
}

/**
 * Serves in several processes, until SIGTERM or SIGINT, or until an embedded Postgres is lost. Resolves once the server
 * listens.
 */
export async function serveWorkers(
  terminal: Terminal,
  option: string,
  { config: path }: { readonly config?: string },
): Promise<void> {
  const count = countOfWorkers(option);
  if (!cluster.isPrimary) {
    throw new SetupError('This process is a worker already. Run tidemark serve without --workers, or by itself.');
  }
  const log = logFromEnvironment();
  const address = addressFromEnvironment();
  const config = await loadAnyConfig(path);
  const application = isOfTenants(config) ? undefined : { config, database: await openDatabase({ log: terminal.log }) };
  const workers = new Workers({
    count,
    file: workerFile,
    args: path === undefined ? [] : [path],
    env: application ? { DATABASE_URL: application.database.url } : {},
    address,
    log,
  });
  const server = new WorkersWithDatabase(workers, application?.database);
  process.on('SIGHUP', () => workers.replace());
  try {
    if (application?.database.embedded) await prepareDatabase(terminal, application.config, application.database);
    const { url, paths } = await workers.start();
    log.info({ url, workers: count }, 'Listening');
    stopOnSignals(server, { drainDelayMs: defaultDrainDelayMs, lost: application?.database.lost, log });
    terminal.say(describeListening(url, paths, application?.database));
  } catch (error) {
    await server.stop(0);
    throw error;
  }
}

/** The workers of a server, and the database that they serve. */
class WorkersWithDatabase implements Stoppable {
  readonly #workers: Workers;
  readonly #database: OpenedDatabase | undefined;

  /** @param database closed after the workers have ended */
  constructor(workers: Workers, database: OpenedDatabase | undefined) {
    this.#workers = workers;
    this.#database = database;
  }

  async stop(delayMs: number): Promise<boolean> {
    const isWell = await this.#workers.stop(delayMs);
    const isClosed = !this.#database || (await settlesWithin(closeMs, this.#database.close()));
    return isClosed && isWell;
  }
}
