import type { DiffOperation, LogContext, ReadTransaction, ReplicacheImpl, ScanResult } from '#engine';
import { isolate } from '../observable.js';
import type { ReadonlyJSON } from '../stores/types.js';

type Engine = Pick<ReplicacheImpl, 'clientID' | 'closed' | 'subscribe' | 'experimentalWatch'>;

/** How long it takes, at first and at most, until data that could not be read is read again, in milliseconds. */
const [minRetryMs, maxRetryMs] = [500, 30_000];

/**
 * Begins to listen to the engine. Returns a function that stops it.
 * @param call calls the application's listener
 * @param failed called when the data cannot be read
 */
type Start = (call: (listener: () => void) => void, failed: (error: unknown) => void) => () => void;

/** A listener of the application's. */
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

/** The application's listeners for data. When its user signs out, all are shown that there is none any more. */
export class Subscriptions {
  readonly #engine: Engine;
  readonly #log: LogContext;
  /** What each calls its listener with when the data is gone. */
  readonly #active = new Map<Listener, () => Promise<() => void>>();
  #hasEnded = false;

  constructor(engine: Engine, log: LogContext) {
    this.#engine = engine;
    this.#log = log;
  }

  /** True if there is no data any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Calls a listener with what `body` returns, and again whenever that has changed. Returns a function that stops it. */
  subscribe<Result>(body: (tx: ReadTransaction) => Promise<Result>, onData: (result: Result) => void): () => void {
    const withoutData = async () => {
      const result = await body(emptyTransaction(this.#engine.clientID));
      return () => onData(result);
    };
    return this.#listen(withoutData, (call, failed) =>
      this.#engine.subscribe(body, { onData: (result) => call(() => onData(result)), onError: failed }),
    );
  }

  /** Calls a listener with what is there, and then with what has changed. Returns a function that stops it. */
  watch(prefix: string, onDiff: (diff: readonly DiffOperation[]) => void): () => void {
    // At the end, the data may be out of reach: a mutator that never ends holds it up.
    const shown = new Map<string, ReadonlyJSON>();
    const tell = (diff: readonly DiffOperation[]) => {
      for (const { key, newValue } of diff) {
        if (newValue === undefined) shown.delete(key);
        else shown.set(key, newValue);
      }
      onDiff(diff);
    };
    const withoutData = async () => () =>
      onDiff(Array.from(shown, ([key, oldValue]) => ({ op: 'del', key, oldValue })));
    return this.#listen(withoutData, (call, failed) => {
      const onError = (error: unknown) => {
        // Changes must not be told before the rows that are there.
        stop();
        failed(error);
      };
      const options = { prefix, initialValuesInFirstDiff: true, onError } as const;
      const stop = this.#engine.experimentalWatch((diff) => call(() => tell(diff)), options);
      return stop;
    });
  }

  #listen(withoutData: () => Promise<() => void>, start: Start): () => void {
    const listener = new Listener(start, (error) => {
      if (!this.#engine.closed) this.#log.error?.('A subscription failed. It is tried again', error);
    });
    this.#active.set(listener, withoutData);
    // The engine never calls a listener that comes after the end.
    if (this.#hasEnded) void this.end();
    else listener.start();
    return () => {
      this.#active.delete(listener);
      listener.stop();
    };
  }

  /** Calls each listener a last time. */
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

/** A transaction that finds nothing. */
function emptyTransaction(clientID: string): ReadTransaction {
  return { clientID, get: async () => undefined, has: async () => false, scan: () => emptyScan };
}
