/** The database that a command works on. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config.js';
import { openPool } from '../db/pg.js';
import { findRunning } from '../embedded.js';
import { databaseURL, dataDirectory, describeEmbedded, type OpenedDatabase, openDatabase } from '../environment.js';
import { SetupError } from '../errors.js';
import type { Logger } from '../log.js';
import { migrate } from '../migrate.js';
import type { Terminal } from './terminal.js';

/**
 * Runs `work` on the database. If another process, such as `tidemark serve`, runs the embedded one, uses that.
 * Otherwise starts it, and stops it afterwards, even if the work fails.
 * @param waitMs milliseconds to wait for an unreachable database; default as for `openDatabase`
 */
export async function withDatabase<T>(
  { log }: Terminal,
  work: (database: OpenedDatabase) => Promise<T>,
  waitMs?: number,
): Promise<T> {
  const database = (await findRunningDatabase()) ?? (await openDatabase({ log, waitMs }));
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Returns the embedded database if another process runs it, in the same form as `openDatabase`. */
async function findRunningDatabase(): Promise<OpenedDatabase | undefined> {
  const running = databaseURL() === undefined ? await findRunning(dataDirectory()) : undefined;
  if (!running) return undefined;
  return { ...running, readURLs: [], embedded: true, lost: new Promise(() => {}), close: async () => {} };
}

/**
 * Runs `work` on an existing database: like `withDatabase`, but never creates an embedded one, and never waits.
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

/** Prints the connection string of an embedded database, and migrates it for a server. */
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
 * Runs a migration with a logger that counts its steps.
 * @param onStep called with each step's description
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
