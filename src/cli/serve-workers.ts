import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { addressFromEnvironment, logFromEnvironment, openDatabase } from '../environment.js';
import { SetupError } from '../errors.js';
import { settlesWithin } from '../limits/deadline.js';
import { closeMs, usualDrainDelayMs } from '../serving.js';
import { stopOnSignals } from '../signals.js';
import { Workers } from '../workers/primary.js';
import { loadConfig } from './config.js';
import { prepareDatabase } from './database.js';
import { listening } from './serve.js';
import { type Terminal, UsageError } from './terminal.js';

const workerFile = fileURLToPath(new URL('./worker.js', import.meta.url));

/**
 * How many workers an option asks for.
 * @throws UsageError if it is neither `auto` nor a number that makes sense.
 */
export function countOfWorkers(option: string): number {
  if (option === 'auto') return availableParallelism();
  if (!/^[1-9]\d{0,2}$/.test(option)) throw new UsageError('--workers must be auto, or a number from 1 to 999');
  return Number(option);
}

/**
 * Serves in several processes, until SIGTERM or SIGINT, or until an embedded Postgres is lost. Resolves once they
 * listen.
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
  const database = await openDatabase({ log: terminal.log });
  const workers = new Workers({
    count,
    file: workerFile,
    args: path === undefined ? [] : [path],
    env: { DATABASE_URL: database.url },
    address,
    log,
  });
  const stop = async (delayMs: number) => {
    const isWell = await workers.stop(delayMs);
    return (await settlesWithin(closeMs, database.close())) && isWell;
  };
  process.on('SIGHUP', () => workers.replace());
  try {
    if (database.embedded) await prepareDatabase(terminal, await loadConfig(path), database);
    const { url, served } = await workers.start();
    log.info({ url, workers: count }, 'Listening');
    stopOnSignals({ stop: (signal) => stop(signal === 'SIGTERM' ? usualDrainDelayMs : 0), lost: database.lost, log });
    terminal.say(listening(url, served, database));
  } catch (error) {
    await stop(0);
    throw error;
  }
}
