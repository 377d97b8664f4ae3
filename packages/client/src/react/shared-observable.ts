import type { Observable } from '../observable.js';
import type { Key } from '../types.js';

const observables = new WeakMap<object, Map<string, Observable<unknown>>>();

/**
 * Returns the observable that all components with the same query to a client share, with one subscription and one
 * value. After the last one unsubscribes, the next one gets a new observable.
 *
 * @param query identifies the query
 */
export function sharedObservable<Value>(
  client: object,
  query: string,
  open: () => Observable<Value>,
): Observable<Value> {
  const shared = observables.get(client) ?? new Map<string, Observable<unknown>>();
  observables.set(client, shared);
  const known = shared.get(query);
  if (known) return known as Observable<Value>;
  const { get, subscribe } = open();
  let listeners = 0;
  const observable: Observable<Value> = {
    get,
    subscribe(listener) {
      // React can stop and restart a component's effects, in StrictMode and in <Activity>: share the observable again.
      if (!shared.has(query)) shared.set(query, observable);
      listeners++;
      const stop = subscribe(listener);
      return () => {
        stop();
        listeners--;
        if (listeners === 0 && shared.get(query) === observable) shared.delete(query);
      };
    },
  };
  shared.set(query, observable);
  return observable;
}

/** Returns JSON in which a bigint is a string: as a key, both are the same. */
export function textOf(query: object | Key): string {
  return JSON.stringify(query, (_, part) => (typeof part === 'bigint' ? String(part) : part));
}
