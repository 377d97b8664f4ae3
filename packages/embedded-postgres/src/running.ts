/** Finds a database that another process runs, so that commands work while a server runs. */
import { join, resolve } from 'node:path';
import { addressOf, connectionFile, readConnection } from './connection.js';
import { isLockedByOther } from './lock.js';
import { isServerOf, readPostmaster } from './processes.js';
import type { EmbeddedDatabase } from './start.js';

/**
 * Returns the database of a folder, if another process runs it and it accepts connections; undefined if not. It ends
 * with that process. A server that a killed process left behind does not count: the next start on the folder stops it.
 * @param directory the folder, as for `startEmbedded`
 */
export function findRunning(directory: string): Pick<EmbeddedDatabase, 'url' | 'connectionFile'> | undefined {
  const folder = resolve(directory);
  if (!isLockedByOther(folder)) return undefined;
  const data = join(folder, 'postgres');
  const postmaster = readPostmaster(data);
  const storedConnection = readConnection(folder);
  if (!postmaster?.isReady || !storedConnection || !isServerOf(postmaster.pid, data)) return undefined;
  // Not the stored port: it may have been taken when the server started.
  return { url: addressOf({ ...storedConnection, port: postmaster.port }), connectionFile: connectionFile(folder) };
}
