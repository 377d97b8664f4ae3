/** The example in its own process, as `npm start` runs it after the build. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exampleMain, root } from '../../support/built.js';
import { livingPostgres, type Output, type Running, start } from '../../support/process.js';

const startMs = 60_000;
/** Longer than the grace period for running requests. */
const stopMs = 30_000;

export interface Example {
  /** The address of the server, without a trailing slash. */
  readonly url: string;
  /** The database's address, with the password. */
  readonly database: string;
  readonly server: Running;
  /** Ends it with a signal. If it does not end, kills it and rejects. */
  stop(signal?: NodeJS.Signals): Promise<Output>;
}

/** Starts the example on any free port, unless `env` names one, and resolves when it is ready. */
export async function startExample(
  env: Readonly<Record<string, string>>,
  [first, ...others]: readonly [string, ...string[]] = [exampleMain],
): Promise<Example> {
  const server = start(first, others, { cwd: root, env: { PORT: '0', ...env } });
  const alarm = setTimeout(() => server.child.kill('SIGKILL'), startMs);
  await server.printed(/Stop with Ctrl-C/).finally(() => clearTimeout(alarm));
  const [, url] = await server.printed(/Ready +(\S+)/);
  const [, database] = await server.printed(/Database +(.+)/);
  return {
    url: url!,
    database: env.DATABASE_URL ?? withPassword(database!),
    server,
    async stop(signal = 'SIGTERM') {
      server.child.kill(signal);
      let isLate = false;
      const alarm = setTimeout(() => {
        isLate = true;
        server.child.kill('SIGKILL');
      }, stopMs);
      const output = await server.ended;
      clearTimeout(alarm);
      if (isLate) throw new Error(`The example did not stop within ${stopMs} ms of ${signal}`);
      return output;
    },
  };
}

/** Adds the password from the file that the example names. */
function withPassword(printed: string): string {
  const [, address, file] = /^(\S+) \(the password is in (.+)\)$/.exec(printed)!;
  const { password } = JSON.parse(readFileSync(file!, 'utf8')) as { password: string };
  return Object.assign(new URL(address!), { password }).href;
}

/** A folder for the embedded database of one example. */
export interface DataFolder {
  readonly path: string;
  /** The process ID of the Postgres server that uses it. */
  postgres(): number | undefined;
  /** Waits for that server's end, and removes the folder. */
  remove(): Promise<void>;
}

export function createDataFolder(): DataFolder {
  const path = mkdtempSync(join(tmpdir(), 'tidemark-example-'));
  const postgres = () => livingPostgres(join(path, 'postgres'));
  return {
    path,
    postgres,
    async remove() {
      for (const deadline = Date.now() + 20_000; postgres() !== undefined && Date.now() < deadline; ) await sleep(50);
      rmSync(path, { recursive: true, force: true });
    },
  };
}
