/** Mutators that write through Drizzle. */
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import { createSync, defineConfig, defineMutators, mutatorFor } from 'tidemark';
import type { AppContext } from './app.js';

const todo = pgTable('todo', { id: text('id').primaryKey() });
const database = 'postgres://';
const views = {};
const authenticate = (): AppContext => ({ userID: 'ann', roles: [] });
const schema = { todo };

const plain = defineMutators({
  add: mutatorFor<AppContext, NodePgDatabase>()(async ({ tx }) => void (await tx.insert(todo).values({ id: 'a' }))),
});
await createSync({ database, views, authenticate, mutators: plain, tx: (client) => drizzle(client) });
await createSync({ database, views, authenticate, mutators: plain, tx: (client) => drizzle({ client }) });
defineConfig({ views, authenticate, mutators: plain, tx: (client) => drizzle(client) });

const relational = defineMutators({
  find: mutatorFor<AppContext, NodePgDatabase<typeof schema>>()(({ tx }) => tx.query.todo.findMany()),
});
await createSync({ database, views, authenticate, mutators: relational, tx: (client) => drizzle(client, { schema }) });

const ofPool = defineMutators({
  add: mutatorFor<AppContext, ReturnType<typeof drizzle>>()(({ tx }) => tx.insert(todo).values({ id: 'a' })),
});
// @ts-expect-error `ReturnType<typeof drizzle>` has a pool as its `$client`: a mutator's transaction has a client.
await createSync({ database, views, authenticate, mutators: ofPool, tx: (client) => drizzle(client) });
