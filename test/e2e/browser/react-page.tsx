/** A page of `@tidemark/client/react`. Tests choose what it shows, and read the values that its components receive. */

import { type Client, createClient, type Observable } from '@tidemark/client';
import {
  createClientContext,
  useMutate,
  usePending,
  useRefused,
  useRow,
  useStatus,
  useSuspenseView,
  useView,
} from '@tidemark/client/react';
import { type ReactNode, StrictMode, Suspense } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import type { mutators } from '../../../examples/tasks/src/mutators.js';
import type { List, Todo } from '../../support/whole-views.js';
import type { Entry, reactViews } from './react-views.js';

type Mutators = typeof mutators;
type Views = typeof reactViews;
type PageClient = Client<Mutators, Views>;

/** The content of the page. */
export interface Shown {
  readonly user: string;
  /** Shows the todos of this list, by the index. */
  readonly listID?: string;
  /** Shows the todo with this ID, by its key. */
  readonly todoID?: string;
  /** Shows the titles of this list's todos, by the view that takes a list as argument. */
  readonly entriesOf?: string;
  /** Shows the names of the lists by this hook. */
  readonly names?: 'useView' | 'useSuspenseView';
  /** The initial rows of the names. */
  readonly initial?: readonly List[] | undefined;
}

/** The values that a component receives in a render. */
export interface Rendered {
  readonly component: string;
  /** The ID of the list or the todo that it shows. */
  readonly id: string | undefined;
  readonly rows: readonly (List | Todo | Entry)[] | Todo | null | undefined;
  readonly complete?: boolean;
}

declare global {
  interface Window {
    show: (shown: Shown) => void;
    /** Shows HTML that a server has rendered, then lets React hydrate it. Returns the HTML. */
    hydrate: (shown: Shown) => string;
    /** The errors that React recovered from while hydrating. */
    recovered: unknown[];
    rendered: Rendered[];
    /** The number of open subscriptions to rows. */
    subscriptions: number;
  }
}

const { ClientProvider, useClient } = createClientContext<Mutators, Views>();
window.rendered = [];
window.recovered = [];
window.subscriptions = 0;
const log = (component: string, id: string | undefined, rows: Rendered['rows'], complete?: boolean) =>
  window.rendered.push({ component, id, rows, ...(complete !== undefined && { complete }) });

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
        {useView(client, 'list', { prefix: '' }).rows?.map(({ id, name }) => (
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
  const { rows: todos } = useView(useClient(), 'todo', { by: 'listID', equals: listID });
  log(component, listID, todos);
  return <section>{todos ? todos.map(({ title }) => title).join() : 'not read'}</section>;
}

function Entries({ listID }: { listID: string }) {
  const { rows, complete, refused } = useView(useClient(), 'entry', { args: { listID }, ttl: 60_000 });
  log('entries', listID, rows, complete);
  const titles = rows?.map(({ title }) => title).join();
  return <section>{refused ? refused.code : (titles || 'no entries') + (complete ? '' : ' …')}</section>;
}

function OneTodo({ todoID }: { todoID: string }) {
  const todo = useRow(useClient(), 'todo', todoID);
  log('one', todoID, todo);
  return <section>{todo === undefined ? 'not read' : (todo?.title ?? 'none')}</section>;
}

type NamesProps = Pick<Shown, 'initial'>;

function Names({ initial }: NamesProps) {
  const { rows, complete } = useView(useClient(), 'list', { initial });
  log('names', undefined, rows, complete);
  return <section>{rows ? rows.map(({ name }) => name).join() || 'no lists' : 'not read'}</section>;
}

function SuspendedNames({ initial }: NamesProps) {
  const { rows, complete } = useSuspenseView(useClient(), 'list', { initial });
  log('names', undefined, rows, complete);
  return <section>{rows.map(({ name }) => name).join() || 'no lists'}</section>;
}

/** A client that counts its subscriptions. */
function countingClient(user: string): PageClient {
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

const clients = new Map<string, PageClient>();
let client: PageClient;
const root = createRoot(document.querySelector('main')!);

function chooseUser(user: string): void {
  client = clients.get(user) ?? countingClient(user);
  clients.set(user, client);
  window.client = client as unknown as typeof window.client;
}

/** The components of a page, without those that every page has. */
function content({ listID, todoID, entriesOf, names, initial }: Shown): ReactNode {
  return (
    <Suspense fallback={<section>suspended</section>}>
      {listID && <Todos listID={listID} component="first" />}
      {listID && <Todos listID={listID} component="second" />}
      {todoID && <OneTodo todoID={todoID} />}
      {entriesOf && <Entries listID={entriesOf} />}
      {names === 'useView' && <Names initial={initial} />}
      {names === 'useSuspenseView' && <SuspendedNames initial={initial} />}
    </Suspense>
  );
}

window.show = (shown) => {
  chooseUser(shown.user);
  root.render(
    <StrictMode>
      <ClientProvider client={client}>
        <Lists />
        {content(shown)}
      </ClientProvider>
    </StrictMode>,
  );
};

window.hydrate = (shown) => {
  chooseUser(shown.user);
  const page = <ClientProvider client={client}>{content(shown)}</ClientProvider>;
  const html = renderToString(page);
  const container = document.body.appendChild(document.createElement('div'));
  container.innerHTML = html;
  hydrateRoot(container, page, { onRecoverableError: (error) => window.recovered.push(String(error)) });
  return html;
};

window.show({ user: new URLSearchParams(location.search).get('user')! });
