/** A server under test: a process that can be killed, and restarts at the same address. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerProcess, type ServerState, startProcess } from '../../../../bench/processes.js';
import { freePort } from '../../../support/process.js';

export interface ServerOptions {
  readonly database: string;
  /** The folder of the compiled package. */
  readonly code: string;
  /** Further options of `createSync` that JSON can express. */
  readonly options?: object;
}

export interface State extends ServerState {
  /** Its log entries of the level `error`. */
  readonly errors: readonly string[];
}

const script = new URL('server.mjs', import.meta.url).href;
/** A server does not start while its database is unreachable. */
const timeoutMs = 30_000;

export class Server {
  readonly url: string;
  readonly #options: ServerOptions;
  #process: ServerProcess | undefined;

  private constructor(port: number, options: ServerOptions) {
    this.url = `http://127.0.0.1:${port}`;
    this.#options = options;
  }

  static async start(options: ServerOptions): Promise<Server> {
    const server = new Server(await freePort(), options);
    await server.start();
    return server;
  }

  /** Its process ID. */
  get pid(): number {
    return this.#process!.pid;
  }

  async start(): Promise<void> {
    const { database, code, options = {} } = this.#options;
    const env = { CODE: code, OPTIONS: JSON.stringify(options), PORT: new URL(this.url).port };
    for (const deadline = Date.now() + timeoutMs; ; await sleep(200)) {
      try {
        this.#process = await startProcess(script, database, env);
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  /** Kills it without warning. */
  kill(): Promise<void> {
    return this.#process!.stop('SIGKILL');
  }

  /** Asks it to end, and waits for its end. */
  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  /** The machine's resources that it uses, after a garbage collection. */
  state(): Promise<State> {
    return this.#process!.ask<State>({});
  }
}
