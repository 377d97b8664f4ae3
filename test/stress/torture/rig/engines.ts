/** The engines of clients, each with requests through the test's own network. */
import { pathToFileURL } from 'node:url';
import { Replicache } from 'replicache';
import type { EngineOptions } from '#engine';
import type { Network } from '../../../../packages/client/src/sync/network.js';
import { send } from '../../../../packages/client/src/sync/requests.js';
import type { Engine, OpenEngine } from '../../../integration/conformance/client/client.js';
import { builtClient } from '../../../support/built.js';

export type EngineName = 'replicache' | 'tidemark';

export type EngineOver = (network: Network) => OpenEngine;

export async function engineOver(name: EngineName): Promise<EngineOver> {
  return name === 'tidemark' ? ownEngine() : replicache;
}

const replicache: EngineOver = (network) => (options) => {
  const { pullURL = '', pushURL = '', auth = '' } = options;
  const sender = (kind: 'pull' | 'push', url: string) => (body: object, requestID: string) =>
    send({ kind, url, auth, requestID, body }, { network, credentials: undefined });
  const [puller, pusher] = [sender('pull', pullURL), sender('push', pushURL)];
  return new Replicache({ ...options, puller: puller as never, pusher: pusher as never });
};

/** The engine of `@tidemark/client`, as built. */
async function ownEngine(): Promise<EngineOver> {
  const load = (file: string) => import(/* @vite-ignore */ pathToFileURL(`${builtClient}/${file}`).href);
  const { SyncEngine }: typeof import('../../../../packages/client/src/sync/sync-engine.js') =
    await load('sync/sync-engine.js');
  const { StatusTracker }: typeof import('../../../../packages/client/src/sync/status.js') =
    await load('sync/status.js');
  const { openStores }: typeof import('../../../../packages/client/src/stores/open-stores.js') =
    await load('stores/open-stores.js');
  return (network) => (options) => {
    const requests = { network, credentials: undefined, status: new StatusTracker() };
    const engineOptions = options as unknown as EngineOptions;
    const kvStore = openStores('mem', engineOptions.name, () => {});
    return new SyncEngine({ ...engineOptions, kvStore }, requests) as unknown as Engine;
  };
}
