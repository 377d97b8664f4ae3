import type { SyncAppliedReceipt, SyncConfig } from '@tanstack/db';
import { ClientError } from '../client-error.js';
import type { Client } from '../create-client.js';
import type { RowChange } from '../rows/view.js';
import type { AnyViews } from '../types.js';
import { withMark } from './unconfirmed-mark.js';

/** The part of a collection that a view's rows are written to. */
type Target<Row extends object> = Parameters<SyncConfig<Row, string>['sync']>[0];

/** A view whose rows are copied into a collection. */
export interface FollowedView {
  /** Resolves when the collection shows what has been copied so far. */
  applied(): SyncAppliedReceipt;
  stop(): void;
}

/** Copies the rows of a view into a collection, and then every change to them. */
export function syncView<Mutators, Views extends AnyViews, Row extends object>(
  client: Client<Mutators, Views>,
  name: keyof Views & string,
  getKey: (row: Row) => string,
): SyncConfig<Row, string> {
  return { rowUpdateMode: 'full', sync: (target) => followView(client, name, getKey, target).stop };
}

/** Copies the client's rows of a view, of all instances, and then every change to them. */
export function followView<Mutators, Views extends AnyViews, Row extends object>(
  client: Client<Mutators, Views>,
  name: keyof Views & string,
  getKey: (row: Row) => string,
  { begin, write, commit, markReady, markError }: Target<Row>,
): FollowedView {
  const view = (client as unknown as Client<never, AnyViews>).view(name);
  const rows = new Map<string, Row>();
  const unconfirmed = view.observeUnconfirmed();
  let unconfirmedKeys = unconfirmed.get();
  let applied: SyncAppliedReceipt = true;

  const put = (key: string, row: Row) =>
    // With `rowUpdateMode: 'full'`, an update of a missing row is an insert.
    write({ type: 'update', value: unconfirmedKeys.has(key) ? withMark(row) : row });

  const apply = (changes: readonly RowChange<Row>[]) => {
    const wrong = changes.find(({ key, row }) => row !== undefined && getKey(row) !== key);
    if (wrong?.row) return markError(wrongKey(name, getKey(wrong.row), wrong.key));
    begin();
    for (const { key, row } of changes) {
      if (row === undefined) {
        rows.delete(key);
        write({ type: 'delete', key });
      } else {
        rows.set(key, row);
        put(key, row);
      }
    }
    applied = commit();
    markReady();
  };

  const mark = (keys: ReadonlySet<string>) => {
    const changed = [...unconfirmedKeys]
      .filter((key) => !keys.has(key))
      .concat([...keys].filter((key) => !unconfirmedKeys.has(key)));
    unconfirmedKeys = keys;
    begin();
    for (const key of changed) {
      const row = rows.get(key);
      if (row) put(key, row);
    }
    applied = commit();
  };

  const { state, error } = client.status.get();
  const stops: (() => void)[] = [];
  if (state === 'closed') {
    const todo = 'create a collection with the client of the user who has signed in';
    markError(error ?? new ClientError('closed', `The client of this collection is closed. What to do: ${todo}.`));
  } else {
    stops.push(
      unconfirmed.subscribe(mark),
      view.watch((changes) => apply(changes as readonly RowChange<Row>[])),
    );
  }
  return {
    applied: () => applied,
    stop() {
      for (const stop of stops) stop();
    },
  };
}

function wrongKey(view: string, actualKey: string, key: string): ClientError {
  const todo = 'let it return the fields of the row that the view’s option `key` names: several as an array';
  return new ClientError(
    'wrong-key',
    `getKey of the collection of "${view}" says "${actualKey}" of the row "${key}". What to do: ${todo}.`,
  );
}
