import { createCollection, createLiveQueryCollection, eq } from '@tanstack/db';
import { createClient } from '@tidemark/client';
import { tidemarkCollectionOptions } from '@tidemark/client/tanstack-db';
import { defineMutator, defineMutators, defineView, sql } from 'tidemark';
import { z } from 'zod';
import { type Equal, holds } from './app.js';

type Todo = { id: string; listID: string; done: boolean };
type Member = { listID: string; userID: string };

const args = z.object({ id: z.string(), done: z.boolean().optional() });
const mutators = defineMutators({ todo: { update: defineMutator(args, () => {}) } });
const views = {
  todo: defineView({ query: () => sql<Todo>`select * from todo`, key: 'id' }),
  member: defineView({ query: () => sql<Member>`select * from member`, key: ['listID', 'userID'] }),
  name: defineView({ query: () => sql<{ id: string; name: string }>`select * from name`, key: 'id', value: 'name' }),
  free: defineView({ query: () => sql`select 1 as id`, key: 'id' }),
  inList: defineView({
    args: z.object({ listID: z.string(), done: z.boolean().optional(), first: z.int().optional() }),
    query: ({ args }) => sql<Todo>`select * from todo where list_id = ${args.listID}`,
    key: 'id',
  }),
};
const client = createClient<typeof mutators, typeof views>({ user: 'ann' });

const todos = createCollection(
  tidemarkCollectionOptions({
    client,
    view: 'todo',
    getKey: ({ id }) => id,
    gcTime: 1_000,
    onUpdate: ({ transaction }) =>
      Promise.all(
        transaction.mutations.map(({ key, changes, modified }) => {
          holds<Equal<typeof key, string>>();
          holds<Equal<typeof changes, Partial<Todo>>>();
          holds<Equal<typeof modified, Todo>>();
          return client.mutate.todo.update({ id: key, ...changes });
        }),
      ),
  }),
);
todos.update('a', (todo) => {
  todo.done = true;
});
const first: Todo | undefined = todos.get('a');
const members = createCollection(
  tidemarkCollectionOptions({ client, view: 'member', getKey: ({ listID, userID }) => [listID, userID] }),
);
const joined = createLiveQueryCollection((q) =>
  q
    .from({ todo: todos })
    .innerJoin({ member: members }, ({ todo, member }) => eq(todo.listID, member.listID))
    .select(({ todo, member }) => ({ id: todo.id, userID: member.userID })),
);
const row: { id: string; userID: string } | undefined = joined.toArray[0];
createCollection(tidemarkCollectionOptions({ client, view: 'free', getKey: () => 'a' }));
const onDemand = { client, view: 'inList', getKey: ({ id }: Todo) => id, syncMode: 'on-demand' } as const;
const inList = createCollection(tidemarkCollectionOptions({ ...onDemand, args: ['listID'], ttl: 'forever' }));
createCollection(tidemarkCollectionOptions({ ...onDemand, args: ['listID', 'done'], ttl: 0 }));
createCollection(
  tidemarkCollectionOptions({
    ...onDemand,
    args: ['listID'],
    limitArgs: (limit, [first]) => {
      holds<Equal<typeof limit, number>>();
      return first?.field === 'id' && first.direction === 'asc' ? { first: limit } : {};
    },
  }),
);
const home: Todo | undefined = createLiveQueryCollection((q) =>
  q.from({ todo: inList }).where(({ todo }) => eq(todo.listID, 'home')),
).toArray[0];

export { first, home, row };

export function wrong(): void {
  // @ts-expect-error There is no such view.
  tidemarkCollectionOptions({ client, view: 'todos', getKey: () => 'a' });
  // @ts-expect-error The row has no such field.
  tidemarkCollectionOptions({ client, view: 'todo', getKey: ({ name }) => name });
  // @ts-expect-error A key is made of fields of the row, not of the row.
  tidemarkCollectionOptions({ client, view: 'todo', getKey: (todo) => todo });
  // @ts-expect-error The option `getKey` is missing.
  tidemarkCollectionOptions({ client, view: 'todo' });
  // @ts-expect-error A collection holds objects, and this view has texts.
  tidemarkCollectionOptions({ client, view: 'name', getKey: (name) => name.id });
  // @ts-expect-error A handler must return a promise.
  tidemarkCollectionOptions({ client, view: 'todo', getKey: ({ id }) => id, onUpdate: () => {} });
  // @ts-expect-error The view has arguments.
  tidemarkCollectionOptions({ client, view: 'inList', getKey: ({ id }) => id });
  // @ts-expect-error The names of the arguments are missing.
  tidemarkCollectionOptions(onDemand);
  // @ts-expect-error The view has no such argument.
  tidemarkCollectionOptions({ ...onDemand, args: ['id'] });
  // @ts-expect-error The argument has another type.
  tidemarkCollectionOptions({ ...onDemand, args: ['listID'], limitArgs: () => ({ first: 'all' }) });
  // @ts-expect-error The view has no arguments.
  tidemarkCollectionOptions({ client, view: 'todo', getKey: ({ id }) => id, syncMode: 'on-demand', args: ['listID'] });
  // @ts-expect-error The row has no such field.
  for (const { title } of todos.values()) void title;
}
