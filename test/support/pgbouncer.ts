/**
 * A real pgbouncer in front of any Postgres server. Debian's 1.18 does not support named statements. If pgbouncer is
 * missing, tests are skipped, except in CI.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { guardAgainstCrash } from '../../packages/embedded-postgres/src/guard.js';
import { changeOwner, chooseServerUser } from '../../packages/embedded-postgres/src/user.js';
import { freePort } from './process.js';

/** Debian installs it where only root's programs are. */
const path = `${process.env.PATH ?? ''}:/usr/sbin`;

export const pgbouncerIsMissing: boolean =
  !process.env.CI && !path.split(':').some((folder) => existsSync(`${folder}/pgbouncer`));

export interface PgBouncer {
  /** The given connection string, through the pooler. */
  readonly url: string;
  /** Another database of the same server, through the pooler. */
  through(url: string): string;
  /** Runs a command on its console, such as `pause` or `show pools`. */
  command<Row>(text: string): Promise<Row[]>;
  /** The lines of its log so far that match. */
  logged(pattern: RegExp): string[];
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface PgBouncerOptions {
  /** Default `transaction`. */
  readonly mode?: 'session' | 'transaction' | 'statement';
  /** The maximum number of connections to the server for each database. Default 2. */
  readonly size?: number;
  /** The port on 127.0.0.1 that it listens on. Default: any free port. */
  readonly port?: number;
  /** Additional lines of its configuration. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** The number of ports to try, in case another program takes the one that was free. */
const attempts = 5;

/**
 * @param url a connection string with a user and a password, of a primary or a standby. If the user is a superuser, the
 * pooler accepts all other roles, too.
 */
export async function startPgBouncer(url: string, options: PgBouncerOptions = {}): Promise<PgBouncer> {
  for (let attempt = 1; ; attempt++) {
    const started = await start(url, options.port ?? (await freePort()), options);
    if (started instanceof PoolerProcess) return started.forServer(url);
    if (attempt === attempts || !/address already in use/i.test(started)) {
      throw new Error(`pgbouncer has not started (on Debian: apt-get install pgbouncer):\n${started}`);
    }
  }
}

async function start(url: string, port: number, options: PgBouncerOptions): Promise<PoolerProcess | string> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-pgbouncer-'));
  const user = chooseServerUser(folder);
  const { hostname, port: serverPort, username, password } = new URL(url);
  const name = decodeURIComponent(username);
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(folder, 'users'),
    auth_user: name,
    admin_users: name,
    pool_mode: options.mode ?? 'transaction',
    default_pool_size: options.size ?? 2,
    max_client_conn: 500,
    ...options.settings,
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}\n`);
  const files = {
    users: `${quoted(name)} ${quoted(decodeURIComponent(password))}\n`,
    settings: `[databases]\n* = host=${hostname} port=${serverPort || 5432}\n[pgbouncer]\n${lines.join('')}`,
  };
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(join(folder, file), text, { mode: 0o600 });
    changeOwner(join(folder, file), user);
  }
  chmodSync(folder, 0o700);
  changeOwner(folder, user);
  const child = spawn('pgbouncer', [join(folder, 'settings')], {
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: path },
    ...user,
  });
  // A killed test run leaves no pgbouncer behind.
  if (child.pid !== undefined) guardAgainstCrash(child, user);
  return PoolerProcess.watch(child, folder, port);
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

class PoolerProcess {
  readonly #child: ChildProcess;
  readonly #port: number;
  readonly #ended: Promise<void>;
  #log = '';

  private constructor(child: ChildProcess, folder: string, port: number) {
    this.#child = child;
    this.#port = port;
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#log += text;
    });
    this.#ended = new Promise((resolve) => {
      const onEnd = (error?: unknown) => {
        if (error instanceof Error) this.#log += error.message;
        rmSync(folder, { recursive: true, force: true });
        resolve();
      };
      child.once('close', onEnd).once('error', onEnd);
    });
  }

  /** Resolves with its output if it ends instead of listening. */
  static async watch(child: ChildProcess, folder: string, port: number): Promise<PoolerProcess | string> {
    const pooler = new PoolerProcess(child, folder, port);
    const up = new Promise<void>((resolve) => {
      child.stderr!.on('data', () => {
        if (/process up/.test(pooler.#log)) resolve();
      });
    });
    await Promise.race([up, pooler.#ended]);
    if (/process up/.test(pooler.#log) && pooler.#log.includes(`listening on 127.0.0.1:${port}`)) return pooler;
    child.kill('SIGKILL');
    await pooler.#ended;
    return pooler.#log;
  }

  forServer(url: string): PgBouncer {
    const through = (other: string) => {
      const address = new URL(other);
      address.hostname = '127.0.0.1';
      address.port = String(this.#port);
      return address.href;
    };
    return {
      url: through(url),
      through,
      command: async <Row>(text: string): Promise<Row[]> => {
        const address = new URL(through(url));
        address.pathname = 'pgbouncer';
        const client = new pg.Client({ connectionString: address.href });
        // Some commands end the connection.
        client.on('error', () => {});
        await client.connect();
        try {
          return (await client.query(text)).rows as Row[];
        } finally {
          await client.end();
        }
      },
      logged: (pattern) => this.#log.split('\n').filter((line) => pattern.test(line)),
      stop: async (signal = 'SIGKILL') => {
        this.#child.kill(signal);
        await this.#ended;
      },
    };
  }
}
