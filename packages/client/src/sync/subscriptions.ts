import type { DiffOperation, LogContext, ReadTransaction, ReplicacheImpl, ScanResult } from '#engine';
import { isolate } from '../observable.js';
import type { ReadonlyJSON } from '../stores/types.js';

type Engine = Pick<ReplicacheImpl, 'clientID' | 'closed' | 'subscribe' | 'experimentalWatch'>;

/** The first and the maximum delay before data that could not be read is read again, in milliseconds. */
const [minRetryMs, maxRetryMs] = [500, 30_000];

/**
 * Subscribes to the engine. Returns an unsubscribe function.
 * @param call calls the application's listener
 * @param failed called when the data cannot be read
 */
type Start = (call: (listener: () => void) => void, failed: (error: unknown) => void) => () => void;

/** A listener of the application, which subscribes again after a failure. */
class Listener {
  readonly #start: Start;
  readonly #onFirstFailure: (error: unknown) => void;
  #retryMs = minRetryMs;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #stop = () => {};
  #isStopped = false;

  /** @param onFirstFailure called with the first of several failures in a row */
  constructor(start: Start, onFirstFailure: (error: unknown) => void) {
    this.#start = start;
    this.#onFirstFailure = onFirstFailure;
  }

  start(): void {
    this.#stop = this.#start(
      (call) => {
        clearTimeout(this.#retry);
        this.#retry = undefined;
        this.#retryMs = minRetryMs;
        if (!this.#isStopped) isolate(call);
      },
      (error) => this.#failed(error),
    );
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    this.#stop();
  }

  #failed(error: unknown): void {
    if (this.#isStopped || this.#retry !== undefined) return;
    if (this.#retryMs === minRetryMs) this.#onFirstFailure(error);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#stop();
      this.start();
    }, this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, maxRetryMs);
  }
}

/** The application's subscriptions to data. When the user signs out, each receives an empty result. */
export class Subscriptions {
  readonly #engine: Engine;
  readonly #log: LogContext;
  /** For each listener, a function that prepares its last call, without data. */
  readonly #active = new Map<Listener, () => Promise<() => void>>();
  #hasEnded = false;

  constructor(engine: Engine, log: LogContext) {
    this.#engine = engine;
    this.#log = log;
  }

  /** True if the user has signed out, so there is no more data. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Calls a listener with the result of `body`, and again after each change. Returns an unsubscribe function. */
  subscribe<Result>(body: (tx: ReadTransaction) => Promise<Result>, onData: (result: Result) => void): () => void {
    const withoutData = async () => {
      const result = await body(emptyTransaction(this.#engine.clientID));
      return () => onData(result);
    };
    return this.#listen(withoutData, (call, failed) =>
      this.#engine.subscribe(body, { onData: (result) => call(() => onData(result)), onError: failed }),
    );
  }

  /** Calls a listener with all existing entries, then with each set of changes. Returns an unsubscribe function. */
  watch(prefix: string, onDiff: (diff: readonly DiffOperation[]) => void): () => void {
    // At the end, the data may be unreadable, because a mutator that never ends blocks reads.
    const shownRows = new Map<string, ReadonlyJSON>();
    const forward = (diff: readonly DiffOperation[]) => {
      for (const { key, newValue } of diff) {
        if (newValue === undefined) shownRows.delete(key);
        else shownRows.set(key, newValue);
      }
      onDiff(diff);
    };
    const withoutData = async () => () =>
      onDiff(Array.from(shownRows, ([key, oldValue]) => ({ op: 'del', key, oldValue })));
    return this.#listen(withoutData, (call, failed) => {
      const onError = (error: unknown) => {
        // The listener must not receive changes before the existing rows.
        stop();
        failed(error);
      };
      const options = { prefix, initialValuesInFirstDiff: true, onError } as const;
      const stop = this.#engine.experimentalWatch((diff) => call(() => forward(diff)), options);
      return stop;
    });
  }

  #listen(withoutData: () => Promise<() => void>, start: Start): () => void {
    const listener = new Listener(start, (error) => {
      if (!this.#engine.closed) this.#log.error?.('A subscription failed. It is tried again', error);
    });
    this.#active.set(listener, withoutData);
    // The engine calls no listener that subscribes after the end.
    if (this.#hasEnded) void this.end();
    else listener.start();
    return () => {
      this.#active.delete(listener);
      listener.stop();
    };
  }

  /** Calls each listener a last time, without data. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    const active = [...this.#active];
    this.#active.clear();
    for (const [listener] of active) listener.stop();
    const calls = active.map(async ([, withoutData]) => isolate(await withoutData()));
    for (const call of calls) call.catch((error: unknown) => this.#log.error?.('A subscription failed', error));
    await Promise.allSettled(calls);
  }
}

const emptyScan: ScanResult = {
  async *values() {},
  async *entries() {},
};

/** Creates a transaction that finds nothing. */
function emptyTransaction(clientID: string): ReadTransaction {
  return { clientID, get: async () => undefined, has: async () => false, scan: () => emptyScan };
}
