import { useMemo, useSyncExternalStore } from 'react';
import type { Client } from '../create-client.js';
import { Cell, type Observable } from '../observable.js';
import type { RowOf } from '../server-types.js';
import type { AnyViews, Key, ListOptions } from '../types.js';
import { sharedObservable } from './shared-observable.js';

/** The options of `useView`. */
export interface UseViewOptions<Row> extends ListOptions<Row> {
  /** The rows before the local data has been read, and in server rendering. Default: undefined. */
  readonly initial?: readonly Row[] | undefined;
}

/**
 * Subscribes to a view's rows: all, or those that the options select, sorted as by `client.view(name).list(options)`.
 * The array stays the same until a row changes. Options are compared by value, so they can be written inline.
 *
 * @returns `initial` until the rows have been read from the local data, also after the options change
 */
export function useView<Mutators, Views extends AnyViews, Name extends keyof Views & string>(
  client: Client<Mutators, Views>,
  name: Name,
  { initial, ...options }: UseViewOptions<RowOf<Views[Name]>> = {},
): readonly RowOf<Views[Name]>[] | undefined {
  const queryText = textOf(options);
  const state = useMemo(
    () =>
      sharedObservable(client, `list ${name} ${queryText}`, () => {
        const { view } = client as unknown as Client<never, AnyViews>;
        return view(name).observe(JSON.parse(queryText));
      }),
    [client, name, queryText],
  );
  return useSyncExternalStore(
    state.subscribe,
    () => (state.get().rows as readonly RowOf<Views[Name]>[] | undefined) ?? initial,
    () => initial,
  );
}

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

/** Returns JSON in which a bigint is a string: as a key, both are the same. */
function textOf(query: object | Key): string {
  return JSON.stringify(query, (_, part) => (typeof part === 'bigint' ? String(part) : part));
}

function observeRow<Mutators, Views extends AnyViews, Name extends keyof Views & string>(
  client: Client<Mutators, Views>,
  name: Name,
  key: Key,
): Observable<RowOf<Views[Name]> | null | undefined> {
  return new Cell<RowOf<Views[Name]> | null | undefined>(undefined, (cell) =>
    client.subscribe(async (tx) => (await tx.view(name).get(key)) ?? null, cell.set.bind(cell)),
  );
}
