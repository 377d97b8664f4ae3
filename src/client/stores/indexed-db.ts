import { deepFreeze, newRandomHash, nextTurn } from '#engine';
import type { KeyValueRead, KeyValueStore, KeyValueWrite, ReadonlyJSON, StoreProvider } from './types.js';

/** Stores in IndexedDB: each is a database with one object store. */
export const indexedDBStores: StoreProvider = {
  create: (name) => new IndexedDBStore(name),
  drop: (name) => requested(indexedDB.deleteDatabase(name)).then(() => {}),
};

const objectStore = 'chunks';
/** Its value changes when the database is emptied, so that a store from before does not write to it any more. */
const epochKey = 'tidemark/epoch';

/**
 * Empties a database, also while other tabs have it open: their stores can write to it no more. A deletion would wait for
 * a tab that does not respond, and everybody who opens the database would wait for the deletion.
 * @param signal gives it up
 * @throws every error of IndexedDB
 */
export async function clearDatabase(name: string, signal: AbortSignal): Promise<void> {
  const database = await openDatabase(name, false);
  try {
    const transaction = database.transaction(objectStore, 'readwrite', { durability: 'strict' });
    signal.addEventListener('abort', () => abort(transaction));
    const cleared = completed(transaction);
    transaction.objectStore(objectStore).clear();
    transaction.objectStore(objectStore).put(newRandomHash(), epochKey);
    await cleared;
  } finally {
    database.close();
  }
}

class IndexedDBStore implements KeyValueStore {
  readonly #name: string;
  #database: Promise<IDBDatabase> | undefined;
  /** The epoch in which it was opened first; null until then. */
  #epoch: unknown = null;
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
    const transaction = await this.#begin('readwrite');
    return new IndexedDBWrite(transaction, this.#name, this.#epoch);
  }

  async close(): Promise<void> {
    this.#closed = true;
    // A database that is still being opened is closed when it is open, which may never be.
    this.#database?.then(
      (database) => database.close(),
      () => {},
    );
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
    const opening = this.#openDatabase();
    this.#database = opening;
    opening.catch(() => {
      if (this.#database === opening) this.#database = undefined;
    });
    return opening;
  }

  async #openDatabase(): Promise<IDBDatabase> {
    const database = await openDatabase(this.#name, this.#epoch !== null);
    if (this.#epoch !== null) return database;
    this.#epoch = await requested(database.transaction(objectStore).objectStore(objectStore).get(epochKey));
    return database;
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
    throw gone ? deletedDatabase(name) : error;
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
  readonly #name: string;
  readonly #epoch: unknown;
  /** What to put; undefined deletes the key. */
  readonly #changes = new Map<string, ReadonlyJSON | undefined>();
  #closed = false;
  #isCommitting = false;

  /** @param epoch of the store */
  constructor(transaction: IDBTransaction, name: string, epoch: unknown) {
    this.#transaction = transaction;
    this.#name = name;
    this.#epoch = epoch;
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

  /**
   * @throws DOMException `QuotaExceededError` if there is no room: IndexedDB tells so by an abort alone. `NotFoundError` if
   * the database was emptied since the store was opened.
   */
  async commit(): Promise<void> {
    if (this.#changes.size === 0) return;
    const store = this.#store();
    this.#isCommitting = true;
    const committed = completed(this.#transaction);
    const epoch = store.get(epochKey);
    let wasCleared = false;
    epoch.onsuccess = () => {
      wasCleared = epoch.result !== this.#epoch;
      if (wasCleared) abort(this.#transaction);
    };
    let failure: unknown;
    this.#write(store).catch((error: unknown) => {
      failure = error;
      abort(this.#transaction);
    });
    await committed.catch((error: unknown) => {
      throw wasCleared ? deletedDatabase(this.#name) : (this.#transaction.error ?? failure ?? error);
    });
    this.#isCommitting = false;
  }

  async #write(store: IDBObjectStore): Promise<void> {
    for (const [key, value] of this.#changes) {
      if (value === undefined) store.delete(key);
      else store.put(value, key);
      await nextTurn(this);
    }
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

function completed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? closedTransaction());
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

function deletedDatabase(name: string): DOMException {
  return new DOMException(`The database "${name}" was deleted`, 'NotFoundError');
}

function closedTransaction(): DOMException {
  return new DOMException('The transaction has ended', 'InvalidStateError');
}
