import { dropMemStore, MemStore } from '#engine';
import type { StoreProvider } from './types.js';

/** Stores in memory. Those of one name share their data, as long as the page or the process lasts. */
export const memoryStores: StoreProvider = {
  create: (name) => new MemStore(name),
  drop: dropMemStore,
};
