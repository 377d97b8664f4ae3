import { dropMemStore, MemStore } from '#engine';
import type { StoreProvider } from './types.js';

/** Stores in memory. Stores with the same name share their data for the lifetime of the page or process. */
export const memoryStores: StoreProvider = {
  create: (name) => new MemStore(name),
  drop: dropMemStore,
};
