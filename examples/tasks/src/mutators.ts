import type { ClientBase } from 'pg';
import { defineMutator, defineMutators, type Mutators } from 'tidemark';
import { schemas } from './args.js';

const createList = defineMutator(
  schemas['list.create'],
  async ({ tx, args, ctx }) => {
    await tx.query('insert into list (id, owner_id, name) values ($1, $2, $3)', [args.id, ctx.userID, args.name]);
  },
  { summary: 'Create a list', description: 'The list belongs to the caller. Its ID must be new.' },
);

const deleteList = defineMutator(
  schemas['list.delete'],
  async ({ tx, args, ctx }) => {
    await requireOwner(tx, args.id, ctx.userID);
    await tx.query('delete from list where id = $1', [args.id]);
  },
  { summary: 'Delete a list', description: 'Its todos and shares go with it. Only the owner may.' },
);

const shareList = defineMutator(
  schemas['list.share'],
  async ({ tx, args, ctx }) => {
    await requireOwner(tx, args.listID, ctx.userID);
    const insert = 'insert into share (list_id, user_id) values ($1, $2) on conflict do nothing';
    await tx.query(insert, [args.listID, args.userID]);
  },
  {
    summary: 'Share a list with a user',
    description: 'That user sees the list and may work on its todos. Only the owner may share it.',
  },
);

const unshareList = defineMutator(
  schemas['list.unshare'],
  async ({ tx, args, ctx }) => {
    await requireOwner(tx, args.listID, ctx.userID);
    await tx.query('delete from share where list_id = $1 and user_id = $2', [args.listID, args.userID]);
  },
  {
    summary: 'Take back a share',
    description: 'The list and its todos leave that user. Only the owner may take a share back.',
  },
);

const fillList = defineMutator(
  schemas['list.fill'],
  async ({ tx, args, ctx }) => {
    await requireOwner(tx, args.listID, ctx.userID);
    // The IDs share a prefix that nobody else has, and sort as the todos do.
    await tx.query(
      `insert into todo (id, list_id, title, sort)
       select prefix || lpad(n::text, 6, '0'), $1, 'Todo ' || n, last + n
       from (select gen_random_uuid() || '-' as prefix) as fresh,
         (select coalesce(max(sort), 0) as last from todo where list_id = $1) as before,
         generate_series(1, $2::int) as n`,
      [args.listID, args.count],
    );
  },
  { summary: 'Add many todos to a list', description: 'They come after those that are there. Only the owner may.' },
);

const createTodo = defineMutator(
  schemas['todo.create'],
  async ({ tx, args, ctx }) => {
    await requireAccess(tx, args.listID, ctx.userID);
    const insert = 'insert into todo (id, list_id, title, sort) values ($1, $2, $3, $4)';
    await tx.query(insert, [args.id, args.listID, args.title, args.sort]);
  },
  {
    summary: 'Add a todo to a list',
    description: "The list's owner may, and those it is shared with. The ID must be new.",
  },
);

const updateTodo = defineMutator(
  schemas['todo.update'],
  async ({ tx, args, ctx }) => {
    await requireAccess(tx, await listOf(tx, args.id), ctx.userID);
    await tx.query(
      'update todo set title = coalesce($2, title), done = coalesce($3, done), sort = coalesce($4, sort) where id = $1',
      [args.id, args.title, args.done, args.sort],
    );
  },
  {
    summary: 'Change a todo',
    description: "What is left out stays as it is. The list's owner may, and those it is shared with.",
  },
);

const deleteTodo = defineMutator(
  schemas['todo.delete'],
  async ({ tx, args, ctx }) => {
    await requireAccess(tx, await listOf(tx, args.id), ctx.userID);
    await tx.query('delete from todo where id = $1', [args.id]);
  },
  { summary: 'Delete a todo', description: "The list's owner may, and those it is shared with." },
);

export const mutators: Mutators = defineMutators({
  list: { create: createList, delete: deleteList, share: shareList, unshare: unshareList, fill: fillList },
  todo: { create: createTodo, update: updateTodo, delete: deleteTodo },
});

/** A mutation that the caller may not make. It is skipped, and the client drops its optimistic result with the next pull. */
class NotAllowedError extends Error {
  override readonly name = 'NotAllowedError';
}

async function requireOwner(tx: ClientBase, listID: string, user: string): Promise<void> {
  const { rowCount } = await tx.query('select from list where id = $1 and owner_id = $2', [listID, user]);
  if (rowCount === 0) throw new NotAllowedError('there is no such list, or it belongs to another user');
}

async function requireAccess(tx: ClientBase, listID: string | undefined, user: string): Promise<void> {
  const { rowCount } = await tx.query(
    `select from list where id = $1
       and (owner_id = $2 or exists (select from share where list_id = list.id and user_id = $2))`,
    [listID, user],
  );
  if (rowCount === 0) throw new NotAllowedError('there is no such list or todo, or it is not shared with this user');
}

async function listOf(tx: ClientBase, todoID: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ list_id: string }>('select list_id from todo where id = $1', [todoID]);
  return rows[0]?.list_id;
}
