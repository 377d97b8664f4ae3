import { DatabaseError } from 'pg';
import { defineMutators, MutatorError, mutatorFor, sql, type UserContext } from 'tidemark';
import { createList, createTodo, importTodos, visitTodo } from '../args.js';
import type { Tag } from './tx.js';

const defineMutator = mutatorFor<UserContext, Tag>();

const isMine = (ctx: UserContext) => sql`list_id in (select id from list where owner_id = ${ctx.userID})`;

export const mutators = defineMutators({
  list: {
    create: defineMutator(createList, async ({ tx, args, ctx }) => {
      await tx`insert into list (id, owner_id, name) values (${args.id}, ${ctx.userID}, ${args.name})`;
    }),
  },
  todo: {
    create: defineMutator(createTodo, async ({ tx, args, ctx }) => {
      await checkList(tx, args.listId, ctx.userID);
      await tx`
        insert into todo (id, list_id, title, due_at, price)
        values (${args.id}, ${args.listId}, ${args.title}, ${args.dueAt}, ${args.price})`;
    }),
    visit: defineMutator(visitTodo, async ({ tx, args, ctx }) => {
      await tx`update todo set visits = visits + 1 where id = ${args.id} and ${isMine(ctx)}`;
    }),
    import: defineMutator(importTodos, async ({ tx, args: { listId, todos }, ctx }) => {
      await checkList(tx, listId, ctx.userID);
      for (const { id, title, dueAt, price } of todos) {
        // A nested transaction in the mutator's own. If it fails, the earlier writes stay.
        await tx
          .savepoint(
            (inner) => inner`
              insert into todo (id, list_id, title, due_at, price)
              values (${id}, ${listId}, ${title}, ${dueAt}, ${price})`,
          )
          .catch(unlessTaken);
      }
      const [row] = await tx<{ n: number }>`select count(*)::integer as n from todo where list_id = ${listId}`;
      // Undoes everything.
      if (row!.n > 5) throw new MutatorError('A list has room for five todos', { status: 409 });
    }),
  },
});

async function checkList(tx: Tag, id: string, ownerId: string): Promise<void> {
  const [found] = await tx`select from list where id = ${id} and owner_id = ${ownerId}`;
  if (!found) throw new MutatorError('There is no such list', { status: 404 });
}

function unlessTaken(error: unknown): void {
  if (!(error instanceof DatabaseError && error.code === '23505')) throw error;
}
