/** A value that changes. Fits React's `useSyncExternalStore`. */
export interface Observable<Value> {
  /** The value as it is now: the same reference until it changes. */
  readonly get: () => Value;
  /** Calls the listener after each change, and returns a function that stops that. */
  readonly subscribe: (listener: (value: Value) => void) => () => void;
}

/** An observable that is set from here. */
export class Cell<Value> implements Observable<Value> {
  #value: Value;
  readonly #listeners = new Set<{ readonly call: (value: Value) => void }>();
  readonly #connect: ((cell: Cell<Value>) => () => void) | undefined;
  #disconnect: (() => void) | undefined;

  /** @param connect called when the first listener comes; what it returns, when the last one has gone */
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

/** Calls what belongs to the application: an error there is the page's, and stops nothing here. */
export function isolate(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
