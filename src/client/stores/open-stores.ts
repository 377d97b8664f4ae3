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

/** The longest wait for a store to close, in milliseconds. */
const maxCloseMs = 1_000;

/** What is written to see whether a store can be written. */
const probeKey = 'tidemark/opened';

/** Stores that the engine can rely on, and their deletion. */
export interface Stores extends StoreProvider {
  /**
   * Calls `open`, which reads and writes the stores for the first time. If they fail, memory takes their place, and `open`
   * is called again.
   */
  opening(open: () => Promise<void>): Promise<void>;
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
    return { ...memoryStores, opening: (open) => open(), erase: () => dropStores(memoryStores, name) };
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
  { maxOpenMs, maxOperationMs }: StoreLimits,
): Omit<Stores, 'erase'> {
  let chosen = provider;
  let maxMs = maxOpenMs;
  let probing: Promise<void> | undefined;
  const choice: Choice = {
    async choose(name) {
      probing ??= within(
        ready().then(() => probe(new LimitedStore(name, { maxMs, choose: async () => provider }))),
        maxOpenMs,
      );
      if (chosen === provider) await probing;
      return chosen;
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
        chosen = memoryStores;
        onMemory(cause);
        await open();
      }
      maxMs = maxOperationMs;
    },
  };
}

/** Writes and reads a store, and closes it. */
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

/** What the stores of a client have in common. */
interface Choice {
  /** The longest wait for an operation, in milliseconds. */
  readonly maxMs: number;
  /**
   * Where a store of this name is.
   * @throws why the stores cannot be used, until memory has taken their place
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
    // Nobody can do anything about a store that cannot be closed, and the user's next client waits for the end of this.
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
