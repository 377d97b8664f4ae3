import { useSyncExternalStore } from 'react';
import type { Client } from '../create-client.js';
import type { Observable } from '../observable.js';
import type { PendingMutation } from '../stores/types.js';
import { initialStatus, type Status } from '../sync/status.js';
import type { AnyViews, Mutate, Refusal } from '../types.js';

/** Returns the functions that call a client's mutators: the same object in each render. */
export function useMutate<Mutators, Views extends AnyViews>(client: Client<Mutators, Views>): Mutate<Mutators> {
  return client.mutate;
}

/** Returns the state of a client's connection and of its local storage. */
export function useStatus(client: { readonly status: Observable<Status> }): Status {
  return useObservable(client.status, initialStatus);
}

/** Returns the mutations that no pull has confirmed, from all tabs, oldest first. */
export function usePending(client: {
  readonly pending: Observable<readonly PendingMutation[]>;
}): readonly PendingMutation[] {
  return useObservable(client.pending, none);
}

/** Returns the refused mutations that the server still lists. */
export function useRefused(client: { readonly refused: Observable<readonly Refusal[]> }): readonly Refusal[] {
  return useObservable(client.refused, none);
}

// The value in server rendering, and in the first render in the browser.
const none: readonly never[] = [];

function useObservable<Value>({ subscribe, get }: Observable<Value>, onServer: Value): Value {
  return useSyncExternalStore(subscribe, get, () => onServer);
}
