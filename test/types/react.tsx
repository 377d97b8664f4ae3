import { createClient, type Mutate, type PendingMutation, type Status } from '@tidemark/client';
import { createClientContext, useMutate, usePending, useRow, useStatus, useView } from '@tidemark/client/react';
import { defineMutator, defineMutators, defineView, sql } from 'tidemark';
import { z } from 'zod';
import { type Equal, holds } from './app.js';

type Todo = { id: string; listID: string; done: boolean };

const mutators = defineMutators({ todo: { create: defineMutator(z.object({ id: z.string() }), () => {}) } });
const views = {
  todo: defineView({ query: () => sql<Todo>`select * from todo`, key: 'id' }),
  free: defineView({ query: () => sql`select 1 as id`, key: 'id' }),
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
  holds<Equal<typeof todos, readonly Todo[] | undefined>>();
  const todo = useRow(client, 'todo', ['a', 'b']);
  holds<Equal<typeof todo, Todo | null | undefined>>();
  const free = useView(client, 'free');
  holds<Equal<typeof free, readonly unknown[] | undefined>>();
  const mutate = useMutate(client);
  holds<Equal<typeof mutate, Mutate<typeof mutators>>>();
  void mutate.todo.create({ id: 'a' });
  const status = useStatus(client);
  holds<Equal<typeof status, Status>>();
  const pending = usePending(client);
  holds<Equal<typeof pending, readonly PendingMutation[]>>();
  return <p>{todos?.length}</p>;
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
