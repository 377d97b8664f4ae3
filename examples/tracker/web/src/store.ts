/** The user's client, and the issues as a collection that syncs the projects that queries ask for. */
import { BasicIndex, collectionOptions, DbClient } from '@tanstack/react-db';
import { type Client, createClient } from '@tidemark/client';
import { tidemarkCollectionOptions } from '@tidemark/client/tanstack-db';
import { createContext, useContext } from 'react';
import type { mutators } from '../../src/mutators.js';
import type { views } from '../../src/views.js';
import type { FirstPage } from '../../src/web.js';
import { optimistic } from './optimistic.js';

export type TrackerClient = Client<typeof mutators, typeof views>;

export function openStore({ user, people, issues: initial }: Pick<FirstPage, 'user' | 'people' | 'issues'>) {
  const client: TrackerClient = createClient<typeof mutators, typeof views>({
    user,
    auth: `Bearer ${user}`,
    mutators: optimistic(user, people),
  });
  const options = tidemarkCollectionOptions({
    client,
    view: 'issue',
    getKey: ({ id }) => id,
    syncMode: 'on-demand',
    args: ['projectID'],
    autoIndex: 'eager',
    defaultIndexType: BasicIndex,
  });
  const issues = new DbClient().collection(collectionOptions({ id: 'issue', ...options }), {
    initialData: [...initial],
  });
  return { user, people, client, issues };
}

type Store = ReturnType<typeof openStore>;

export const StoreContext = createContext<Store | undefined>(undefined);
export const useStore = (): Store => useContext(StoreContext)!;

/** A random ID. Not from `crypto.randomUUID`, which exists only in secure contexts. */
export function newID(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
