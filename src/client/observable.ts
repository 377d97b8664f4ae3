/** A value that changes. Compatible with React's `useSyncExternalStore`. */
export interface Observable<Value> {
  /** Returns the current value: the same reference until it changes. */
  readonly get: () => Value;
  /** Calls the listener after each change. Returns an unsubscribe function. */
  readonly subscribe: (listener: (value: Value) => void) => () => void;
}

/** An observable with a value that the client sets. */
export class Cell<Value> implements Observable<Value> {
  #value: Value;
  readonly #listeners = new Set<{ readonly call: (value: Value) => void }>();
  readonly #connect: ((cell: Cell<Value>) => () => void) | undefined;
  #disconnect: (() => void) | undefined;

  /** @param connect called for the first listener; returns a function to call when the last one unsubscribes */
  constructor(value: Value, connect?: (cell: Cell<Value>) => () => void) {
    this.#value = value;
    this.#connect = connect;
  }

  readonly get = (): Value => this.#value;

  readonly subscribe = (listener: (value: Value) => void): (() => void) => {
    const entry = { call: listener };
    this.#listeners.add(entry);
    if (this.#listeners.size === 1) this.#disconnect = this.#connect?.(this);
    return () => {
      if (this.#listeners.delete(entry) && this.#listeners.size === 0) this.#disconnect?.();
    };
  };

  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const { call } of [...this.#listeners]) isolate(() => call(value));
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
