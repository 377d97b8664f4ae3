import { useMemo, useSyncExternalStore } from 'react';
import type { Client } from '../create-client.js';
import type { Observable } from '../observable.js';
import type { ViewState } from '../rows/view.js';
import type { RowOf, ViewArgs } from '../server-types.js';
import type { AnyViews, ListOptions } from '../types.js';
import type { WantOptions } from '../wants/wants.js';
import { hasArrived } from './has-arrived.js';
import { sharedObservable, textOf } from './shared-observable.js';
import { useInitialRows, type ViewQuery } from './use-initial-rows.js';

/** The options of `useView` and `useSuspenseView`, besides `args`. */
export interface UseViewOptions<Row> extends ListOptions<Row>, WantOptions {
  /**
   * The rows that a server has rendered: shown until the server has answered the client, with the changes that the user
   * makes in the meantime. If the client cannot get an answer, the rows of an earlier visit show instead. Default: none.
   */
  readonly initial?: readonly Row[] | undefined;
}

interface ArgsOption<Args> {
  /** The arguments of the view. */
  readonly args: Args;
}

/** The parameters of `useView` after the name: `args` is required if the view has arguments. */
export type ViewParameters<View> = [ViewArgs<View>] extends [never]
  ? [options?: UseViewOptions<RowOf<View>> & Partial<ArgsOption<undefined>>]
  : unknown extends ViewArgs<View>
    ? [options?: UseViewOptions<RowOf<View>> & Partial<ArgsOption<unknown>>]
    : [options: UseViewOptions<RowOf<View>> & ArgsOption<ViewArgs<View>>];

/** The state on a server, and while hydrating. */
const onServer: ViewState<never> = { rows: undefined, complete: false };

/** The views that have had rows to show. They show their own rows from then on, even if these are deleted. */
const arrived = new WeakSet<Observable<ViewState<unknown>>>();

/** A view as a component shows it. */
interface ShownView<Row> {
  readonly shown: ViewState<Row>;
  /** True if there is nothing to show yet, and a component that must show something has to wait for the view. */
  readonly isWaiting: boolean;
  readonly view: Observable<ViewState<Row>>;
}

/** Subscribes to a view. Shows the initial rows, if any, until the server has answered. */
export function useShownView<Mutators, Views extends AnyViews, Row>(
  client: Client<Mutators, Views>,
  name: keyof Views & string,
  { initial, ...query }: UseViewOptions<Row> & { readonly args?: unknown } = {},
): ShownView<Row> {
  const queryText = textOf(query);
  const view = useMemo(
    () => sharedObservable(client, `list ${name} ${queryText}`, () => observeView<Row>(client, name, queryText)),
    [client, name, queryText],
  );
  const state = useSyncExternalStore(view.subscribe, view.get, () => onServer);
  if (hasArrived(state)) arrived.add(view);
  // After a sign-out, nothing of the user's may be shown.
  const hasEnded = client.status.get().state === 'closed';
  const initialRows = useInitialRows({ client, name, queryText, view, state, initial: hasEnded ? undefined : initial });
  const shown = useMemo(() => (initialRows ? { ...state, rows: initialRows } : state), [state, initialRows]);
  const isWaiting = state !== onServer && !initial && !arrived.has(view) && !hasEnded;
  return { shown, isWaiting, view };
}

function observeView<Row>(client: object, name: string, queryText: string): Observable<ViewState<Row>> {
  const { args, ...options } = JSON.parse(queryText) as ViewQuery;
  // The parameters of the hooks have the exact types.
  const { view } = client as Client<never, AnyViews>;
  return view(name, args).observe(options) as Observable<ViewState<Row>>;
}
