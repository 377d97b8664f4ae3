/**
 * What to do about the worker processes of a server when one of them is ready or ends, and when all are to be replaced.
 * Pure: it neither starts nor waits for anything.
 */

/** How long to wait before a worker is started again, in milliseconds; after the last, always as long. */
const pausesMs = [0, 1_000, 3_000, 10_000, 30_000];
/** A worker that has served for this long is started again at once. */
const steadyMs = 60_000;

export type Action =
  /** Start this process, to take the worker's place. */
  | { readonly do: 'start'; readonly process: number; readonly worker: number }
  /** Call `resume` when the time is over. */
  | { readonly do: 'wait'; readonly ms: number; readonly worker: number }
  /** Each worker serves, or has tried to: connections may come, and none gets most of them. */
  | { readonly do: 'listen' }
  /** The first process could not start, so no other one will. */
  | { readonly do: 'give up'; readonly reason: string }
  /** Let this process answer what it has begun with, and end. */
  | { readonly do: 'end'; readonly process: number }
  | { readonly do: 'tell'; readonly level: 'info' | 'warn' | 'error'; readonly message: string };

/** A place for a process. */
interface Worker {
  readonly number: number;
  /** The process that is given connections. */
  serving?: number | undefined;
  /** When it began to serve. */
  since: number;
  /** The process that is to take its place, or to fill it. */
  starting?: number | undefined;
  /** How many of its processes have ended by themselves, one soon after the other. */
  failures: number;
}

/** All workers, while they are replaced one after another. */
interface Replacement {
  /** Those whose turn comes. */
  readonly left: Worker[];
  /** The one whose turn it is. */
  worker: Worker;
  /** The new process. */
  process?: number | undefined;
  /** The process that was replaced and has not ended yet. */
  leaving?: number | undefined;
  /** Replacing was asked for again meanwhile. */
  again: boolean;
}

const tell = (level: 'info' | 'warn' | 'error', message: string): Action => ({ do: 'tell', level, message });

export class WorkerPlan {
  readonly #workers: readonly Worker[];
  readonly #leaving = new Set<number>();
  #processes = 0;
  #hasServed = false;
  #isListening = false;
  #isStopping = false;
  #replacement: Replacement | undefined;

  /** @param count how many workers there are */
  constructor(count: number) {
    this.#workers = Array.from({ length: count }, (_, i) => ({ number: i + 1, since: 0, failures: 0 }));
  }

  /** The first worker alone: if it cannot start, the others could not either. */
  begin(): Action[] {
    return [this.#start(this.#workers[0]!)];
  }

  /** A process is ready to serve. */
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
    replacement.leaving = old;
    this.#leaving.add(old);
    return [{ do: 'end', process: old }];
  }

  /** A process has ended; `how` is a sentence, or several. */
  ended(process: number, how: string, now: number): Action[] {
    if (this.#isStopping) return [];
    if (this.#leaving.delete(process)) {
      const replacement = this.#replacement;
      return replacement?.leaving === process ? this.#replaceNext(replacement) : [];
    }
    const worker = this.#workers.find(({ serving, starting }) => serving === process || starting === process);
    if (!worker) return [];
    return worker.starting === process ? this.#failed(worker, process, how) : this.#died(worker, how, now);
  }

  /** The pause of a worker is over. */
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
    return [tell('info', 'Replacing the workers'), ...this.#replace(this.#replacement)];
  }

  /** From now on, nothing is to be done any more. */
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

  /** Has a new process take the worker's place, but not before one that is starting already. */
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
    return [tell('info', 'All workers have been replaced'), ...(again ? this.replace() : [])];
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
    return [tell('error', message), ...more, ...(replacement.again ? this.replace() : [])];
  }

  #died(worker: Worker, how: string, now: number): Action[] {
    worker.serving = undefined;
    if (now - worker.since > steadyMs) worker.failures = 0;
    // Another process is about to take its place.
    if (worker.starting !== undefined) return [tell('warn', how)];
    return this.#startAgain(worker, how);
  }

  #startAgain(worker: Worker, how: string): Action[] {
    const ms = pausesMs[Math.min(worker.failures, pausesMs.length - 1)]!;
    worker.failures++;
    const when = ms > 0 ? ` in ${ms / 1_000} s` : '';
    const told = tell('warn', `${how}\nStarting worker ${worker.number} again${when}.`);
    return [told, ms > 0 ? { do: 'wait', ms, worker: worker.number } : this.#start(worker), ...this.#listen()];
  }
}
