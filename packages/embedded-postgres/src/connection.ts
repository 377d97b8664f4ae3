import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Log } from './log.js';
import { readIfThere } from './processes.js';
import { SetupError } from './setup-error.js';

/** The values that a client needs to connect. Stored in the folder, readable only by its owner. */
export interface Connection {
  readonly port: number;
  readonly password: string;
}

/** Returns the path of the file that stores the connection. */
export function connectionFile(directory: string): string {
  return join(directory, 'connection.json');
}

/**
 * Returns the connection that the first start stored; undefined before that, or if the file was deleted.
 * @throws SetupError if the file has no port and password.
 */
export function readConnection(directory: string): Connection | undefined {
  const file = connectionFile(directory);
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  const { port, password } = JSON.parse(text) as Partial<Connection>;
  if (Number.isInteger(port) && typeof password === 'string') return { port: port as number, password };
  throw new SetupError(`${file} has no port and password. Delete it, and both are created again.`);
}

/** Returns the connection string of the application's database, with the password. */
export function addressOf({ port, password }: Connection): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/tidemark`;
}

/** Stores the connection for later starts. */
export function saveConnection(directory: string, connection: Connection): void {
  const file = connectionFile(directory);
  const draft = `${file}.new`;
  writeFileSync(draft, `${JSON.stringify(connection, null, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}

/**
 * Chooses a free port on 127.0.0.1: `requestedPort` if given; otherwise the one that the first start stored, or any
 * free one if that is taken.
 * @throws SetupError if the requested port is not free, or no port is.
 */
export async function choosePort(
  requestedPort: number | undefined,
  storedPort: number | undefined,
  log: Pick<Log, 'info'>,
): Promise<number> {
  const preferred = requestedPort ?? storedPort ?? 0;
  const free = await freePort(preferred);
  if (free !== undefined) return free;
  if (requestedPort !== undefined) {
    throw new SetupError(`Port ${requestedPort} on 127.0.0.1 is taken or not permitted.`);
  }
  log.info({}, `Port ${preferred} is taken: the database uses another one this time.`);
  const other = await freePort(0);
  if (other === undefined) throw new SetupError('No port on 127.0.0.1 is free.');
  return other;
}

/** Returns the port (for 0, any free one) if a server can listen on it; undefined if not. */
function freePort(port: number): Promise<number | undefined> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once('error', () => done(undefined));
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => done(address !== null && typeof address === 'object' ? address.port : undefined));
    });
  });
}
