import type { ReadTransaction, WriteTransaction } from 'replicache';
import type { Args } from '../../src/mutators.js';
import type { List, Share, Todo } from '../../src/views.js';
import { listKey, shareKey, sharesOfList, todoKey } from './keys.js';

/** Finds the todos of a list without reading those of other lists. */
export const indexes = { todosByList: { prefix: 'todo/', jsonPointer: '/listID' } } as const;

export async function todosOf(tx: ReadTransaction, listID: string): Promise<Todo[]> {
  const found = await tx.scan<Todo>({ indexName: 'todosByList', prefix: listID }).values().toArray();
  // The prefix also matches longer IDs that begin with this one.
  return found.filter((todo) => todo.listID === listID);
}

type Mutators = {
  readonly [Name in keyof Args]: (tx: WriteTransaction, args: Args[Name]) => Promise<void>;
};

/** The expected effect of each mutation. The server's mutator of the same name has the last word. */
export function mutatorsFor(user: string): Mutators {
  return {
    async 'list.create'(tx, { id, name }) {
      const list: List = { id, name: name.trim(), ownerID: user };
      await tx.set(listKey(id), list);
    },
    async 'list.delete'(tx, { id }) {
      for (const todo of await todosOf(tx, id)) await tx.del(todoKey(todo.id));
      const shares = tx.scan({ prefix: sharesOfList(id) }).keys();
      for (const key of await shares.toArray()) await tx.del(key);
      await tx.del(listKey(id));
    },
    async 'list.share'(tx, { listID, userID }) {
      const share: Share = { listID, userID };
      await tx.set(shareKey(listID, userID), share);
    },
    async 'list.unshare'(tx, { listID, userID }) {
      await tx.del(shareKey(listID, userID));
    },
    async 'list.fill'() {
      // The server chooses the todos' IDs, so the todos come with the next pull.
    },
    async 'todo.create'(tx, { id, listID, title, sort }) {
      const todo: Todo = { id, listID, title, sort, done: false };
      await tx.set(todoKey(id), todo);
    },
    async 'todo.update'(tx, { id, title, done, sort }) {
      const todo = await tx.get<Todo>(todoKey(id));
      if (!todo) return;
      const updated: Todo = { ...todo, title: title ?? todo.title, done: done ?? todo.done, sort: sort ?? todo.sort };
      await tx.set(todoKey(id), updated);
    },
    async 'todo.delete'(tx, { id }) {
      await tx.del(todoKey(id));
    },
  };
}
