/** The process that starts the workers of a server, and hands them the connections of its port. */
import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deferred } from '../deferred.js';
import type { ListenAddress } from '../environment.js';
import { SetupError } from '../errors.js';
import { settlesWithin } from '../limits/deadline.js';
import type { Logger } from '../log.js';
import { closeMs, defaultDrainDelayMs, defaultDrainMs } from '../serving.js';
import { Handover } from './handover.js';
import type { ServedPaths, WorkerMessage } from './messages.js';
import { MetricsCollector } from './metrics-collector.js';
import { type Action, WorkerPlan } from './plan.js';
import { type End, type WorkerOwner, WorkerProcess } from './worker-process.js';

export interface WorkersOptions {
  readonly count: number;
  /** The file that a worker runs, its arguments, and additions to its environment. */
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly address: ListenAddress;
  readonly log: Logger;
}

/** A worker has one core. More garbage collection threads would take the cores of other workers and of Postgres. */
const threads = '--v8-pool-size=1';

/** The maximum time for a worker to exit, with some slack for a busy machine. */
export const endMs: number = defaultDrainMs + closeMs + 2_000;

export class Workers implements WorkerOwner {
  readonly #options: WorkersOptions;
  readonly #plan: WorkerPlan;
  readonly #handover = new Handover();
  readonly #metrics = new MetricsCollector();
  /** The processes that have not ended, by number. */
  readonly #processes = new Map<number, WorkerProcess>();
  readonly #ready = new Set<WorkerProcess>();
  #paths: ServedPaths | null = null;
  readonly #listening = new Deferred<{ readonly url: string; readonly paths: ServedPaths | null }>();

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#plan = new WorkerPlan(options.count);
    const { file, args } = options;
    cluster.setupPrimary({ exec: file, args: [...args], execArgv: [threads, ...process.execArgv] });
  }

  /**
   * Starts the workers. Resolves when each serves, or has tried to start, and the port is open.
   * @throws SetupError if the first worker cannot start; system errors such as `EADDRINUSE`
   */
  async start(): Promise<{ readonly url: string; readonly paths: ServedPaths | null }> {
    this.#follow(this.#plan.begin());
    return this.#listening.promise;
  }

  /** Replaces the workers with new processes, one after another. Those that cannot be replaced stay. */
  replace(): void {
    this.#follow(this.#plan.replace());
  }

  /**
   * Lets all workers finish their requests and exit.
   * @param delayMs how long to keep accepting connections
   * @returns true if all ended in time
   */
  async stop(delayMs: number): Promise<boolean> {
    this.#plan.stop();
    for (const process of this.#processes.values()) {
      if (this.#ready.has(process)) process.send({ kind: 'drain', isReplaced: false });
      else process.kill();
    }
    await sleep(delayMs);
    this.#handover.close();
    const ends = [...this.#ready].map((process) => this.#end(process));
    return (await Promise.all(ends)).every(({ code }) => code === 0);
  }

  async #end(process: WorkerProcess): Promise<End> {
    process.send({ kind: 'end' });
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
        this.#listening.resolve(this.#listen());
        return;
      case 'give up':
        this.#listening.reject(new SetupError(action.reason));
        return;
      case 'end':
        void this.#replaced(this.#processes.get(action.process)!);
        return;
      case 'log':
        this.#options.log[action.level]({}, action.message);
    }
  }

  async #listen(): Promise<{ readonly url: string; readonly paths: ServedPaths | null }> {
    const { port, hostname } = this.#options.address;
    return { url: await this.#handover.listen(port, hostname), paths: this.#paths };
  }

  #start(number: number): void {
    this.#processes.set(number, new WorkerProcess(number, this.#options.env, this));
  }

  handleEnd(process: WorkerProcess, { reason }: End): void {
    this.#processes.delete(process.number);
    this.#ready.delete(process);
    this.#handover.handleExit(process);
    this.#metrics.retire(process);
    this.#follow(this.#plan.ended(process.number, reason, performance.now()));
  }

  handleMessage(process: WorkerProcess, message: WorkerMessage): void {
    switch (message.kind) {
      case 'ready':
        this.#paths = message.paths;
        this.#ready.add(process);
        this.#metrics.add(process);
        this.#handover.add(process);
        this.#follow(this.#plan.ready(process.number, performance.now()));
        return;
      case 'taken':
        this.#handover.confirm(message.id);
        return;
      case 'measured':
        this.#metrics.recordAnswer(process, message.id, message.measurements);
        return;
      case 'ending':
        this.#metrics.record(process, message.measurements);
        return;
      case 'metrics':
        void this.#expose(process, message.id);
    }
  }

  async #replaced(process: WorkerProcess): Promise<void> {
    this.#handover.remove(process);
    process.send({ kind: 'drain', isReplaced: true });
    await sleep(defaultDrainDelayMs);
    await this.#end(process);
  }

  async #expose(process: WorkerProcess, id: number): Promise<void> {
    process.send({ kind: 'exposition', id, ...(await this.#metrics.expose()) });
  }
}
