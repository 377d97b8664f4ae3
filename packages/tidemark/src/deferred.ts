/** A promise that its owner settles. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  #resolve!: (value: T | PromiseLike<T>) => void;
  #reject!: (reason: unknown) => void;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Resolves the promise; it follows a value that is itself a promise. No effect if the promise is settled already. */
  resolve(value: T | PromiseLike<T>): void {
    this.#resolve(value);
  }

  /** Rejects the promise. No effect if it is settled already. */
  reject(reason: unknown): void {
    this.#reject(reason);
  }
}
