/** Finds a database that another process runs, so that commands work beside a server. */
import { join, resolve } from 'node:path';
import { addressOf, connectionFile, readConnection } from './connection.js';
import { isHeldByOther } from './lock.js';
import { isServerOf, readPostmaster } from './processes.js';
import type { EmbeddedDatabase } from './start.js';

/**
 * The database of a folder, if another process runs it and it accepts connections; undefined if not. It ends with that
 * process. A server that a killed process left behind does not count: the next start on the folder stops it.
 * @param directory the folder, as for `startEmbedded`
 */
export function findRunning(directory: string): Pick<EmbeddedDatabase, 'url' | 'connectionFile'> | undefined {
  const folder = resolve(directory);
  if (!isHeldByOther(folder)) return undefined;
  const data = join(folder, 'postgres');
  const postmaster = readPostmaster(data);
  const kept = readConnection(folder);
  if (!postmaster?.isReady || !kept || !isServerOf(postmaster.pid, data)) return undefined;
  // The kept port may have been taken when the server started.
  return { url: addressOf({ ...kept, port: postmaster.port }), connectionFile: connectionFile(folder) };
}
