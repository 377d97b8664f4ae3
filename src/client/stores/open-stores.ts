/**
 * Makes a store provider that the engine can rely on: each of its operations settles in time, and where its stores cannot
 * be opened, memory takes their place.
 */

import { within } from '../within.js';
import { dropStores, eraseIndexedDB, finishSignOuts } from './erasure.js';
import { indexedDBStores } from './indexed-db.js';
import { memoryStores } from './memory.js';
import type { KeyValueRead, KeyValueStore, KeyValueWrite, StoreProvider } from './types.js';

/** The longest waits for a store, in milliseconds. */
export interface StoreLimits {
  /** Until it has been opened, read and written. */
  readonly maxOpenMs: number;
  /** For one operation of a store that is open. */
  readonly maxOperationMs: number;
}

const storeLimits: StoreLimits = { maxOpenMs: 8_000, maxOperationMs: 60_000 };

/** What is written to see whether a store can be written. */
const probeKey = 'tidemark/opened';

/** Stores that the engine can rely on, and their deletion. */
export interface Stores extends StoreProvider {
  /**
   * Deletes all stores of the user. The engine must be closed.
   * @param othersClosed true if no other tab has them open
   * @throws what the stores throw, and Error named `TimeoutError` if they do not respond
   */
  erase(othersClosed: boolean): Promise<void>;
}

/**
 * @param kvStore as the option of `createClient`
 * @param name of the user's databases
 * @param onMemory called if the data is in memory: with the cause if the stores cannot be used, and null if memory was
 * asked for
 */
export function openStores(
  kvStore: 'idb' | 'mem' | StoreProvider,
  name: string,
  onMemory: (cause: unknown) => void,
  limits: StoreLimits = storeLimits,
): Stores {
  if (kvStore === 'mem') {
    onMemory(null);
    return { ...memoryStores, erase: () => dropStores(memoryStores, name) };
  }
  const isOwn = kvStore === 'idb';
  const provider = isOwn ? indexedDBStores : kvStore;
  const ready = async () => isOwn && finishSignOuts(name);
  return {
    ...limitedStores(provider, ready, onMemory, limits),
    async erase(othersClosed) {
      // It may have taken the place of the stores.
      await dropStores(memoryStores, name);
      await (isOwn ? eraseIndexedDB(name, othersClosed) : within(dropStores(provider, name), limits.maxOperationMs));
    },
  };
}

/** @param ready called before the first store is opened */
function limitedStores(
  provider: StoreProvider,
  ready: () => Promise<unknown>,
  onMemory: (cause: unknown) => void,
  limits: StoreLimits,
): StoreProvider {
  let chosen: Promise<StoreProvider> | undefined;
  const openFirst = async (name: string): Promise<{ stores: StoreProvider; store: KeyValueStore }> => {
    try {
      const opening = ready().then(() => openProbed(provider, name));
      return { stores: provider, store: await within(opening, limits.maxOpenMs) };
    } catch (cause) {
      onMemory(cause);
      return { stores: memoryStores, store: memoryStores.create(name) };
    }
  };
  const open = (name: string): Promise<KeyValueStore> => {
    if (chosen) return chosen.then((stores) => stores.create(name));
    const first = openFirst(name);
    chosen = first.then(({ stores }) => stores);
    return first.then(({ store }) => store);
  };
  return {
    create: (name) => new LimitedStore(open(name), limits.maxOperationMs),
    async drop(name) {
      await memoryStores.drop(name);
      await within(provider.drop(name), limits.maxOperationMs);
    },
  };
}

/** Opens a store that has been written and read. */
async function openProbed(provider: StoreProvider, name: string): Promise<KeyValueStore> {
  const store = provider.create(name);
  const write = await store.write();
  try {
    await write.get(probeKey);
    await write.put(probeKey, true);
    await write.commit();
  } finally {
    write.release();
  }
  const read = await store.read();
  try {
    await read.get(probeKey);
  } finally {
    read.release();
  }
  return store;
}

class LimitedStore implements KeyValueStore {
  readonly #store: Promise<KeyValueStore>;
  readonly #maxMs: number;
  #closed = false;

  constructor(store: Promise<KeyValueStore>, maxMs: number) {
    this.#store = store;
    this.#maxMs = maxMs;
    // Whoever uses it is told.
    store.catch(() => {});
  }

  get closed(): boolean {
    return this.#closed;
  }

  async read(): Promise<KeyValueRead> {
    const store = await this.#store;
    return limitedRead(await within(store.read(), this.#maxMs), this.#maxMs);
  }

  async write(): Promise<KeyValueWrite> {
    const store = await this.#store;
    const write = await within(store.write(), this.#maxMs);
    return Object.assign(limitedRead(write, this.#maxMs), {
      put: (key: string, value: Parameters<KeyValueWrite['put']>[1]) => write.put(key, value),
      del: (key: string) => write.del(key),
      commit: () => within(write.commit(), this.#maxMs),
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await within((await this.#store).close(), this.#maxMs);
  }
}

function limitedRead(read: KeyValueRead, maxMs: number): KeyValueRead {
  return {
    has: (key) => within(read.has(key), maxMs),
    get: (key) => within(read.get(key), maxMs),
    release: () => read.release(),
    get closed() {
      return read.closed;
    },
  };
}
