/** The process that starts the workers of a server, and gives them the connections of its port. */
import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ListenAddress } from '../environment.js';
import { SetupError } from '../errors.js';
import { settlesWithin } from '../limits/deadline.js';
import type { Logger } from '../log.js';
import { closeMs, usualDrainDelayMs, usualDrainMs } from '../serving.js';
import { Handover } from './handover.js';
import { Measuring } from './measuring.js';
import type { Report, Served } from './messages.js';
import { type Action, WorkerPlan } from './plan.js';
import { type End, WorkerProcess } from './worker-process.js';

export interface WorkersOptions {
  readonly count: number;
  /** The file that a worker runs, with its arguments, and what else is in its environment. */
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly address: ListenAddress;
  readonly log: Logger;
}

/** A worker has one core: more threads that collect garbage would take those of the others, and of Postgres. */
const threads = '--v8-pool-size=1';

/** How long a worker takes to end at most, with some time for a busy machine. */
const endMs = usualDrainMs + closeMs + 2_000;

export class Workers {
  readonly #options: WorkersOptions;
  readonly #plan: WorkerPlan;
  readonly #handover = new Handover();
  readonly #measuring = new Measuring();
  /** All that have not ended, by their numbers. */
  readonly #processes = new Map<number, WorkerProcess>();
  readonly #ready = new Set<WorkerProcess>();
  #served: Served | null = null;
  #onServing = () => {};
  #onFailure = (_: unknown) => {};

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#plan = new WorkerPlan(options.count);
    const { file, args } = options;
    cluster.setupPrimary({ exec: file, args: [...args], execArgv: [threads, ...process.execArgv] });
  }

  /**
   * Starts them. Resolves when each serves, or has tried to, and the port is open.
   * @throws SetupError if the first cannot start; and `EADDRINUSE` and the like
   */
  start(): Promise<{ readonly url: string; readonly served: Served | null }> {
    return new Promise((resolve, reject) => {
      const { port, hostname } = this.#options.address;
      const listen = async () => ({ url: await this.#handover.listen(port, hostname), served: this.#served });
      this.#onServing = () => resolve(listen());
      this.#onFailure = reject;
      this.#follow(this.#plan.begin());
    });
  }

  /** Replaces them by new processes, one after another. Those that cannot be replaced stay. */
  replace(): void {
    this.#follow(this.#plan.replace());
  }

  /**
   * Has all of them answer what they have begun with, and end.
   * @param delayMs for how long connections are still accepted
   * @returns whether all ended in time
   */
  async stop(delayMs: number): Promise<boolean> {
    this.#plan.stop();
    for (const process of this.#processes.values()) {
      if (this.#ready.has(process)) process.order({ kind: 'drain', isReplaced: false });
      else process.kill();
    }
    await sleep(delayMs);
    this.#handover.close();
    const ends = [...this.#ready].map((process) => this.#end(process));
    return (await Promise.all(ends)).every(({ code }) => code === 0);
  }

  async #end(process: WorkerProcess): Promise<End> {
    process.order({ kind: 'end' });
    if (!(await settlesWithin(endMs, process.ended))) process.kill();
    return process.ended;
  }

  #follow(actions: readonly Action[]): void {
    for (const action of actions) this.#do(action);
  }

  #do(action: Action): void {
    switch (action.do) {
      case 'start':
        this.#start(action.process);
        return;
      case 'wait':
        setTimeout(() => this.#follow(this.#plan.resume(action.worker)), action.ms);
        return;
      case 'listen':
        this.#onServing();
        return;
      case 'give up':
        this.#onFailure(new SetupError(action.reason));
        return;
      case 'end':
        void this.#replaced(this.#processes.get(action.process)!);
        return;
      case 'tell':
        this.#options.log[action.level]({}, action.message);
    }
  }

  #start(number: number): void {
    const process = new WorkerProcess(number, this.#options.env, {
      onReport: (process, report) => this.#hear(process, report),
      onEnd: (process, { reason }) => {
        this.#processes.delete(process.number);
        this.#ready.delete(process);
        this.#handover.lost(process);
        this.#measuring.ended(process);
        this.#follow(this.#plan.ended(process.number, reason, performance.now()));
      },
    });
    this.#processes.set(number, process);
  }

  #hear(process: WorkerProcess, report: Report): void {
    switch (report.kind) {
      case 'ready':
        this.#served = report.served;
        this.#ready.add(process);
        this.#measuring.add(process);
        this.#handover.add(process);
        this.#follow(this.#plan.ready(process.number, performance.now()));
        return;
      case 'taken':
        this.#handover.taken(report.id);
        return;
      case 'measured':
        this.#measuring.answered(process, report.id, report.measurements);
        return;
      case 'ending':
        this.#measuring.note(process, report.measurements);
        return;
      case 'metrics':
        void this.#expose(process, report.id);
    }
  }

  async #replaced(process: WorkerProcess): Promise<void> {
    this.#handover.remove(process);
    process.order({ kind: 'drain', isReplaced: true });
    await sleep(usualDrainDelayMs);
    await this.#end(process);
  }

  async #expose(process: WorkerProcess, id: number): Promise<void> {
    process.order({ kind: 'exposition', id, ...(await this.#measuring.expose()) });
  }
}
