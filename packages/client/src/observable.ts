/** A value that changes. Compatible with React's `useSyncExternalStore`. */
export interface Observable<Value> {
  /** Returns the current value: the same reference until it changes. */
  readonly get: () => Value;
  /** Calls the listener after each change. Returns an unsubscribe function. */
  readonly subscribe: (listener: (value: Value) => void) => () => void;
}

/** The application's listeners. A function that is added twice is called twice. */
export class Listeners<Value> {
  readonly #functions = new Map<symbol, (value: Value) => void>();

  get size(): number {
    return this.#functions.size;
  }

  /** Adds a listener. Returns the ID to remove it by. */
  add(listener: (value: Value) => void): symbol {
    const id = Symbol('listener');
    this.#functions.set(id, listener);
    return id;
  }

  /** Returns false if the listener has been removed already. */
  remove(id: symbol): boolean {
    return this.#functions.delete(id);
  }

  call(value: Value): void {
    for (const listener of [...this.#functions.values()]) isolate(() => listener(value));
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
    const id = this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#disconnect = this.#connect?.(this);
    return () => {
      if (this.#listeners.remove(id) && this.#listeners.size === 0) this.#disconnect?.();
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
