/** An IndexedDB that can be made to fail in the ways that browsers' do. */
import { setup } from './platform.js';
import type { StorageFault } from './setup.js';

let current: StorageFault = 'none';
let ending: ReturnType<typeof setTimeout> | undefined;

/** Breaks the page's storage for some time. */
export function breakStorage(fault: StorageFault, ms: number): void {
  clearTimeout(ending);
  current = fault;
  ending = setTimeout(() => {
    current = 'none';
  }, ms);
}

/** A request that never gets a response. */
const hanging = {} as IDBRequest<never>;
const hangingStore = { get: () => hanging, count: () => hanging, put: () => hanging, delete: () => hanging };
const hangingTransaction = { objectStore: () => hangingStore, abort() {}, error: null };

const { open } = IDBFactory.prototype;
IDBFactory.prototype.open = function (name, version) {
  if (current === 'refuses') throw new DOMException('Denied', 'SecurityError');
  if (current === 'hangs') return hanging as unknown as IDBOpenDBRequest;
  return open.call(this, name, version);
};

const { transaction } = IDBDatabase.prototype;
IDBDatabase.prototype.transaction = function (...args) {
  if (current === 'hangs') return hangingTransaction as unknown as IDBTransaction;
  if (current === 'refuses') throw new DOMException('Denied', 'UnknownError');
  if (current === 'disconnects') this.close();
  return transaction.apply(this, args);
};

const { put } = IDBObjectStore.prototype;
IDBObjectStore.prototype.put = function (...args) {
  const request = put.apply(this, args);
  if (current === 'full') abortWith(this.transaction, request, 'QuotaExceededError');
  if (current === 'aborts') abortWith(this.transaction, request, 'UnknownError');
  return request;
};

/** Aborts a transaction after it has begun to write, as browsers do when there is no space. */
function abortWith(transaction: IDBTransaction, request: IDBRequest, name: string): void {
  request.addEventListener('success', () => {
    Object.defineProperty(transaction, 'error', { value: new DOMException('On purpose', name), configurable: true });
    try {
      transaction.abort();
    } catch {
      // Another request's success handler has aborted it.
    }
  });
}

// A reload keeps the address.
const isFirstLoad = sessionStorage.getItem('loads') === null;
if (isFirstLoad && setup.storage.fault !== 'none') breakStorage(setup.storage.fault, setup.storage.ms);
