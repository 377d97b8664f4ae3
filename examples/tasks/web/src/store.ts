/** A value that changes, in the form that React's `useSyncExternalStore` expects. */
export interface Store<State> {
  readonly get: () => State;
  readonly subscribe: (onChange: () => void) => () => void;
  set(changes: Partial<State>): void;
}

export function createStore<State extends object>(initial: State): Store<State> {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    set(changes) {
      state = { ...state, ...changes };
      for (const listener of listeners) listener();
    },
  };
}
