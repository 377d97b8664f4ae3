/** A value that changes. Compatible with React's `useSyncExternalStore`. */
export interface Observable<Value> {
  /** Returns the current value: the same reference until it changes. */
  readonly get: () => Value;
  /** Calls the listener after each change. Returns an unsubscribe function. */
  readonly subscribe: (listener: (value: Value) => void) => () => void;
}

/** The application's listeners. A function that is added twice is called twice. */
export class Listeners<Value> {
  readonly #entries = new Set<{ readonly listener: (value: Value) => void }>();

  get size(): number {
    return this.#entries.size;
  }

  /** Adds a listener. Returns a function that removes it, and that returns false if it has been removed already. */
  add(listener: (value: Value) => void): () => boolean {
    const entry = { listener };
    this.#entries.add(entry);
    return () => this.#entries.delete(entry);
  }

  call(value: Value): void {
    for (const { listener } of [...this.#entries]) isolate(() => listener(value));
  }
}

/** An observable with a value that the client sets. */
export class Cell<Value> implements Observable<Value> {
  #value: Value;
  readonly #listeners = new Listeners<Value>();
  readonly #connect: ((cell: Cell<Value>) => () => void) | undefined;
  #disconnect: (() => void) | undefined;

  /** @param connect called for the first listener; returns a function to call when the last one unsubscribes */
  constructor(value: Value, connect?: (cell: Cell<Value>) => () => void) {
    this.#value = value;
    this.#connect = connect;
  }

  readonly get = (): Value => this.#value;

  readonly subscribe = (listener: (value: Value) => void): (() => void) => {
    const remove = this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#disconnect = this.#connect?.(this);
    return () => {
      if (remove() && this.#listeners.size === 0) this.#disconnect?.();
    };
  };

  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    this.#listeners.call(value);
  }
}

/** Calls a function of the application. Its errors are reported to the page, and do not interrupt the client. */
export function isolate(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
