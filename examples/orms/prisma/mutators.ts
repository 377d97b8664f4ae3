import { defineMutators, MutatorError, mutatorFor, type UserContext } from 'tidemark';
import { createList, createTodo, importTodos, visitTodo } from '../args.js';
import { Prisma, type PrismaClient } from './generated/client.js';

const defineMutator = mutatorFor<UserContext, PrismaClient>();

export const mutators = defineMutators({
  list: {
    create: defineMutator(createList, async ({ tx, args, ctx }) => {
      await tx.list.create({ data: { ...args, ownerId: ctx.userID } });
    }),
  },
  todo: {
    create: defineMutator(createTodo, async ({ tx, args, ctx }) => {
      await checkList(tx, args.listId, ctx.userID);
      await tx.todo.create({ data: args });
    }),
    visit: defineMutator(visitTodo, async ({ tx, args, ctx }) => {
      const mine = { id: args.id, list: { ownerId: ctx.userID } };
      await tx.todo.updateMany({ where: mine, data: { visits: { increment: 1 } } });
    }),
    import: defineMutator(importTodos, async ({ tx, args: { listId, todos }, ctx }) => {
      await checkList(tx, listId, ctx.userID);
      for (const todo of todos) {
        // A nested transaction in the mutator's own. If it fails, the earlier writes stay.
        await tx.$transaction((inner) => inner.todo.create({ data: { ...todo, listId } })).catch(unlessTaken);
      }
      // Undoes everything.
      const n = await tx.todo.count({ where: { listId } });
      if (n > 5) throw new MutatorError('A list has room for five todos', { status: 409 });
    }),
  },
});

async function checkList(tx: PrismaClient, id: string, ownerId: string): Promise<void> {
  const found = await tx.list.findFirst({ where: { id, ownerId } });
  if (!found) throw new MutatorError('There is no such list', { status: 404 });
}

function unlessTaken(error: unknown): void {
  const isTaken = error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
  if (!isTaken) throw error;
}
