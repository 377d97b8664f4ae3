import type { Observable } from '../client/observable.js';

const observables = new WeakMap<object, Map<string, Observable<unknown>>>();

/**
 * An observable for all components that ask the same of a client: they share one subscription and one value. When the
 * last of them has gone, the next one starts anew.
 *
 * @param query what is asked
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
      // It comes back where React stops and starts the effects of a component: in StrictMode and in <Activity>.
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
