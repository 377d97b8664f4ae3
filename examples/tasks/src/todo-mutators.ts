import { defineMutator, MutatorError } from 'tidemark';
import { requireList, requireTodo } from './access.js';
import { schemas } from './args.js';
import * as results from './results.js';
import type { Todo } from './views.js';

const create = defineMutator(
  schemas['todo.create'],
  async ({ tx, args, ctx }) => {
    await requireList(tx, args.listID, ctx.userID);
    const insert = 'insert into todo (id, list_id, title, sort) values ($1, $2, $3, $4) on conflict do nothing';
    const { rowCount } = await tx.query(insert, [args.id, args.listID, args.title, args.sort]);
    if (rowCount === 0) throw new MutatorError('A todo with this ID already exists', { status: 409 });
  },
  {
    summary: 'Add a todo to a list',
    description:
      "The list's owner and those it is shared with may do this. `sort` sets the todo's position. 409 if the ID is taken.",
    examples: {
      'A todo at the end of a list': {
        id: 'todo-from-the-docs',
        listID: 'ann-home',
        title: 'Water the plants',
        sort: 37,
      },
      'A todo between the first two': {
        id: 'todo-in-between',
        listID: 'ann-home',
        title: 'Measure the balcony',
        sort: 1.5,
      },
      'In a list that is shared with you': {
        id: 'todo-for-ben',
        listID: 'ben-garden',
        title: 'Feed the hedgehog',
        sort: 0,
      },
    },
  },
);

const update = defineMutator(
  schemas['todo.update'],
  async ({ tx, args, ctx }) => {
    await requireTodo(tx, args.id, ctx.userID);
    const { rows } = await tx.query<Todo>(
      `update todo set title = coalesce($2, title), done = coalesce($3, done), sort = coalesce($4, sort) where id = $1
       returning id, list_id as "listID", title, done, sort`,
      [args.id, args.title, args.done, args.sort],
    );
    return rows[0]!;
  },
  {
    summary: 'Change a todo',
    description:
      "Fields left out stay unchanged. The list's owner and those it is shared with may do this. Returns the whole todo.",
    examples: {
      'Tick it off': { id: 'ann-home-1', done: true },
      'Another title': { id: 'ann-home-1', title: 'Clean both shelves' },
      'Move it to the end of its list': { id: 'ann-home-1', sort: 100 },
    },
    result: results.todo,
  },
);

const remove = defineMutator(
  schemas['todo.delete'],
  async ({ tx, args, ctx }) => {
    await requireTodo(tx, args.id, ctx.userID);
    await tx.query('delete from todo where id = $1', [args.id]);
  },
  {
    summary: 'Delete a todo',
    description: "The list's owner and those it is shared with may do this.",
    examples: { 'A todo in a list of your own': { id: 'ann-home-2' } },
  },
);

/** The mutators of todos. */
export const todo = { create, update, delete: remove };
