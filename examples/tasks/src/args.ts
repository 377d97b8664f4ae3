/** The validators of the mutators' args. */
import { z } from 'zod';
import { done, listID, name, sort, title, todoID, userID } from './fields.js';

export const schemas = {
  'list.create': z.object({ id: listID.describe('The ID of the new list.'), name }),
  'list.delete': z.object({ id: listID.describe('The list to delete.') }),
  'list.share': z.object({
    listID: listID.describe('The list to share.'),
    userID: userID.describe('The user to share it with. Not the owner.'),
  }),
  'list.unshare': z.object({
    listID: listID.describe('The list that is shared.'),
    userID: userID.describe('The user to stop sharing it with.'),
  }),
  'list.fill': z.object({
    listID: listID.describe('The list to add to.'),
    count: z
      .int()
      .min(1)
      .max(10_000)
      .meta({ description: 'How many todos to add.', examples: [10] }),
  }),
  'todo.create': z.object({
    id: todoID.describe('The ID of the new todo.'),
    listID: listID.describe('The list to add it to.'),
    title,
    sort,
  }),
  'todo.update': z.object({
    id: todoID.describe('The todo to change.'),
    title: title.optional(),
    done: done.optional(),
    sort: sort.optional(),
  }),
  'todo.delete': z.object({ id: todoID.describe('The todo to delete.') }),
};
