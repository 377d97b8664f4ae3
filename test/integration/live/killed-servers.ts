/** Servers that run one after another, each in its own process, and are killed. */
import { fileURLToPath } from 'node:url';
import { type Running, start } from '../../support/process.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const script = fileURLToPath(new URL('calls-server.mjs', import.meta.url));

/**
 * Servers start several at a time, and never while one serves, which would leave it too little CPU time to complete a
 * call.
 */
const batchSize = 5;

export interface KilledServersOptions {
  readonly database: string;
  /** The folder of the compiled package. */
  readonly code: string;
}

interface Server {
  readonly running: Running;
  readonly url: string;
}

export class KilledServers {
  readonly #options: KilledServersOptions;
  readonly #started: Running[] = [];
  #spares: Server[] = [];
  #serving!: Promise<Server>;

  constructor(options: KilledServersOptions) {
    this.#options = options;
    this.#serve(this.#next());
  }

  /** Resolves with the address of the server that currently serves, once there is one. */
  async url(): Promise<string> {
    return (await this.#serving).url;
  }

  /** Kills the server that serves while it is busy, and lets the next one replace it. */
  async killServing(): Promise<void> {
    const { running } = await this.#serving;
    running.child.kill('SIGKILL');
    this.#serve(this.#next());
  }

  /** Kills the remaining servers, and returns the logs of all servers. */
  async close(): Promise<string> {
    this.#serve(Promise.reject(new Error('The servers have been closed')));
    for (const { child } of this.#started) child.kill('SIGKILL');
    const outputs = await Promise.all(this.#started.map(({ ended }) => ended));
    return outputs.map(({ stdout, stderr }) => stdout.replace(/^Ready .*\n/m, '') + stderr).join('');
  }

  #serve(server: Promise<Server>): void {
    this.#serving = server;
    // Callers that wait for the server receive the rejection; at the end, there are none.
    server.catch(() => {});
  }

  async #next(): Promise<Server> {
    if (this.#spares.length === 0) {
      this.#spares = await Promise.all(Array.from({ length: batchSize }, () => this.#start()));
    }
    return this.#spares.shift()!;
  }

  async #start(): Promise<Server> {
    const { database, code } = this.#options;
    const running = start(script, [], { cwd: root, env: { DATABASE_URL: database, CODE: code } });
    this.#started.push(running);
    const [, url] = await running.printed(/Ready (\S+)\n/);
    return { running, url: url! };
  }
}
