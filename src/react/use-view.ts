import { useMemo, useSyncExternalStore } from 'react';
import type { Client } from '../client/create-client.js';
import { Cell, type Observable } from '../client/observable.js';
import type { AnyViews, Key, ListOptions } from '../client/types.js';
import type { RowOf } from '../view/define.js';
import { sharedObservable } from './shared-observable.js';

/** The options of `useView`. */
export interface UseViewOptions<Row> extends ListOptions<Row> {
  /** The rows until they have been read from the local data, and on a server that renders the page. Default: undefined. */
  readonly initial?: readonly Row[] | undefined;
}

/**
 * The rows of a view: all, or those that the options say, sorted as `client.view(name).list(options)` sorts them. The
 * same array until a row has changed. The options are compared by what they say, so they may be written in place.
 *
 * @returns `initial` until the rows have been read from the local data, also after other options have been given
 */
export function useView<Mutators, Views extends AnyViews, Name extends keyof Views & string>(
  client: Client<Mutators, Views>,
  name: Name,
  { initial, ...options }: UseViewOptions<RowOf<Views[Name]>> = {},
): readonly RowOf<Views[Name]>[] | undefined {
  const asked = textOf(options);
  const rows = useMemo(
    () => sharedObservable(client, `list ${name} ${asked}`, () => client.view(name).observe(JSON.parse(asked))),
    [client, name, asked],
  );
  return useSyncExternalStore(
    rows.subscribe,
    () => rows.get() ?? initial,
    () => initial,
  );
}

/**
 * One row of a view, by its key without the view's prefix. The same object until it has changed.
 *
 * @returns undefined until it has been read from the local data, and null if there is no such row
 */
export function useRow<Mutators, Views extends AnyViews, Name extends keyof Views & string>(
  client: Client<Mutators, Views>,
  name: Name,
  key: Key,
): RowOf<Views[Name]> | null | undefined {
  const asked = textOf(key);
  const row = useMemo(
    () => sharedObservable(client, `get ${name} ${asked}`, () => observeRow(client, name, JSON.parse(asked))),
    [client, name, asked],
  );
  return useSyncExternalStore(row.subscribe, row.get, onServer);
}

function onServer(): undefined {}

/** JSON, in which a bigint is its text: as a key, both are the same. */
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
