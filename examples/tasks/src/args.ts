/** What each mutator takes. The web application has its types from here. */
import { z } from 'zod';
import { userName } from './auth.js';

const id = z.string().min(1).max(100);
const name = z.string().trim().min(1).max(200);
const title = z.string().max(1000);
/** `z.number()` takes no NaN and no infinity. */
const sort = z.number();
const userID = z.string().regex(userName);

export const schemas = {
  'list.create': z.object({ id, name }),
  'list.delete': z.object({ id }),
  'list.share': z.object({ listID: id, userID }),
  'list.unshare': z.object({ listID: id, userID }),
  'list.fill': z.object({ listID: id, count: z.int().min(1).max(10_000) }),
  'todo.create': z.object({ id, listID: id, title, sort }),
  'todo.update': z.object({ id, title: title.optional(), done: z.boolean().optional(), sort: sort.optional() }),
  'todo.delete': z.object({ id }),
};

export type Args = { readonly [Name in keyof typeof schemas]: z.input<(typeof schemas)[Name]> };
