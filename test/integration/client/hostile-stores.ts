/** Stores in memory that fail as those of browsers do. */

import { memoryStores } from '../../../src/client/stores/memory.js';
import type { KeyValueRead, KeyValueStore, StoreProvider } from '../../../src/client.js';

/**
 * What the stores do: as they should, fail when they are opened, never answer, or fail when they are written or read: when
 * a transaction begins, or each read in it.
 */
export type Behaviour = 'works' | 'refuses' | 'hangs' | 'full' | 'loses its data' | 'cannot be read' | 'breaks off';

export interface HostileStores extends StoreProvider {
  behaviour: Behaviour;
  /** Called before each transaction begins, and before each commit. */
  onOperation: () => void;
}

const never = new Promise<never>(() => {});

export function hostileStores(behaviour: Behaviour = 'works'): HostileStores {
  const stores: HostileStores = {
    behaviour,
    onOperation: () => {},
    create: (name) => new HostileStore(memoryStores.create(nameOf(name)), stores),
    drop: (name) => memoryStores.drop(nameOf(name)),
  };
  return stores;
}

/** The client's own stores in memory, which take the place of these, are others. */
const nameOf = (name: string) => `hostile ${name}`;

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
    const whole = () => {
      if (this.#stores.behaviour === 'breaks off') throw new DOMException('Broken off', 'AbortError');
    };
    return {
      has: async (key) => {
        whole();
        return read.has(key);
      },
      get: async (key) => {
        whole();
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
      if (this.#stores.behaviour === 'full') throw new DOMException('Full', 'QuotaExceededError');
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
    if (this.#stores.behaviour === 'refuses') throw new DOMException('Denied', 'UnknownError');
    await this.#store.close();
  }

  async #open(): Promise<void> {
    this.#stores.onOperation();
    if (this.#stores.behaviour === 'refuses') throw new DOMException('Denied', 'SecurityError');
    if (this.#stores.behaviour === 'hangs') await never;
  }
}
