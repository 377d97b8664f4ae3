/** The engine of `@tidemark/client`, opened with Replicache's options. */
import type { EngineOptions } from '#engine';
import { openStores } from '../../../../packages/client/src/stores/open-stores.js';
import { Network } from '../../../../packages/client/src/sync/network.js';
import { StatusTracker } from '../../../../packages/client/src/sync/status.js';
import { SyncEngine } from '../../../../packages/client/src/sync/sync-engine.js';

/** Returns an object with the methods of a `Replicache`. */
export function openOwnEngine(options: unknown): unknown {
  const requests = { network: new Network(), credentials: undefined, status: new StatusTracker() };
  const engineOptions = options as EngineOptions;
  return new SyncEngine({ ...engineOptions, kvStore: openStores('mem', engineOptions.name, () => {}) }, requests);
}
