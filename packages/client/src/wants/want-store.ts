/** The time until which an instance is wanted, in milliseconds since 1970, by the text of the instance. */
export type Expiries = Map<string, number>;

/** The part of `localStorage` that is used. Its own properties are the stored texts. */
type TextStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Used instead of `localStorage` where there is none, and for data that is in memory. */
const memory: TextStorage = Object.create({
  getItem(this: Record<string, string>, key: string) {
    return this[key];
  },
  setItem(this: Record<string, string>, key: string, text: string) {
    this[key] = text;
  },
  removeItem(this: Record<string, string>, key: string) {
    delete this[key];
  },
});

/**
 * What the user's tabs want. Each tab writes under a key of its own, because tabs that write to the same key at the same
 * time lose each other's changes.
 */
export class WantStore {
  readonly #storage: TextStorage;
  /** The beginning of the keys of all tabs of the user. */
  readonly #userPrefix: string;
  /** The beginning of the keys of those with this schema version. */
  readonly #prefix: string;
  readonly #key: string;

  /**
   * @param storage undefined to share the wants within the process only
   * @param name the name of the user's databases
   */
  constructor(storage: TextStorage = memory, name: string, schemaVersion: string, tabID: string) {
    this.#storage = storage;
    this.#userPrefix = `tidemark/wants/${JSON.stringify(name)}`;
    this.#prefix = this.#userPrefix + JSON.stringify(schemaVersion);
    this.#key = this.#prefix + tabID;
  }

  /** Returns the wants of the other tabs. */
  others(): Expiries {
    const expiries = new Map<string, number>();
    for (const key of this.#otherKeys()) {
      const stored = JSON.parse(this.#storage.getItem(key) ?? '[]') as [text: string, expiry: number | null][];
      for (const [text, expiry] of stored) {
        expiries.set(text, Math.max(expiry ?? Number.POSITIVE_INFINITY, expiries.get(text) ?? 0));
      }
    }
    return expiries;
  }

  /** Removes the wants of the other tabs. Those that are still open write theirs again. */
  removeOthers(): void {
    for (const key of this.#otherKeys()) this.#storage.removeItem(key);
  }

  /** Writes the wants of this tab. */
  write(expiries: Expiries): void {
    try {
      // In JSON, an infinite number is null.
      if (expiries.size > 0) this.#storage.setItem(this.#key, JSON.stringify([...expiries]));
      else this.#storage.removeItem(this.#key);
    } catch {
      // The storage is full, so the other tabs do not see what this one wants.
    }
  }

  /** Removes the wants of all tabs of the user. */
  erase(): void {
    for (const key of this.#keys(this.#userPrefix)) this.#storage.removeItem(key);
  }

  /**
   * Calls the listener when another tab changes the wants: with true if it has removed those of this tab. Returns an
   * unsubscribe function.
   */
  listen(listener: (isRemoved: boolean) => void): () => void {
    const onStorage = ({ key, newValue }: StorageEvent) => {
      // Without a key, all has been removed.
      if (key?.startsWith(this.#prefix) !== false) listener(newValue === null && (key ?? this.#key) === this.#key);
    };
    globalThis.addEventListener?.('storage', onStorage);
    return () => globalThis.removeEventListener?.('storage', onStorage);
  }

  #otherKeys(): string[] {
    return this.#keys(this.#prefix).filter((key) => key !== this.#key);
  }

  #keys(prefix: string): string[] {
    return Object.keys(this.#storage).filter((key) => key.startsWith(prefix));
  }
}
