/** Collects the measurements of the workers, and retains the counters of those that have ended. */
import { Deferred } from '../deferred.js';
import { settlesWithin } from '../limits/deadline.js';
import type { Exposition, Measurements } from '../telemetry/exposition.js';
import { aggregateExposition, retainedCounters } from '../telemetry/exposition.js';

/** The maximum time for a worker to answer. After that, its previous answer counts. */
const answerTimeoutMs = 2_000;

/** A process whose measurements are collected. */
export interface MeasuredProcess {
  /** Requests measurements, which are to be passed to `recordAnswer`. */
  measure(id: number): void;
}

interface PendingQuery {
  readonly processes: Set<MeasuredProcess>;
  /** Resolves when all processes have answered. */
  readonly answered: Deferred<void>;
}

export class MetricsCollector {
  readonly #latest = new Map<MeasuredProcess, Measurements>();
  readonly #queries = new Map<number, PendingQuery>();
  #retired: Measurements = [];
  /** Retains the counters of one ended process after another. */
  #retiring: Promise<void> = Promise.resolve();
  #ids = 0;

  add(process: MeasuredProcess): void {
    this.#latest.set(process, []);
  }

  /** Returns the current measurements of all processes. */
  async expose(): Promise<Exposition> {
    await this.#queryAll();
    await this.#retiring;
    return aggregateExposition([...this.#latest.values(), this.#retired]);
  }

  recordAnswer(process: MeasuredProcess, id: number, measurements: Measurements): void {
    this.record(process, measurements);
    this.#completeQuery(process, id);
  }

  /** Records measurements that a process sends without a request. */
  record(process: MeasuredProcess, measurements: Measurements): void {
    if (this.#latest.has(process)) this.#latest.set(process, measurements);
  }

  /** Removes a process that has ended, and retains its counters. */
  retire(process: MeasuredProcess): void {
    const latest = this.#latest.get(process);
    this.#latest.delete(process);
    for (const id of this.#queries.keys()) this.#completeQuery(process, id);
    if (latest === undefined) return;
    this.#retiring = this.#retiring.then(async () => {
      this.#retired = await retainedCounters([this.#retired, latest]);
    });
  }

  async #queryAll(): Promise<void> {
    const id = ++this.#ids;
    const processes = new Set(this.#latest.keys());
    if (processes.size === 0) return;
    const answered = new Deferred<void>();
    this.#queries.set(id, { processes, answered });
    for (const process of processes) process.measure(id);
    await settlesWithin(answerTimeoutMs, answered.promise);
    this.#queries.delete(id);
  }

  #completeQuery(process: MeasuredProcess, id: number): void {
    const query = this.#queries.get(id);
    if (query?.processes.delete(process) && query.processes.size === 0) query.answered.resolve();
  }
}
