/**
 * Decides what to do about the worker processes of a server when one of them is ready or ends, and when all are to be
 * replaced. Pure: it starts nothing and waits for nothing.
 */

/** The pauses before a worker starts again, in milliseconds. The last one repeats. */
const pausesMs = [0, 1_000, 3_000, 10_000, 30_000];
/** A worker that has served for this long starts again immediately. */
const steadyMs = 60_000;

export type Action =
  /** Start this process for the worker. */
  | { readonly do: 'start'; readonly process: number; readonly worker: number }
  /** Call `resume` after this time. */
  | { readonly do: 'wait'; readonly ms: number; readonly worker: number }
  /** Open the port. Each worker serves or has tried to start, so none will receive most of the connections. */
  | { readonly do: 'listen' }
  /** The first process could not start, so no other one will. */
  | { readonly do: 'give up'; readonly reason: string }
  /** Let this process finish its requests and exit. */
  | { readonly do: 'end'; readonly process: number }
  | { readonly do: 'log'; readonly level: 'info' | 'warn' | 'error'; readonly message: string };

/** A worker, run by one process after another. */
interface Worker {
  readonly number: number;
  /** The process that receives connections. */
  serving?: number | undefined;
  /** The time at which it began to serve. */
  since: number;
  /** The process that is starting, to replace the serving one or because there is none. */
  starting?: number | undefined;
  /** The number of its processes that have ended unexpectedly in quick succession. */
  failures: number;
}

/** The replacement of all workers, one after another. */
interface Replacement {
  /** The workers still to be replaced. */
  readonly left: Worker[];
  /** The worker being replaced. */
  worker: Worker;
  /** The new process. */
  process?: number | undefined;
  /** The old process, which has not ended yet. */
  ending?: number | undefined;
  /** True if another replacement was requested during this one. */
  again: boolean;
}

const logAction = (level: 'info' | 'warn' | 'error', message: string): Action => ({ do: 'log', level, message });

export class WorkerPlan {
  readonly #workers: readonly Worker[];
  readonly #ending = new Set<number>();
  #processes = 0;
  #hasServed = false;
  #isListening = false;
  #isStopping = false;
  #replacement: Replacement | undefined;

  /** @param count the number of workers */
  constructor(count: number) {
    this.#workers = Array.from({ length: count }, (_, i) => ({ number: i + 1, since: 0, failures: 0 }));
  }

  /** Starts the first worker alone: if it cannot start, the others could not either. */
  begin(): Action[] {
    return [this.#start(this.#workers[0]!)];
  }

  /** Handles a process that is ready to serve. */
  ready(process: number, now: number): Action[] {
    const worker = this.#workers.find(({ starting }) => starting === process);
    if (!worker || this.#isStopping) return [];
    const old = worker.serving;
    Object.assign(worker, { serving: process, since: now, starting: undefined });
    if (!this.#hasServed) {
      this.#hasServed = true;
      return [...this.#workers.slice(1).map((other) => this.#start(other)), ...this.#listen()];
    }
    if (!this.#isListening) return this.#listen();
    const replacement = this.#replacement;
    if (replacement?.worker !== worker) return [];
    if (replacement.process !== process) return this.#replace(replacement);
    if (old === undefined) return this.#replaceNext(replacement);
    replacement.ending = old;
    this.#ending.add(old);
    return [{ do: 'end', process: old }];
  }

  /** Handles the end of a process; `how` is one sentence or several. */
  ended(process: number, how: string, now: number): Action[] {
    if (this.#isStopping) return [];
    if (this.#ending.delete(process)) {
      const replacement = this.#replacement;
      return replacement?.ending === process ? this.#replaceNext(replacement) : [];
    }
    const worker = this.#workers.find(({ serving, starting }) => serving === process || starting === process);
    if (!worker) return [];
    return worker.starting === process ? this.#failed(worker, process, how) : this.#died(worker, how, now);
  }

  /** Handles the end of a worker's pause. */
  resume(number: number): Action[] {
    const worker = this.#workers[number - 1]!;
    const isNeeded = worker.serving === undefined && worker.starting === undefined && !this.#isStopping;
    return isNeeded ? [this.#start(worker)] : [];
  }

  /** Replaces all workers, one after another. */
  replace(): Action[] {
    if (!this.#isListening || this.#isStopping) return [];
    if (this.#replacement) {
      this.#replacement.again = true;
      return [];
    }
    const [worker, ...left] = this.#workers;
    this.#replacement = { worker: worker!, left, again: false };
    return [logAction('info', 'Replacing the workers'), ...this.#replace(this.#replacement)];
  }

  /** Stops planning. No further actions follow. */
  stop(): void {
    this.#isStopping = true;
  }

  #listen(): Action[] {
    const haveAllTried = this.#workers.every(({ serving, failures }) => serving !== undefined || failures > 0);
    if (this.#isListening || !haveAllTried) return [];
    this.#isListening = true;
    return [{ do: 'listen' }];
  }

  #start(worker: Worker): Action {
    worker.starting = ++this.#processes;
    return { do: 'start', process: worker.starting, worker: worker.number };
  }

  /** Starts a process to replace the worker's current one, unless one is starting already. */
  #replace(replacement: Replacement): Action[] {
    if (replacement.worker.starting !== undefined) return [];
    const start = this.#start(replacement.worker);
    replacement.process = replacement.worker.starting;
    return [start];
  }

  #replaceNext({ left: [worker, ...left], again }: Replacement): Action[] {
    if (worker) {
      this.#replacement = { worker, left, again };
      return this.#replace(this.#replacement);
    }
    this.#replacement = undefined;
    return [logAction('info', 'All workers have been replaced'), ...(again ? this.replace() : [])];
  }

  #failed(worker: Worker, process: number, how: string): Action[] {
    worker.starting = undefined;
    if (!this.#hasServed) return [{ do: 'give up', reason: how }];
    const replacement = this.#replacement;
    if (replacement?.worker !== worker) return this.#startAgain(worker, how);
    if (replacement.process !== process) return this.#replace(replacement);
    this.#replacement = undefined;
    const message = `${how}\nWorker ${worker.number} could not be replaced. The workers that serve go on.`;
    const more = worker.serving === undefined ? this.#startAgain(worker, how) : [];
    return [logAction('error', message), ...more, ...(replacement.again ? this.replace() : [])];
  }

  #died(worker: Worker, how: string, now: number): Action[] {
    worker.serving = undefined;
    if (now - worker.since > steadyMs) worker.failures = 0;
    // Another process is about to replace it.
    if (worker.starting !== undefined) return [logAction('warn', how)];
    return this.#startAgain(worker, how);
  }

  #startAgain(worker: Worker, how: string): Action[] {
    const ms = pausesMs[Math.min(worker.failures, pausesMs.length - 1)]!;
    worker.failures++;
    const when = ms > 0 ? ` in ${ms / 1_000} s` : '';
    const message = logAction('warn', `${how}\nStarting worker ${worker.number} again${when}.`);
    return [message, ms > 0 ? { do: 'wait', ms, worker: worker.number } : this.#start(worker), ...this.#listen()];
  }
}
