import { useMemo, useSyncExternalStore } from 'react';
import type { Client } from '../create-client.js';
import { Cell, type Observable } from '../observable.js';
import type { RowOf } from '../server-types.js';
import type { AnyViews, Key } from '../types.js';
import { sharedObservable, textOf } from './shared-observable.js';

/**
 * Subscribes to one row of a view, by its key without the view's prefix. The object stays the same until it changes.
 *
 * @returns undefined until the row has been read from the local data, and null if it does not exist
 */
export function useRow<Mutators, Views extends AnyViews, Name extends keyof Views & string>(
  client: Client<Mutators, Views>,
  name: Name,
  key: Key,
): RowOf<Views[Name]> | null | undefined {
  const queryText = textOf(key);
  const row = useMemo(
    () => sharedObservable(client, `get ${name} ${queryText}`, () => observeRow(client, name, JSON.parse(queryText))),
    [client, name, queryText],
  );
  return useSyncExternalStore(row.subscribe, row.get, onServer);
}

function onServer(): undefined {}

function observeRow<Mutators, Views extends AnyViews, Name extends keyof Views & string>(
  client: Client<Mutators, Views>,
  name: Name,
  key: Key,
): Observable<RowOf<Views[Name]> | null | undefined> {
  return new Cell<RowOf<Views[Name]> | null | undefined>(undefined, (cell) =>
    client.subscribe(async (tx) => (await tx.view(name).get(key)) ?? null, cell.set.bind(cell)),
  );
}
