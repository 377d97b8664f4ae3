import { createContext, createElement, type ReactNode, useContext } from 'react';
import { ClientError } from '../client-error.js';
import type { Client } from '../create-client.js';
import type { AnyViews } from '../types.js';

/** A provider of a client for the components below it, and the hook that returns the client, with its types. */
export interface ClientContext<Mutators, Views extends AnyViews> {
  /** Provides a client to the components inside it. */
  readonly ClientProvider: (props: {
    readonly client: Client<Mutators, Views>;
    readonly children?: ReactNode;
  }) => ReactNode;
  /**
   * The client of the nearest provider.
   *
   * @throws ClientError if there is no provider.
   */
  readonly useClient: () => Client<Mutators, Views>;
}

/**
 * Creates a provider and the hook for its client, typed by the server's mutators and views:
 * `createClientContext<typeof mutators, typeof views>()`.
 */
export function createClientContext<Mutators, Views extends AnyViews>(): ClientContext<Mutators, Views> {
  const context = createContext<Client<Mutators, Views> | undefined>(undefined);
  return {
    ClientProvider: ({ client, children }) => createElement(context.Provider, { value: client }, children),
    useClient() {
      const client = useContext(context);
      if (client) return client;
      const message =
        'There is no client here. What to do: render this component inside of a <ClientProvider client={…}>.';
      throw new ClientError('no-client', message);
    },
  };
}
