import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { SetupError } from '../errors.js';
import { readIfThere } from './processes.js';

/** What a client needs to know; kept in the folder, readable by its owner alone. */
export interface Connection {
  readonly port: number;
  readonly password: string;
}

const fileName = 'connection.json';

/** What the first start kept; undefined before it, and when somebody deleted it. */
export function readConnection(directory: string): Connection | undefined {
  const text = readIfThere(join(directory, fileName));
  if (text === undefined) return undefined;
  const { port, password } = JSON.parse(text) as Partial<Connection>;
  if (Number.isInteger(port) && typeof password === 'string') return { port: port as number, password };
  throw new SetupError(`${join(directory, fileName)} has no port and password. Delete it: both are made anew then.`);
}

/** Keeps it for later starts. */
export function keepConnection(directory: string, connection: Connection): void {
  const draft = join(directory, `${fileName}.new`);
  writeFileSync(draft, `${JSON.stringify(connection, null, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, join(directory, fileName));
}

/** The wanted port or an error; else the kept one, or any when another program has taken it. */
export async function choosePort(
  wanted: number | undefined,
  kept: number | undefined,
  log: (message: string) => void,
): Promise<number> {
  const preferred = wanted ?? kept ?? 0;
  const free = await freePort(preferred);
  if (free !== undefined) return free;
  if (wanted !== undefined) throw new SetupError(`Port ${wanted} on 127.0.0.1 is taken, or may not be used.`);
  log(`Port ${preferred} is taken: the database gets another one this time.`);
  const other = await freePort(0);
  if (other === undefined) throw new SetupError('No port on 127.0.0.1 is free.');
  return other;
}

/** The port itself, or any for 0, if a server may listen there. */
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
