/** A server under test: a process that may be killed, and comes back at the same address. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerProcess, type ServerState, startProcess } from '../../../../bench/processes.js';
import { freePort } from '../../../support/process.js';

export interface ServerOptions {
  readonly database: string;
  /** The folder of the compiled package. */
  readonly code: string;
  /** More options of `createSync`, as JSON can say them. */
  readonly options?: object;
}

export interface State extends ServerState {
  /** What it has logged at the level `error`. */
  readonly errors: readonly string[];
}

const script = new URL('server.mjs', import.meta.url).href;
/** A server does not start while its database is away. */
const patienceMs = 30_000;

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

  /** The ID of its process. */
  get pid(): number {
    return this.#process!.pid;
  }

  async start(): Promise<void> {
    const { database, code, options = {} } = this.#options;
    const env = { CODE: code, OPTIONS: JSON.stringify(options), PORT: new URL(this.url).port };
    for (const deadline = Date.now() + patienceMs; ; await sleep(200)) {
      try {
        this.#process = await startProcess(script, database, env);
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  /** Ends it in the midst of everything. */
  kill(): Promise<void> {
    return this.#process!.stop('SIGKILL');
  }

  /** Asks it to end, and waits until it has. */
  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  /** What it takes of the machine, after a collection of garbage. */
  state(): Promise<State> {
    return this.#process!.ask<State>({});
  }
}
