import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { SetupError } from '../errors.js';
import { readIfThere } from './processes.js';

/** What a client needs to connect. Kept in the folder, readable only by its owner. */
export interface Connection {
  readonly port: number;
  readonly password: string;
}

/** The file in the folder that holds the connection. */
export function connectionFile(directory: string): string {
  return join(directory, 'connection.json');
}

/**
 * What the first start stored; undefined before that, or if the file was deleted.
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

/** The connection string of the application's database, with the password. */
export function addressOf({ port, password }: Connection): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/tidemark`;
}

/** Stores the connection for later starts. */
export function keepConnection(directory: string, connection: Connection): void {
  const file = connectionFile(directory);
  const draft = `${file}.new`;
  writeFileSync(draft, `${JSON.stringify(connection, null, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}

/**
 * Chooses a free port on 127.0.0.1: `wanted` if it is given; otherwise the one kept from the first start, or any free
 * one if another program has taken that.
 * @throws SetupError if the wanted port is not free, or no port is.
 */
export async function choosePort(
  wanted: number | undefined,
  kept: number | undefined,
  log: (message: string) => void,
): Promise<number> {
  const preferred = wanted ?? kept ?? 0;
  const free = await freePort(preferred);
  if (free !== undefined) return free;
  if (wanted !== undefined) throw new SetupError(`Port ${wanted} on 127.0.0.1 is taken or not permitted.`);
  log(`Port ${preferred} is taken: the database uses another one this time.`);
  const other = await freePort(0);
  if (other === undefined) throw new SetupError('No port on 127.0.0.1 is free.');
  return other;
}

/** The port (for 0, any free one) if a server can listen on it; undefined if not. */
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
