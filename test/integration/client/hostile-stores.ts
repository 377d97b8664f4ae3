/** In-memory stores that fail as browsers' stores do. */

import type { KeyValueRead, KeyValueStore, StoreProvider } from '../../../packages/client/src/index.js';
import { memoryStores } from '../../../packages/client/src/stores/memory.js';

/**
 * How the stores behave: they work, fail to open, never respond, or fail on writes or on reads. Reads fail when a
 * transaction begins, or one by one within it.
 */
export type Behaviour =
  | 'works'
  | 'refuses access'
  | 'hangs'
  | 'is full'
  | 'loses its data'
  | 'cannot be read'
  | 'aborts reads';

export interface HostileStores extends StoreProvider {
  behaviour: Behaviour;
  /** Called before each transaction begins, and before each commit. */
  onOperation: () => void;
}

const never = new Promise<never>(() => {});

/** @param profile clients whose stores have the same one share the list of databases, as in a profile of a browser */
export function hostileStores(behaviour: Behaviour = 'works', profile = ''): HostileStores {
  // Keeps these stores apart from the client's own in-memory stores, which replace them.
  const nameOf = (name: string) => `hostile ${profile} ${name}`;
  const stores: HostileStores = {
    behaviour,
    onOperation: () => {},
    create: (name) => new HostileStore(memoryStores.create(nameOf(name)), stores),
    drop: (name) => memoryStores.drop(nameOf(name)),
  };
  return stores;
}

class HostileStore implements KeyValueStore {
  readonly #store: KeyValueStore;
  readonly #stores: HostileStores;

  constructor(store: KeyValueStore, stores: HostileStores) {
    this.#store = store;
    this.#stores = stores;
  }

  get closed(): boolean {
    return this.#store.closed;
  }

  async read(): Promise<KeyValueRead> {
    await this.#open();
    if (this.#stores.behaviour === 'cannot be read') throw new DOMException('Broken', 'DataError');
    const read = await this.#store.read();
    const checkTransaction = () => {
      if (this.#stores.behaviour === 'aborts reads') throw new DOMException('Broken off', 'AbortError');
    };
    return {
      has: async (key) => {
        checkTransaction();
        return read.has(key);
      },
      get: async (key) => {
        checkTransaction();
        return read.get(key);
      },
      release: () => read.release(),
      get closed() {
        return read.closed;
      },
    };
  }

  async write() {
    await this.#open();
    const write = await this.#store.write();
    const commit = async () => {
      this.#stores.onOperation();
      if (this.#stores.behaviour === 'is full') throw new DOMException('Full', 'QuotaExceededError');
      if (this.#stores.behaviour === 'loses its data') throw new DOMException('Deleted', 'NotFoundError');
      if (this.#stores.behaviour === 'hangs') await never;
      await write.commit();
    };
    return {
      has: (key: string) => write.has(key),
      get: (key: string) => write.get(key),
      put: (...entry: Parameters<typeof write.put>) => write.put(...entry),
      del: (key: string) => write.del(key),
      commit,
      release: () => write.release(),
      get closed() {
        return write.closed;
      },
    };
  }

  async close(): Promise<void> {
    if (this.#stores.behaviour === 'hangs') await never;
    if (this.#stores.behaviour === 'refuses access') throw new DOMException('Denied', 'UnknownError');
    await this.#store.close();
  }

  async #open(): Promise<void> {
    this.#stores.onOperation();
    if (this.#stores.behaviour === 'refuses access') throw new DOMException('Denied', 'SecurityError');
    if (this.#stores.behaviour === 'hangs') await never;
  }
}
