/** A page of `@tidemark/client/react`. Tests choose what it shows, and read the values that its components receive. */

import { createClient, type Observable } from '@tidemark/client';
import {
  createClientContext,
  useMutate,
  usePending,
  useRefused,
  useRow,
  useStatus,
  useView,
} from '@tidemark/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import type { mutators } from '../../../examples/tasks/src/mutators.js';
import type { Todo, views } from '../../../examples/tasks/src/views.js';

type Mutators = typeof mutators;
type Views = typeof views;

/** The content of the page. */
export interface Shown {
  readonly user: string;
  /** Shows the todos of this list, by the index. */
  readonly listID?: string;
  /** Shows the todo with this ID, by its key. */
  readonly todoID?: string;
}

/** The values that a component receives in a render. */
export interface Rendered {
  readonly component: string;
  /** The ID of the list or the todo that it shows. */
  readonly id: string | undefined;
  readonly rows: readonly Todo[] | Todo | null | undefined;
}

declare global {
  interface Window {
    show: (shown: Shown) => void;
    rendered: Rendered[];
    /** The number of open subscriptions to rows. */
    subscriptions: number;
  }
}

const { ClientProvider, useClient } = createClientContext<Mutators, Views>();
window.rendered = [];
window.subscriptions = 0;
const log = (component: string, id: string | undefined, rows: Rendered['rows']) =>
  window.rendered.push({ component, id, rows });

function Lists() {
  const client = useClient();
  const { state } = useStatus(client);
  const refused = useRefused(client);
  const pending = usePending(client);
  const mutate = useMutate(client);
  const create = () => mutate.list.create({ id: 'pressed', name: 'Pressed' });
  return (
    <>
      <ul>
        {useView(client, 'list', { prefix: '' })?.map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
      </ul>
      <output>{`${state} ${pending.length}`}</output>
      <p role="alert">{refused.map(({ detail }) => detail).join()}</p>
      <button type="button" onClick={create}>
        Create
      </button>
    </>
  );
}

function Todos({ listID, component }: { listID: string; component: string }) {
  const todos = useView(useClient(), 'todo', { by: 'listID', equals: listID });
  log(component, listID, todos);
  return <section>{todos ? todos.map(({ title }) => title).join() : 'not read'}</section>;
}

function OneTodo({ todoID }: { todoID: string }) {
  const todo = useRow(useClient(), 'todo', todoID);
  log('one', todoID, todo);
  return <section>{todo === undefined ? 'not read' : (todo?.title ?? 'none')}</section>;
}

/** A client that counts its subscriptions. */
function countingClient(user: string): typeof window.client {
  const client = createClient<Mutators, Views>({
    user,
    auth: `Bearer ${user}`,
    indexes: { todo: ['listID'] },
    mutators: { list: { create: (tx, { id, name }) => tx.view('list').set(id, { id, name, ownerID: user }) } },
  });
  /** Connected to the local data while it has listeners, like the client's own observables. */
  const counted = <Value,>({ get, subscribe }: Observable<Value>): Observable<Value> => {
    let listeners = 0;
    const add = (change: 1 | -1) => {
      if (listeners === 0) window.subscriptions++;
      listeners += change;
      if (listeners === 0) window.subscriptions--;
    };
    return {
      get,
      subscribe: (listener) => {
        add(1);
        const stop = subscribe(listener);
        return () => {
          stop();
          add(-1);
        };
      },
    };
  };
  const subscribe: typeof client.subscribe = (body, listener) => {
    window.subscriptions++;
    const stop = client.subscribe(body, listener);
    return () => {
      stop();
      window.subscriptions--;
    };
  };
  const view = ((...parameters: Parameters<typeof client.view>) => {
    const { observe, ...others } = client.view(...parameters);
    return { ...others, observe: (options: Parameters<typeof observe>[0]) => counted<unknown>(observe(options)) };
  }) as typeof client.view;
  return { ...client, subscribe, view };
}

const clients = new Map<string, typeof window.client>();
const root = createRoot(document.querySelector('main')!);

window.show = ({ user, listID, todoID }) => {
  window.client = clients.get(user) ?? countingClient(user);
  clients.set(user, window.client);
  root.render(
    <StrictMode>
      <ClientProvider client={window.client}>
        <Lists />
        {listID && <Todos listID={listID} component="first" />}
        {listID && <Todos listID={listID} component="second" />}
        {todoID && <OneTodo todoID={todoID} />}
      </ClientProvider>
    </StrictMode>,
  );
};
window.show({ user: new URLSearchParams(location.search).get('user')! });
