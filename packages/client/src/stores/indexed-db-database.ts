/** A database in IndexedDB with one object store, and its requests and transactions as promises. */
import { newRandomHash } from '#engine';

export const objectStore = 'chunks';
/** The value of this key changes when the database is emptied, so that stores opened earlier no longer write to it. */
export const generationKey = 'tidemark/generation';

/**
 * Empties a database, even while other tabs have it open. Their stores can no longer write to it. A deletion would wait
 * for unresponsive tabs, and every later attempt to open the database would wait for the deletion.
 * @param signal aborts the transaction
 * @throws every error of IndexedDB
 */
export async function clearDatabase(name: string, signal: AbortSignal): Promise<void> {
  const database = await openDatabase(name, false);
  try {
    const transaction = database.transaction(objectStore, 'readwrite', { durability: 'strict' });
    signal.addEventListener('abort', () => abort(transaction));
    const cleared = completed(transaction);
    transaction.objectStore(objectStore).clear();
    transaction.objectStore(objectStore).put(newRandomHash(), generationKey);
    await cleared;
  } finally {
    database.close();
  }
}

/**
 * @param existed true if the store has opened the database before: a newly created one would be empty
 * @throws DOMException named `NotFoundError` if it existed and has been deleted, and every error of IndexedDB
 */
export async function openDatabase(name: string, existed: boolean): Promise<IDBDatabase> {
  const request = indexedDB.open(name);
  let wasDeleted = false;
  request.onupgradeneeded = () => {
    wasDeleted = existed;
    if (wasDeleted) request.transaction!.abort();
    else request.result.createObjectStore(objectStore);
  };
  try {
    const database = await requested(request);
    // An open connection would prevent another tab from deleting the database.
    database.onversionchange = () => database.close();
    return database;
  } catch (error) {
    throw wasDeleted ? deletedDatabase(name) : error;
  }
}

export function requested<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export function completed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? closedTransaction());
  });
}

/** Aborts a transaction, unless it has already ended. */
export function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // The transaction has already ended.
  }
}

export function isNamed(error: unknown, name: string): boolean {
  return error instanceof DOMException && error.name === name;
}

export function deletedDatabase(name: string): DOMException {
  return new DOMException(`The database "${name}" was deleted`, 'NotFoundError');
}

export function closedTransaction(): DOMException {
  return new DOMException('The transaction has ended', 'InvalidStateError');
}
