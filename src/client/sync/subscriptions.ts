import type { DiffOperation, LogContext, ReadTransaction, ReplicacheImpl, ScanResult } from '#engine';
import { isolate } from '../observable.js';

type Engine = Pick<ReplicacheImpl, 'clientID' | 'subscribe' | 'experimentalWatch' | 'query'>;

/** A listener of the application's. */
interface Listener {
  readonly call: (listener: () => void) => void;
  readonly stop: () => void;
}

/** The application's listeners for data. When its user signs out, all are shown that there is none any more. */
export class Subscriptions {
  readonly #engine: Engine;
  readonly #log: LogContext;
  readonly #starting = new Set<Promise<void>>();
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
    return this.#listen(withoutData, ({ call }) =>
      this.#engine.subscribe(body, {
        onData: (result) => call(() => onData(result)),
        onError: (error) => call(() => this.#log.error?.('A subscription failed', error)),
      }),
    );
  }

  /** Calls a listener with what is there, and then with what has changed. Returns a function that stops it. */
  watch(prefix: string, onDiff: (diff: readonly DiffOperation[]) => void): () => void {
    const withoutData = async () => {
      const diff = await this.#deletions(prefix);
      return () => onDiff(diff);
    };
    return this.#listen(withoutData, ({ call }) =>
      this.#engine.experimentalWatch((diff) => call(() => onDiff(diff)), { prefix, initialValuesInFirstDiff: true }),
    );
  }

  #listen(withoutData: () => Promise<() => void>, start: (listener: Listener) => () => void): () => void {
    let started = () => {};
    const listener: Listener = {
      call: (call) => {
        started();
        if (this.#active.has(listener)) isolate(call);
      },
      stop: () => void this.#active.delete(listener),
    };
    this.#active.set(listener, withoutData);
    if (this.#hasEnded) {
      // The engine never calls it: a client that closes must not wait for that.
      void this.end();
      return listener.stop;
    }
    const starting = new Promise<void>((resolve) => {
      started = resolve;
    });
    this.#starting.add(starting);
    void starting.then(() => this.#starting.delete(starting));
    const stop = start(listener);
    return () => {
      listener.stop();
      stop();
    };
  }

  /** Waits until each listener has been called once. */
  async started(): Promise<void> {
    await Promise.all(this.#starting);
  }

  /** Calls each listener a last time. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    const active = [...this.#active];
    this.#active.clear();
    const calls = active.map(async ([, withoutData]) => isolate(await withoutData()));
    for (const call of calls) call.catch((error: unknown) => this.#log.error?.('A subscription failed', error));
    await Promise.allSettled(calls);
  }

  /** The deletion of all that is there. */
  async #deletions(prefix: string): Promise<DiffOperation[]> {
    const diff: DiffOperation[] = [];
    await this.#engine.query(async (tx) => {
      for await (const [key, oldValue] of tx.scan({ prefix }).entries()) diff.push({ op: 'del', key, oldValue });
    });
    return diff;
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
