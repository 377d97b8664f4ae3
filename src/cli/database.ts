/** The database that a command works on. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config.js';
import { openPool } from '../db/pg.js';
import { findRunning } from '../embedded/running.js';
import { databaseURL, dataDirectory, describeEmbedded, type OpenedDatabase, openDatabase } from '../environment.js';
import { SetupError } from '../errors.js';
import type { Logger } from '../log.js';
import { migrate } from '../migrate.js';
import type { Terminal } from './terminal.js';

/**
 * Runs `work` on the database. If another process runs the embedded one, as `tidemark serve` does, takes it as it is.
 * Otherwise starts it, and stops it afterwards, even if the work fails.
 * @param waitMs how long to wait for a database that cannot be reached, in milliseconds; default as for `openDatabase`
 */
export async function withDatabase<T>(
  { log }: Terminal,
  work: (database: OpenedDatabase) => Promise<T>,
  waitMs?: number,
): Promise<T> {
  const database = findRunningDatabase() ?? (await openDatabase({ log, waitMs }));
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** The embedded database that another process runs, as `openDatabase` returns those that it starts. */
function findRunningDatabase(): OpenedDatabase | undefined {
  const running = databaseURL() === undefined ? findRunning(dataDirectory()) : undefined;
  if (!running) return undefined;
  return { ...running, readURLs: [], embedded: true, lost: new Promise(() => {}), close: async () => {} };
}

/**
 * Like `withDatabase`, but does not create an embedded database, and does not wait.
 * @throws SetupError if there is no database yet.
 */
export async function withExistingDatabase<T>(
  terminal: Terminal,
  work: (database: OpenedDatabase) => Promise<T>,
): Promise<T> {
  const directory = resolve(dataDirectory());
  if (databaseURL() === undefined && !existsSync(join(directory, 'postgres'))) {
    throw new SetupError(`DATABASE_URL is not set, and there is no embedded database in ${directory}.`);
  }
  return withDatabase(terminal, work, 0);
}

/** Says where an embedded database is, and makes it ready for a server. */
export async function prepareDatabase(terminal: Terminal, config: Config, database: OpenedDatabase): Promise<void> {
  terminal.say(`Embedded Postgres: ${describeEmbedded(database, terminal.isInteractive)}`);
  await migrateDatabase(terminal, config, database);
}

/**
 * Installs or upgrades Tidemark. In an embedded database, creates the application's tables first.
 * @returns the number of migration steps taken
 */
export async function migrateDatabase(
  terminal: Terminal,
  config: Config,
  { url, embedded }: OpenedDatabase,
): Promise<number> {
  const { prepareEmbedded } = config;
  if (embedded && prepareEmbedded) {
    const db = openPool(url);
    try {
      await db.transact(prepareEmbedded);
    } finally {
      await db.close();
    }
  }
  return countSteps(terminal, (log) => migrate({ ...config, database: url, log }), terminal.say);
}

/**
 * Runs a migration with a logger.
 * @param onStep is told what each step does
 * @returns the number of steps
 */
export async function countSteps(
  { log }: Terminal,
  run: (log: Logger) => Promise<void>,
  onStep: (message: string) => void = () => {},
): Promise<number> {
  let steps = 0;
  await run({
    debug: (fields, message) => log.debug(fields, message),
    info(_, message) {
      steps++;
      onStep(message);
    },
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  });
  return steps;
}
