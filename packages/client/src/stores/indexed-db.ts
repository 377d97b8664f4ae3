import { deepFreeze, nextTurn } from '#engine';
import {
  abort,
  closedTransaction,
  completed,
  deletedDatabase,
  generationKey,
  isNamed,
  objectStore,
  openDatabase,
  requested,
} from './indexed-db-database.js';
import type { KeyValueRead, KeyValueStore, KeyValueWrite, ReadonlyJSON, StoreProvider } from './types.js';

/** Stores in IndexedDB: each is a database with one object store. */
export const indexedDBStores: StoreProvider = {
  create: (name) => new IndexedDBStore(name),
  drop: (name) => requested(indexedDB.deleteDatabase(name)).then(() => {}),
};

class IndexedDBStore implements KeyValueStore {
  readonly #name: string;
  #database: Promise<IDBDatabase> | undefined;
  /** The generation of the database when the store was first opened; null until then. */
  #generation: unknown = null;
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
    return new IndexedDBWrite(transaction, this.#name, this.#generation);
  }

  async close(): Promise<void> {
    this.#closed = true;
    // A database that is still opening is closed once it is open, which may never happen.
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
    const database = await openDatabase(this.#name, this.#generation !== null);
    if (this.#generation !== null) return database;
    this.#generation = await requested(database.transaction(objectStore).objectStore(objectStore).get(generationKey));
    return database;
  }
}

class IndexedDBRead implements KeyValueRead {
  readonly #begin: () => Promise<IDBTransaction>;
  #transaction: IDBTransaction;
  #closed = false;

  /** @param begin begins another transaction, because IndexedDB ends a transaction without pending requests */
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
  readonly #generation: unknown;
  /** The changes to commit, by key; undefined deletes the key. */
  readonly #changes = new Map<string, ReadonlyJSON | undefined>();
  #closed = false;
  #isCommitting = false;

  /** @param generation the generation of the database that the store opened */
  constructor(transaction: IDBTransaction, name: string, generation: unknown) {
    this.#transaction = transaction;
    this.#name = name;
    this.#generation = generation;
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
   * @throws DOMException `QuotaExceededError` if the disk is full, which IndexedDB reports only by aborting;
   * `NotFoundError` if the database was emptied after the store was opened
   */
  async commit(): Promise<void> {
    if (this.#changes.size === 0) return;
    const store = this.#store();
    this.#isCommitting = true;
    const committed = completed(this.#transaction);
    const generationRequest = store.get(generationKey);
    let wasCleared = false;
    generationRequest.onsuccess = () => {
      wasCleared = generationRequest.result !== this.#generation;
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

function frozen(value: ReadonlyJSON | undefined): ReadonlyJSON | undefined {
  return value === undefined ? undefined : deepFreeze(value);
}
