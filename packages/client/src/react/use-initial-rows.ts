import { useMemo, useSyncExternalStore } from 'react';
import type { Client } from '../create-client.js';
import type { Observable } from '../observable.js';
import type { ViewState } from '../rows/view.js';
import type { AnyViews, ListOptions } from '../types.js';
import { type AnswerWait, noAnswerYet, observeAnswerWait } from './answer-wait.js';
import { hasArrived } from './has-arrived.js';
import { withChanges } from './initial-rows.js';
import { sharedObservable } from './shared-observable.js';

/** The options that say which rows a component shows. */
export interface ViewQuery extends ListOptions {
  readonly args?: unknown;
}

interface InitialView<Row> {
  readonly client: object;
  readonly name: string;
  /** A `ViewQuery` as JSON. */
  readonly queryText: string;
  readonly view: Observable<ViewState<Row>>;
  /** The state of the view in this render. */
  readonly state: ViewState<Row>;
  readonly initial: readonly Row[] | undefined;
}

/** The wait of a view without initial rows, which waits for nothing. */
const noWait: Observable<AnswerWait> = { get: () => noAnswerYet, subscribe: () => () => {} };

/** Returns the initial rows with the user's changes, or undefined if the view's own rows must show. */
export function useInitialRows<Row>(options: InitialView<Row>): readonly Row[] | undefined {
  const { client, name, queryText, view, state, initial } = options;
  const hasInitial = initial !== undefined;
  const wait = useMemo(() => {
    const open = () => {
      const { args } = JSON.parse(queryText) as ViewQuery;
      const anyClient = client as Client<never, AnyViews>;
      return observeAnswerWait(anyClient, anyClient.view(name, args), view);
    };
    return hasInitial ? sharedObservable(client, `wait ${name} ${queryText}`, open) : noWait;
  }, [client, name, queryText, view, hasInitial]);
  const { isOver, changedKeys } = useSyncExternalStore(wait.subscribe, wait.get, () => noAnswerYet);
  return useMemo(() => {
    if (!initial || isOver) return undefined;
    if (!state.rows || changedKeys.size === 0) return initial;
    const { descending } = JSON.parse(queryText) as ViewQuery;
    return withChanges(initial, state.rows, changedKeys, descending) ?? (hasArrived(state) ? undefined : initial);
  }, [initial, isOver, state, changedKeys, queryText]);
}
