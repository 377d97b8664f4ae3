import type { Kysely } from 'kysely';
import { DatabaseError } from 'pg';
import { defineMutators, MutatorError, mutatorFor, type UserContext } from 'tidemark';
import { createList, createTodo, importTodos, visitTodo } from '../args.js';
import type { Tables } from './schema.js';

const defineMutator = mutatorFor<UserContext, Kysely<Tables>>();

export const mutators = defineMutators({
  list: {
    create: defineMutator(createList, async ({ tx, args, ctx }) => {
      await tx
        .insertInto('list')
        .values({ ...args, ownerId: ctx.userID })
        .execute();
    }),
  },
  todo: {
    create: defineMutator(createTodo, async ({ tx, args, ctx }) => {
      await checkList(tx, args.listId, ctx.userID);
      await tx.insertInto('todo').values(args).execute();
    }),
    visit: defineMutator(visitTodo, async ({ tx, args, ctx }) => {
      await tx
        .updateTable('todo')
        .from('list')
        .set((eb) => ({ visits: eb('todo.visits', '+', 1) }))
        .whereRef('list.id', '=', 'todo.listId')
        .where('list.ownerId', '=', ctx.userID)
        .where('todo.id', '=', args.id)
        .execute();
    }),
    import: defineMutator(importTodos, async ({ tx, args: { listId, todos }, ctx }) => {
      await checkList(tx, listId, ctx.userID);
      for (const todo of todos) {
        // A nested transaction in the mutator's own. If it fails, the earlier writes stay.
        await tx
          .transaction()
          .execute((inner) =>
            inner
              .insertInto('todo')
              .values({ ...todo, listId })
              .execute(),
          )
          .catch(unlessTaken);
      }
      const { n } = await tx
        .selectFrom('todo')
        .select((eb) => eb.fn.countAll().as('n'))
        .where('listId', '=', listId)
        .executeTakeFirstOrThrow();
      // Undoes everything.
      if (Number(n) > 5) throw new MutatorError('A list has room for five todos', { status: 409 });
    }),
  },
});

async function checkList(tx: Kysely<Tables>, id: string, ownerId: string): Promise<void> {
  const found = await tx
    .selectFrom('list')
    .select('id')
    .where('id', '=', id)
    .where('ownerId', '=', ownerId)
    .executeTakeFirst();
  if (!found) throw new MutatorError('There is no such list', { status: 404 });
}

function unlessTaken(error: unknown): void {
  if (!(error instanceof DatabaseError && error.code === '23505')) throw error;
}
