import type { LoadSubsetOptions, SyncConfig } from '@tanstack/db';
import { ClientError, closedClient } from '../client-error.js';
import type { Client } from '../create-client.js';
import type { AnyViews } from '../types.js';
import type { WantOptions } from '../wants/wants.js';
import { type LimitArgs, RequestedInstances } from './requested-instances.js';
import type { SubsetArgs } from './subsets.js';
import { followView } from './sync-view.js';

/** The options of a collection that syncs what queries need. */
export interface DemandOptions extends WantOptions {
  /** The names of the arguments. */
  readonly args: readonly string[];
  readonly limitArgs?: LimitArgs | undefined;
}

/**
 * Copies the client's rows of a view with arguments into a collection, and then every change to them. Which rows the
 * client has follows from the instances that it wants: those of the collection's queries, and all others.
 */
export function syncOnDemand<Mutators, Views extends AnyViews, Row extends object>(
  client: Client<Mutators, Views>,
  name: keyof Views & string,
  getKey: (row: Row) => string,
  { args, limitArgs, ttl }: DemandOptions,
): SyncConfig<Row, string> {
  return {
    rowUpdateMode: 'full',
    sync(collection) {
      const { stop, applied } = followView(client, name, getKey, collection);
      const instances = new RequestedInstances(name, args, limitArgs);
      const wants = new Map<LoadSubsetOptions, readonly Wanted[]>();
      const release = (subset: LoadSubsetOptions) => {
        for (const wanted of wants.get(subset) ?? []) wanted.release(subset.signal?.reason);
        wants.delete(subset);
      };
      return {
        cleanup() {
          for (const subset of [...wants.keys()]) release(subset);
          stop();
        },
        loadSubset(subset) {
          const wanted = instances.of(subset).map((instance) => want(client, name, instance, ttl));
          if (wanted.length === 0) return true;
          wants.set(subset, wanted);
          return Promise.all(wanted.map(({ complete }) => complete)).then(async () => void (await applied()));
        },
        unloadSubset: release,
      };
    },
  };
}

/** An instance that a query wants. */
interface Wanted {
  /** Resolves when the client has all its rows. Rejects if the server refuses it, or if it is released before. */
  readonly complete: Promise<void>;
  release(reason: unknown): void;
}

function want<Mutators, Views extends AnyViews>(
  client: Client<Mutators, Views>,
  name: string,
  args: SubsetArgs,
  ttl: WantOptions['ttl'],
): Wanted {
  const { view } = client as unknown as Client<never, AnyViews>;
  // The collection has the rows, so this reads none.
  const state = view(name, args).observe({ limit: 0, ttl });
  let stop: Wanted['release'] = () => {};
  const complete = new Promise<void>((resolve, reject) => {
    const update = () => {
      const { rows, complete: isComplete, refused } = state.get();
      const status = client.status.get();
      if (refused) reject(new ClientError(refused.code, refused.message));
      else if (status.state === 'closed') reject(status.error ?? closedClient());
      else if (rows && isComplete) resolve();
    };
    const stops = [state.subscribe(update), client.status.subscribe(update)];
    stop = (reason) => {
      for (const each of stops) each();
      reject(reason);
    };
    update();
  });
  return { complete, release: (reason) => stop(reason) };
}
