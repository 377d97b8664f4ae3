import {
  type ClientMutator,
  type ClientMutators,
  type ClientOptions,
  type ClientTransaction,
  createClient,
  type Mutate,
  type ViewState,
  type WriteView,
} from '@tidemark/client';
import { defineMutator, defineMutators, defineView, sql } from 'tidemark';
import { z } from 'zod';
import { type Equal, holds } from './app.js';

type Todo = { id: string; listID: string; title: string; done: boolean; due: string | null; tags: string[] };

const mutators = defineMutators({
  todo: {
    create: defineMutator(z.object({ id: z.string(), title: z.string() }), () => {}),
    'items.clear': defineMutator(z.object({ id: z.string() }), () => {}),
  },
  ping: defineMutator(z.undefined(), () => {}),
  free: defineMutator(() => {}),
});
const views = {
  todo: defineView({ query: () => sql<Todo>`select * from todo`, key: 'id' }),
  free: defineView({ query: () => sql`select 1 as id`, key: 'id' }),
};
type Mutators = typeof mutators;
type Views = typeof views;

const client = createClient<Mutators, Views>({
  user: 'ann',
  mutators: {
    todo: {
      create(tx, args) {
        holds<Equal<typeof args, { id: string; title: string }>>();
        return tx.view('todo').set(args.id, { ...args, listID: 'l', done: false, due: null, tags: [] });
      },
      items: { clear: (tx, { id }) => tx.view('todo').update(id, { done: true, title: undefined }) },
    },
    async ping(tx, args) {
      holds<Equal<typeof args, undefined>>();
      const todo = await tx.view('todo').get(['a', 'b']);
      holds<Equal<typeof todo, Todo | undefined>>();
    },
  },
  prefixes: { todo: 't/' },
  indexes: { todo: ['listID', 'due', ['listID', 'done', 'due']], free: ['anything'] },
});
createClient<Mutators, Views>({ user: 'ann', mutators: { 'todo.create': (tx, { id }) => tx.view('todo').delete(id) } });
createClient<Mutators, Views>({ user: 'ann' });

/** A function of several mutators. */
async function finish(tx: ClientTransaction<Views>, { id }: { id: string }): Promise<void> {
  const todos = tx.view('todo');
  holds<Equal<typeof todos, WriteView<Todo>>>();
  await todos.update(id, { done: true });
}
const clear: ClientMutator<{ id: string }, Views> = (tx, args) => {
  holds<Equal<typeof tx, ClientTransaction<Views>>>();
  return finish(tx, args);
};
const optimistic: ClientMutators<Mutators, Views> = { todo: { create: finish, items: { clear } } };
createClient<Mutators, Views>({ user: 'ann', mutators: optimistic });

await client.mutate.todo.create({ id: 'a', title: 'Milk' });
await client.mutate['todo.create']({ id: 'a', title: 'Milk' });
await client.mutate.todo.items.clear({ id: 'a' });
await client.mutate.todo['items.clear']({ id: 'a' });
await client.mutate.ping();
await client.mutate.free({ any: 'thing' });
const confirmed = await client.mutate.todo.create({ id: 'a', title: 'Milk' }).confirmed;
holds<Equal<typeof confirmed, void>>();

const todos = await client.view('todo').list({ by: 'listID', equals: 'l' });
holds<Equal<typeof todos, readonly Todo[]>>();
const by = ['listID', 'done', 'due'] as const;
await client
  .view('todo')
  .list({ by, equals: ['l', false, null], after: { row: todos[0]!, key: 'a' }, descending: true });
const unfinished = await client.view('todo').count({ by: [...by], equals: ['l', false] });
holds<Equal<typeof unfinished, number>>();
client.view('todo').watch(([change]) => holds<Equal<NonNullable<typeof change>['row'], Todo | undefined>>());
const observed = client.view('todo').observe().get();
holds<Equal<typeof observed, ViewState<Todo>>>();
holds<Equal<typeof observed.rows, readonly Todo[] | undefined>>();
client.subscribe(
  async (tx) => (await tx.view('todo').list()).length,
  (count) => holds<Equal<typeof count, number>>(),
);
const free = await client.view('free').get('1');
holds<Equal<typeof free, unknown>>();

export function wrong(mutate: Mutate<Mutators>, options: ClientOptions<Mutators, Views>): void {
  const create = createClient<Mutators, Views>;
  // @ts-expect-error There is no such mutator.
  mutate.todo.remove({ id: 'a' });
  // @ts-expect-error A namespace cannot be called.
  mutate.todo({ id: 'a' });
  // @ts-expect-error The args lack a field.
  mutate.todo.create({ id: 'a' });
  // @ts-expect-error A field has another type.
  mutate['todo.create']({ id: 7, title: 'Milk' });
  // @ts-expect-error The args are missing.
  mutate.todo.create();
  // @ts-expect-error There is no such view.
  client.view('todos');
  // @ts-expect-error The row has no such field.
  for (const { name } of todos) void name;
  // @ts-expect-error The view has no such field to list by.
  client.view('todo').list({ by: 'name' });
  // @ts-expect-error The field holds a list.
  client.view('todo').list({ by: 'tags' });
  // @ts-expect-error The row has no such field to continue after.
  client.view('todo').list({ by: 'due', after: { row: { until: null }, key: 'a' } });
  // @ts-expect-error A count has no limit.
  client.view('todo').count({ limit: 1 });
  // @ts-expect-error The rows may not have been read yet.
  client.view('todo').observe().get().rows.length;
  // @ts-expect-error The user is missing.
  create({});
  // @ts-expect-error The server has no such mutator.
  create({ user: 'ann', mutators: { todo: { remove: () => {} } } });
  // @ts-expect-error The server has no mutator of this name, with a dot.
  create({ user: 'ann', mutators: { 'todo.remove': () => {} } });
  // @ts-expect-error The args have no such field.
  create({ user: 'ann', mutators: { 'todo.create': (tx, { name }) => tx.view('todo').delete(name) } });
  // @ts-expect-error The row lacks fields.
  create({ user: 'ann', mutators: { 'todo.create': (tx, args) => tx.view('todo').set('a', args) } });
  // @ts-expect-error The transaction has no such view.
  const remove = (tx: ClientTransaction<Views>, { name }: { name: string }) => tx.view('todos').delete(name);
  // @ts-expect-error The function takes other args than the mutator.
  const other: ClientMutators<Mutators, Views> = { todo: { create: remove } };
  create({ user: 'ann', mutators: other });
  // @ts-expect-error There is no such view to write to.
  create({ user: 'ann', mutators: { 'todo.create': (tx) => tx.view('todos').delete('a') } });
  // @ts-expect-error There is no such view to have a prefix.
  create({ user: 'ann', prefixes: { todos: 't/' } });
  // @ts-expect-error An index holds only texts, numbers, booleans and null.
  create({ user: 'ann', indexes: { todo: [['done', 'tags']] } });
  create(options);
}
