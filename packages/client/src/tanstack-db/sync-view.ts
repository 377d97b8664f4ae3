import type { SyncConfig } from '@tanstack/db';
import type { Client } from '../create-client.js';
import type { AnyViews } from '../types.js';
import { followView } from './follow-view.js';
import { want } from './want.js';

/** Copies the rows of a view into a collection, and then every change to them. */
export function syncView<Mutators, Views extends AnyViews, Row extends object>(
  client: Client<Mutators, Views>,
  name: keyof Views & string,
  getKey: (row: Row) => string,
): SyncConfig<Row, string> {
  return {
    rowUpdateMode: 'full',
    sync(target) {
      const isSeeded = target.collection.size > 0;
      const { stop, endSeeds } = followView(client, name, getKey, [], target);
      // Without seeds, there is nothing to wait for.
      if (!isSeeded) return stop;
      const { complete, release } = want(client, name, undefined, { onAnswered: () => endSeeds({}) });
      // The collection is ready before that, and fails only if its rows cannot be copied.
      complete.catch(() => {});
      return () => {
        release();
        stop();
      };
    },
  };
}
