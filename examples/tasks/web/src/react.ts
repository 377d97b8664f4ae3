import { createContext, createElement, type ReactNode, useContext, useMemo, useSyncExternalStore } from 'react';
import type { Client, Observable } from 'tidemark/client';
import type { Mutators, Views } from './mutators.js';

export function createClientContext<M, V extends Views>() {
  const context = createContext<Client<M, V> | undefined>(undefined);
  return {
    ClientProvider: ({ client, children }: { client: Client<M, V>; children?: ReactNode }) =>
      createElement(context.Provider, { value: client }, children),
    useClient() {
      const client = useContext(context);
      if (client) return client;
      throw new Error('There is no client here');
    },
  };
}

type AnyClient = Client<Mutators, Views>;
const useObservable = <Value>({ subscribe, get }: Observable<Value>) => useSyncExternalStore(subscribe, get);

export const useStatus = (client: AnyClient) => useObservable(client.status);
export const usePending = (client: AnyClient) => useObservable(client.pending);
export function useView<Name extends keyof Views>(
  client: AnyClient,
  name: Name,
  options: { by?: 'listID'; equals?: string } = {},
): ReturnType<ReturnType<typeof client.view<Name>>['observe']> extends Observable<infer Rows> ? Rows : never {
  const asked = JSON.stringify(options);
  const rows = useMemo(() => client.view(name).observe(JSON.parse(asked)), [client, name, asked]);
  return useObservable(rows) as never;
}
