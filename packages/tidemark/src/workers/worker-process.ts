/** A worker process, seen from the process that started it. */
import cluster, { type Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import { settlesWithin } from '../limits/deadline.js';
import type { WorkerCommand, WorkerMessage } from './messages.js';

/** The maximum time to wait for the last message of a process that has exited. */
const lastMessageMs = 1_000;

/** How a process ended. */
export interface End {
  readonly code: number | null;
  /** One sentence or several. */
  readonly reason: string;
}

/** The owner of worker processes. */
export interface WorkerOwner {
  handleMessage(process: WorkerProcess, message: WorkerMessage): void;
  /** Called when the process has ended and receives nothing more. */
  handleEnd(process: WorkerProcess, end: End): void;
}

export class WorkerProcess {
  /** Its number among all processes that were started, from 1. */
  readonly number: number;
  readonly ended: Promise<End>;
  readonly #worker: Worker;
  #failureText: string | undefined;

  /** Starts the process with the settings of `cluster.setupPrimary`. */
  constructor(number: number, env: Readonly<Record<string, string>>, owner: WorkerOwner) {
    this.number = number;
    this.#worker = cluster.fork(env);
    this.#worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'failed') this.#failureText = message.text;
      owner.handleMessage(this, message);
    });
    this.ended = this.#untilEnded();
    void this.ended.then((end) => owner.handleEnd(this, end));
  }

  give(id: number, socket: Socket): void {
    this.#worker.send({ kind: 'connection', id } satisfies WorkerCommand, socket, { keepOpen: true }, () => {});
  }

  measure(id: number): void {
    this.send({ kind: 'measure', id });
  }

  send(command: WorkerCommand): void {
    if (this.#worker.isConnected()) this.#worker.send(command, () => {});
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  /** Resolves when the process has exited and its last message, if any, has arrived. */
  async #untilEnded(): Promise<End> {
    const worker = this.#worker;
    const disconnected = new Promise<void>((resolve) => worker.once('disconnect', resolve));
    const { code, how } = await new Promise<{ readonly code: number | null; readonly how: string }>((resolve) => {
      worker.once('exit', (code: number | null, signal: string | null) =>
        resolve({ code, how: `A worker ended by itself (${signal ? `signal ${signal}` : `exit code ${code}`}).` }),
      );
      // If the process has started, it is about to exit, and the exit handler deals with what it could not receive.
      worker.on('error', ({ message }) => {
        const how = `A worker could not be started: ${message}.`;
        if (worker.process.pid === undefined) resolve({ code: null, how });
      });
    });
    // A killed process sends nothing more, and Node may never emit `disconnect` for it.
    if (code !== null) await settlesWithin(lastMessageMs, disconnected);
    return { code, reason: this.#failureText ?? how };
  }
}
