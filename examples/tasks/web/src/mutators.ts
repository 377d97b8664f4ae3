import type { ClientMutators, ClientTransaction } from '@tidemark/client';
import type { mutators } from '../../src/mutators.js';
import type { views } from '../../src/views.js';

export type Mutators = typeof mutators;
export type Views = typeof views;

/** Finds the rows of a list without reading those of other lists. */
export const indexes = { todo: ['listID'], share: ['listID'] } as const;

/** The expected effect of each mutation. The result of the server's mutator with the same name replaces it. */
export function mutatorsFor(user: string): ClientMutators<Mutators, Views> {
  return {
    list: {
      create: (tx, { id, name }) => tx.view('list').set(id, { id, name: name.trim(), ownerID: user, open: 0 }),
      async delete(tx, { id }) {
        const [lists, todos, shares] = [tx.view('list'), tx.view('todo'), tx.view('share')];
        const ofList = { by: 'listID', equals: id } as const;
        for (const todo of await todos.list(ofList)) await todos.delete(todo.id);
        for (const { listID, userID } of await shares.list(ofList)) await shares.delete([listID, userID]);
        await lists.delete(id);
      },
      share: (tx, share) => tx.view('share').set([share.listID, share.userID], share),
      unshare: (tx, { listID, userID }) => tx.view('share').delete([listID, userID]),
      // `fill` has no effect here: the server chooses the todos' IDs.
    },
    todo: {
      async create(tx, todo) {
        await tx.view('todo').set(todo.id, { ...todo, done: false });
        await addOpen(tx, todo.listID, 1);
      },
      async update(tx, { id, ...fields }) {
        const before = await tx.view('todo').get(id);
        await tx.view('todo').update(id, fields);
        if (before) await addOpen(tx, before.listID, Number(before.done) - Number(fields.done ?? before.done));
      },
      async delete(tx, { id }) {
        const before = await tx.view('todo').get(id);
        await tx.view('todo').delete(id);
        if (before && !before.done) await addOpen(tx, before.listID, -1);
      },
    },
  };
}

/** Adds to the number of open todos of a list, which the page shows for all lists, opened or not. */
async function addOpen(tx: ClientTransaction<Views>, listID: string, added: number): Promise<void> {
  const lists = tx.view('list');
  const list = await lists.get(listID);
  if (list) await lists.update(listID, { open: list.open + added });
}
