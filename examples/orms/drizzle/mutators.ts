import { and, count, DrizzleQueryError, eq, exists, sql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { defineMutators, MutatorError, mutatorFor, type UserContext } from 'tidemark';
import { createList, createTodo, importTodos, visitTodo } from '../args.js';
import { list, todo } from './schema.js';

const defineMutator = mutatorFor<UserContext, NodePgDatabase>();

export const mutators = defineMutators({
  list: {
    create: defineMutator(createList, async ({ tx, args, ctx }) => {
      await tx.insert(list).values({ ...args, ownerId: ctx.userID });
    }),
  },
  todo: {
    create: defineMutator(createTodo, async ({ tx, args, ctx }) => {
      await checkList(tx, args.listId, ctx.userID);
      await tx.insert(todo).values({ ...args, dueAt: args.dueAt ? new Date(args.dueAt) : null });
    }),
    visit: defineMutator(visitTodo, async ({ tx, args, ctx }) => {
      const mine = tx
        .select()
        .from(list)
        .where(and(eq(list.id, todo.listId), eq(list.ownerId, ctx.userID)));
      const visits = sql`${todo.visits} + 1`;
      await tx
        .update(todo)
        .set({ visits })
        .where(and(eq(todo.id, args.id), exists(mine)));
    }),
    import: defineMutator(importTodos, async ({ tx, args: { listId, todos }, ctx }) => {
      await checkList(tx, listId, ctx.userID);
      for (const { dueAt, ...one } of todos) {
        // A nested transaction in the mutator's own. If it fails, the earlier writes stay.
        await tx
          .transaction(async (inner) => {
            await inner.insert(todo).values({ ...one, listId, dueAt: dueAt ? new Date(dueAt) : null });
          })
          .catch(unlessTaken);
      }
      // Undoes everything.
      const [row] = await tx.select({ n: count() }).from(todo).where(eq(todo.listId, listId));
      if (row!.n > 5) throw new MutatorError('A list has room for five todos', { status: 409 });
    }),
  },
});

async function checkList(tx: NodePgDatabase, id: string, ownerId: string): Promise<void> {
  const [found] = await tx
    .select()
    .from(list)
    .where(and(eq(list.id, id), eq(list.ownerId, ownerId)));
  if (!found) throw new MutatorError('There is no such list', { status: 404 });
}

function unlessTaken(error: unknown): void {
  const cause = error instanceof DrizzleQueryError ? error.cause : undefined;
  if (!(cause && 'code' in cause && cause.code === '23505')) throw error;
}
