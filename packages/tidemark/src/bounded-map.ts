/** A limit on the sum of the sizes of a map's keys. */
export interface SizeLimit<Key> {
  readonly maxSize: number;
  sizeOf(key: Key): number;
}

/** A map of limited size. When it is full, it removes the entries that were set first. */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #maxEntries: number;
  readonly #sizeLimit: SizeLimit<Key> | undefined;
  #size = 0;

  /** @param maxEntries the maximum number of entries */
  constructor(maxEntries: number, sizeLimit?: SizeLimit<Key>) {
    this.#maxEntries = maxEntries;
    this.#sizeLimit = sizeLimit;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    // Setting an existing key again makes its entry the newest.
    this.delete(key);
    this.#entries.set(key, value);
    this.#size += this.#sizeOf(key);
    const maxSize = this.#sizeLimit?.maxSize ?? 0;
    while (this.#entries.size > this.#maxEntries || this.#size > maxSize)
      this.delete(this.#entries.keys().next().value!);
  }

  delete(key: Key): void {
    if (this.#entries.delete(key)) this.#size -= this.#sizeOf(key);
  }

  #sizeOf(key: Key): number {
    return this.#sizeLimit?.sizeOf(key) ?? 0;
  }
}
