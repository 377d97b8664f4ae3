import type { LoadSubsetOptions, SyncConfig } from '@tanstack/db';
import type { Client } from '../create-client.js';
import type { AnyViews } from '../types.js';
import type { WantOptions } from '../wants/wants.js';
import { followView } from './follow-view.js';
import { type LimitArgs, RequestedInstances } from './requested-instances.js';
import { type Wanted, want } from './want.js';

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
      const { stop, applied, endSeeds } = followView(client, name, getKey, args, collection);
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
          const wanted = instances
            .of(subset)
            .map((instance) => want(client, name, instance, { ttl, onAnswered: () => endSeeds(instance) }));
          if (wanted.length === 0) return true;
          wants.set(subset, wanted);
          return Promise.all(wanted.map(({ complete }) => complete)).then(async () => void (await applied()));
        },
        unloadSubset: release,
      };
    },
  };
}
