import { createClient, type Mutate, type PendingMutation, type Status, type ViewState } from '@tidemark/client';
import {
  createClientContext,
  useMutate,
  usePending,
  useRow,
  useStatus,
  useSuspenseView,
  useView,
} from '@tidemark/client/react';
import { defineMutator, defineMutators, defineView, sql } from 'tidemark';
import { z } from 'zod';
import { type Equal, holds } from './app.js';

type Todo = { id: string; listID: string; done: boolean };

const mutators = defineMutators({ todo: { create: defineMutator(z.object({ id: z.string() }), () => {}) } });
const views = {
  todo: defineView({ query: () => sql<Todo>`select * from todo`, key: 'id' }),
  free: defineView({ query: () => sql`select 1 as id`, key: 'id' }),
  inList: defineView({
    args: z.object({ listID: z.string(), done: z.boolean().optional() }),
    query: ({ args }) => sql<Todo>`select * from todo where list_id = ${args.listID}`,
    key: 'id',
  }),
};
const { ClientProvider, useClient } = createClientContext<typeof mutators, typeof views>();
const client = createClient<typeof mutators, typeof views>({ user: 'ann' });

export function Todos() {
  const client = useClient();
  const todos = useView(client, 'todo', {
    by: ['listID', 'done'],
    equals: ['home', false],
    descending: true,
    limit: 3,
  });
  holds<Equal<typeof todos, ViewState<Todo>>>();
  const todo = useRow(client, 'todo', ['a', 'b']);
  holds<Equal<typeof todo, Todo | null | undefined>>();
  const free = useView(client, 'free');
  holds<Equal<typeof free, ViewState<unknown>>>();
  const inList = useView(client, 'inList', { args: { listID: 'home' }, initial: [], ttl: 'forever', limit: 3 });
  holds<Equal<typeof inList, ViewState<Todo>>>();
  const { rows, complete } = useSuspenseView(client, 'inList', { args: { listID: 'home', done: true }, ttl: 0 });
  holds<Equal<typeof rows, readonly Todo[]>>();
  holds<Equal<typeof complete, boolean>>();
  useSuspenseView(client, 'todo', { initial: [{ id: 'a', listID: 'home', done: false }] });
  const mutate = useMutate(client);
  holds<Equal<typeof mutate, Mutate<typeof mutators>>>();
  void mutate.todo.create({ id: 'a' });
  const status = useStatus(client);
  holds<Equal<typeof status, Status>>();
  const pending = usePending(client);
  holds<Equal<typeof pending, readonly PendingMutation[]>>();
  return <p>{todos.rows?.length}</p>;
}

export const app = (
  <ClientProvider client={client}>
    <Todos />
  </ClientProvider>
);

export function Wrong() {
  // @ts-expect-error There is no such view.
  useView(client, 'todos');
  // @ts-expect-error The view has no such field to list by.
  useView(client, 'todo', { by: 'name' });
  // @ts-expect-error The view has no such fields to list by.
  useView(client, 'todo', { by: ['listID', 'name'] });
  // @ts-expect-error The view has arguments.
  useView(client, 'inList');
  // @ts-expect-error The view has arguments.
  useSuspenseView(client, 'inList', { limit: 3 });
  // @ts-expect-error The arguments lack a field.
  useView(client, 'inList', { args: {} });
  // @ts-expect-error The argument has another type.
  useView(client, 'inList', { args: { listID: 7 } });
  // @ts-expect-error The view has no arguments.
  useView(client, 'todo', { args: { listID: 'home' } });
  // @ts-expect-error There is no such unit.
  useView(client, 'inList', { args: { listID: 'home' }, ttl: '5m' });
  // @ts-expect-error The initial rows lack fields.
  useView(client, 'todo', { initial: [{ id: 'a' }] });
  // @ts-expect-error The row has no such field.
  useRow(client, 'todo', 'a')?.title;
  useRow(client, 'todo', 7);
  // @ts-expect-error A key is made of fields of the row, not of the row.
  useRow(client, 'todo', { id: 'a' });
  // @ts-expect-error There is no such mutator.
  useMutate(client).todo.remove({ id: 'a' });
  // @ts-expect-error The args lack a field.
  useMutate(client).todo.create({});
  const other = createClient<typeof mutators, { note: typeof views.todo }>({ user: 'ann' });
  // @ts-expect-error A client of another application.
  return <ClientProvider client={other} />;
}
