import { useSyncExternalStore } from 'react';
import type { Client } from '../client/create-client.js';
import type { Observable } from '../client/observable.js';
import type { Refusal } from '../client/refused.js';
import type { PendingMutation } from '../client/stores/types.js';
import { initialStatus, type Status } from '../client/sync/status.js';
import type { AnyViews, Mutate } from '../client/types.js';

/** The calls of a client's mutators: the same object in each render. */
export function useMutate<Mutators, Views extends AnyViews>(client: Client<Mutators, Views>): Mutate<Mutators> {
  return client.mutate;
}

/** The state of a client's connection, and what is wrong with it. */
export function useStatus(client: { readonly status: Observable<Status> }): Status {
  return useObservable(client.status, initialStatus);
}

/** The mutations, of all tabs, that the server has not confirmed; the oldest first. */
export function usePending(client: {
  readonly pending: Observable<readonly PendingMutation[]>;
}): readonly PendingMutation[] {
  return useObservable(client.pending, none);
}

/** The mutations that the server has refused, as far as it still tells of them. */
export function useRefused(client: { readonly refused: Observable<readonly Refusal[]> }): readonly Refusal[] {
  return useObservable(client.refused, none);
}

// What a page that is rendered on a server shows, and the browser at first.
const none: readonly never[] = [];

function useObservable<Value>({ subscribe, get }: Observable<Value>, onServer: Value): Value {
  return useSyncExternalStore(subscribe, get, () => onServer);
}
