import { deepFreeze } from '#engine';
import type { KeyValueRead, KeyValueStore, KeyValueWrite, ReadonlyJSON, StoreProvider } from './types.js';

/** Stores in IndexedDB: each is a database with one object store. */
export const indexedDBStores: StoreProvider = {
  create: (name) => new IndexedDBStore(name),
  drop: (name) => requested(indexedDB.deleteDatabase(name)).then(() => {}),
};

const objectStore = 'chunks';

class IndexedDBStore implements KeyValueStore {
  readonly #name: string;
  #database: Promise<IDBDatabase> | undefined;
  #existed = false;
  #closed = false;

  constructor(name: string) {
    this.#name = name;
  }

  get closed(): boolean {
    return this.#closed;
  }

  async read(): Promise<KeyValueRead> {
    return new IndexedDBRead(() => this.#begin('readonly'), await this.#begin('readonly'));
  }

  async write(): Promise<KeyValueWrite> {
    return new IndexedDBWrite(await this.#begin('readwrite'));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const database = await this.#database?.catch(() => undefined);
    database?.close();
  }

  async #begin(mode: IDBTransactionMode): Promise<IDBTransaction> {
    if (this.#closed) throw new DOMException('The store is closed', 'InvalidStateError');
    const opened = this.#database;
    try {
      return (await this.#open()).transaction(objectStore, mode, { durability: 'relaxed' });
    } catch (error) {
      // The browser, or a deletion by another tab, has closed the connection.
      if (!opened || this.#closed || !isNamed(error, 'InvalidStateError')) throw error;
      this.#database = undefined;
      return (await this.#open()).transaction(objectStore, mode, { durability: 'relaxed' });
    }
  }

  #open(): Promise<IDBDatabase> {
    if (this.#database) return this.#database;
    const opening = openDatabase(this.#name, this.#existed);
    this.#database = opening;
    opening.then(
      () => {
        this.#existed = true;
      },
      () => {
        if (this.#database === opening) this.#database = undefined;
      },
    );
    return opening;
  }
}

/**
 * @param existed true if the database has been open before: a new one would be empty
 * @throws DOMException named `NotFoundError` if it existed and is gone, and every error of IndexedDB
 */
async function openDatabase(name: string, existed: boolean): Promise<IDBDatabase> {
  const request = indexedDB.open(name);
  let gone = false;
  request.onupgradeneeded = () => {
    gone = existed;
    if (gone) request.transaction!.abort();
    else request.result.createObjectStore(objectStore);
  };
  try {
    const database = await requested(request);
    // Otherwise, another tab could not delete it.
    database.onversionchange = () => database.close();
    return database;
  } catch (error) {
    throw gone ? new DOMException(`The database "${name}" was deleted`, 'NotFoundError') : error;
  }
}

class IndexedDBRead implements KeyValueRead {
  readonly #begin: () => Promise<IDBTransaction>;
  #transaction: IDBTransaction;
  #closed = false;

  /** @param begin begins another transaction: IndexedDB ends one that nothing was asked of for a moment */
  constructor(begin: () => Promise<IDBTransaction>, transaction: IDBTransaction) {
    this.#begin = begin;
    this.#transaction = transaction;
  }

  get closed(): boolean {
    return this.#closed;
  }

  async has(key: string): Promise<boolean> {
    return (await this.#request((store) => store.count(key))) > 0;
  }

  async get(key: string): Promise<ReadonlyJSON | undefined> {
    return frozen(await this.#request((store) => store.get(key)));
  }

  release(): void {
    this.#closed = true;
  }

  async #request<Result>(ask: (store: IDBObjectStore) => IDBRequest<Result>): Promise<Result> {
    if (this.#closed) throw closedTransaction();
    try {
      return await requested(ask(this.#transaction.objectStore(objectStore)));
    } catch (error) {
      if (!isNamed(error, 'InvalidStateError') && !isNamed(error, 'TransactionInactiveError')) throw error;
      this.#transaction = await this.#begin();
      return requested(ask(this.#transaction.objectStore(objectStore)));
    }
  }
}

class IndexedDBWrite implements KeyValueWrite {
  readonly #transaction: IDBTransaction;
  /** What to put; undefined deletes the key. */
  readonly #changes = new Map<string, ReadonlyJSON | undefined>();
  #closed = false;
  #isCommitting = false;

  constructor(transaction: IDBTransaction) {
    this.#transaction = transaction;
  }

  get closed(): boolean {
    return this.#closed;
  }

  async has(key: string): Promise<boolean> {
    if (this.#changes.has(key)) return this.#changes.get(key) !== undefined;
    return (await requested(this.#store().count(key))) > 0;
  }

  async get(key: string): Promise<ReadonlyJSON | undefined> {
    if (this.#changes.has(key)) return this.#changes.get(key);
    return frozen(await requested(this.#store().get(key)));
  }

  async put(key: string, value: ReadonlyJSON): Promise<void> {
    this.#change(key, deepFreeze(value));
  }

  async del(key: string): Promise<void> {
    this.#change(key, undefined);
  }

  /** @throws DOMException `QuotaExceededError` if there is no room: IndexedDB tells so by an abort alone */
  async commit(): Promise<void> {
    if (this.#changes.size === 0) return;
    const store = this.#store();
    this.#isCommitting = true;
    const committed = new Promise<void>((resolve, reject) => {
      this.#transaction.oncomplete = () => resolve();
      this.#transaction.onabort = () => reject(this.#transaction.error ?? closedTransaction());
    });
    for (const [key, value] of this.#changes) {
      if (value === undefined) store.delete(key);
      else store.put(value, key);
    }
    await committed;
    this.#isCommitting = false;
  }

  release(): void {
    this.#closed = true;
    if (this.#isCommitting) abort(this.#transaction);
  }

  #change(key: string, value: ReadonlyJSON | undefined): void {
    if (this.#closed) throw closedTransaction();
    this.#changes.set(key, value);
  }

  #store(): IDBObjectStore {
    if (this.#closed) throw closedTransaction();
    return this.#transaction.objectStore(objectStore);
  }
}

function requested<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Ends a commit that nobody waits for any more. */
function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // It has just ended by itself.
  }
}

function frozen(value: ReadonlyJSON | undefined): ReadonlyJSON | undefined {
  return value === undefined ? undefined : deepFreeze(value);
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof DOMException && error.name === name;
}

function closedTransaction(): DOMException {
  return new DOMException('The transaction has ended', 'InvalidStateError');
}
