/**
 * Wraps a store provider so that the engine can rely on it. Each operation resolves or rejects in time, and if the
 * stores cannot be opened, memory replaces them.
 */

import { within } from '../within.js';
import { dropStores, eraseIndexedDB, finishSignOuts } from './erasure.js';
import { indexedDBStores } from './indexed-db.js';
import { memoryStores } from './memory.js';
import type { KeyValueRead, KeyValueStore, KeyValueWrite, StoreProvider } from './types.js';

/** The limits on waiting for a store, in milliseconds. */
export interface StoreLimits {
  /** The longest wait until a store has been opened, read and written. */
  readonly maxOpenMs: number;
  /** The longest wait for one operation of an open store. */
  readonly maxOperationMs: number;
}

const storeLimits: StoreLimits = { maxOpenMs: 8_000, maxOperationMs: 60_000 };

/** The longest wait for a store to close, in milliseconds. */
const maxCloseMs = 1_000;

/** The key that is written to test whether a store is writable. */
const probeKey = 'tidemark/opened';

/** Stores with time limits and a fallback to memory, and their deletion. */
export interface Stores extends StoreProvider {
  /**
   * Calls `open`, which reads and writes the stores for the first time. If that fails, switches to memory and calls
   * `open` again.
   */
  opening(open: () => Promise<void>): Promise<void>;
  /**
   * Deletes all stores of the user. The engine must be closed.
   * @param othersClosed true if no other tab has them open
   * @throws every error of the stores, and Error named `TimeoutError` if they do not respond
   */
  erase(othersClosed: boolean): Promise<void>;
}

/**
 * @param kvStore the option of `createClient`
 * @param name the name of the user's databases
 * @param onMemory called if the data is kept in memory: with the cause if the stores cannot be used, and with null if
 * `kvStore` is `mem`
 */
export function openStores(
  kvStore: 'idb' | 'mem' | StoreProvider,
  name: string,
  onMemory: (cause: unknown) => void,
  limits: StoreLimits = storeLimits,
): Stores {
  if (kvStore === 'mem') {
    onMemory(null);
    return { ...memoryStores, opening: (open) => open(), erase: () => dropStores(memoryStores, name) };
  }
  const isIndexedDB = kvStore === 'idb';
  const provider = isIndexedDB ? indexedDBStores : kvStore;
  const ready = async () => isIndexedDB && finishSignOuts(name);
  return {
    ...limitedStores(provider, ready, onMemory, limits),
    async erase(othersClosed) {
      // Memory may have replaced the stores.
      await dropStores(memoryStores, name);
      await (isIndexedDB
        ? eraseIndexedDB(name, othersClosed)
        : within(dropStores(provider, name), limits.maxOperationMs));
    },
  };
}

/** @param ready called before the first store is opened */
function limitedStores(
  provider: StoreProvider,
  ready: () => Promise<unknown>,
  onMemory: (cause: unknown) => void,
  { maxOpenMs, maxOperationMs }: StoreLimits,
): Omit<Stores, 'erase'> {
  let activeProvider = provider;
  let maxMs = maxOpenMs;
  let probing: Promise<void> | undefined;
  const choice: Choice = {
    async choose(name) {
      probing ??= within(
        ready().then(() => probe(new LimitedStore(name, { maxMs, choose: async () => provider }))),
        maxOpenMs,
      );
      if (activeProvider === provider) await probing;
      return activeProvider;
    },
    get maxMs() {
      return maxMs;
    },
  };
  return {
    create: (name) => new LimitedStore(name, choice),
    async drop(name) {
      await memoryStores.drop(name);
      await within(provider.drop(name), maxMs);
    },
    async opening(open) {
      try {
        await open();
      } catch (cause) {
        activeProvider = memoryStores;
        onMemory(cause);
        await open();
      }
      maxMs = maxOperationMs;
    },
  };
}

/** Tests a store: writes, reads and closes it. */
async function probe(store: KeyValueStore): Promise<void> {
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
  await store.close();
}

/** The state that all stores of a client share. */
interface Choice {
  /** The longest wait for an operation, in milliseconds. */
  readonly maxMs: number;
  /**
   * Returns the provider of the store with this name.
   * @throws the reason why the stores cannot be used, until memory has replaced them
   */
  choose(name: string): Promise<StoreProvider>;
}

class LimitedStore implements KeyValueStore {
  readonly #name: string;
  readonly #choice: Choice;
  #provider: StoreProvider | undefined;
  #store: KeyValueStore | undefined;
  #closed = false;

  constructor(name: string, choice: Choice) {
    this.#name = name;
    this.#choice = choice;
  }

  get closed(): boolean {
    return this.#closed;
  }

  async read(): Promise<KeyValueRead> {
    const store = await this.#open();
    return limitedRead(await within(store.read(), this.#maxMs), this.#maxMs);
  }

  async write(): Promise<KeyValueWrite> {
    const store = await this.#open();
    const write = await within(store.write(), this.#maxMs);
    return Object.assign(limitedRead(write, this.#maxMs), {
      put: (key: string, value: Parameters<KeyValueWrite['put']>[1]) => write.put(key, value),
      del: (key: string) => write.del(key),
      commit: () => within(write.commit(), this.#maxMs),
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    // Nothing can be done about a store that does not close, and the user's next client waits for this call.
    if (this.#store) await within(this.#store.close(), maxCloseMs).catch(() => {});
  }

  get #maxMs(): number {
    return this.#choice.maxMs;
  }

  async #open(): Promise<KeyValueStore> {
    const provider = await this.#choice.choose(this.#name);
    if (!this.#store || this.#provider !== provider) {
      this.#provider = provider;
      this.#store = provider.create(this.#name);
    }
    return this.#store;
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
