/** One process of a server, seen from the process that started it. */
import cluster, { type Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import { settlesWithin } from '../limits/deadline.js';
import type { Order, Report } from './messages.js';

/** How long it may take until the last words of a process that has ended are there. */
const heardMs = 1_000;

/** How it ended. */
export interface End {
  readonly code: number | null;
  /** In a sentence, or several. */
  readonly reason: string;
}

export interface Listeners {
  readonly onReport: (process: WorkerProcess, report: Report) => void;
  /** Nothing reaches it any more. */
  readonly onEnd: (process: WorkerProcess, end: End) => void;
}

export class WorkerProcess {
  /** Among all that were started, from 1. */
  readonly number: number;
  readonly ended: Promise<End>;
  readonly #worker: Worker;
  #text: string | undefined;

  /** Starts it, as `cluster.setupPrimary` has it. */
  constructor(number: number, env: Readonly<Record<string, string>>, { onReport, onEnd }: Listeners) {
    this.number = number;
    this.#worker = cluster.fork(env);
    this.#worker.on('message', (report: Report) => {
      if (report.kind === 'failed') this.#text = report.text;
      onReport(this, report);
    });
    this.ended = this.#untilEnded();
    void this.ended.then((end) => onEnd(this, end));
  }

  give(id: number, socket: Socket): void {
    this.#worker.send({ kind: 'connection', id } satisfies Order, socket, { keepOpen: true }, () => {});
  }

  measure(id: number): void {
    this.order({ kind: 'measure', id });
  }

  order(order: Order): void {
    if (this.#worker.isConnected()) this.#worker.send(order, () => {});
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  /** Until it is gone, and its last words have been heard, if it had any. */
  async #untilEnded(): Promise<End> {
    const worker = this.#worker;
    const heard = new Promise<void>((resolve) => worker.once('disconnect', resolve));
    const { code, how } = await new Promise<{ readonly code: number | null; readonly how: string }>((resolve) => {
      worker.once('exit', (code: number | null, signal: string | null) =>
        resolve({ code, how: `A worker ended by itself (${signal ? `signal ${signal}` : `exit code ${code}`}).` }),
      );
      // If it has been started, it is about to end: what cannot be sent to it any more is noticed then.
      worker.on('error', ({ message }) => {
        const how = `A worker could not be started: ${message}.`;
        if (worker.process.pid === undefined) resolve({ code: null, how });
      });
    });
    // One that was killed says nothing more, and of such a one, Node may never say that it has disconnected.
    if (code !== null) await settlesWithin(heardMs, heard);
    return { code, reason: this.#text ?? how };
  }
}
