/** The example application, with a view of todos that takes a list as argument. */
import { z } from 'zod';
import type { mutators } from '../../../examples/tasks/src/mutators.js';
import type { Client } from '../../../packages/client/src/index.js';
import { defineView, sql } from '../../../packages/tidemark/src/index.js';
import { type Todo, views } from '../../support/whole-views.js';

/** The todos of a list of the user's own. Lists with long IDs are refused. */
const todo = defineView({
  args: z.object({ listID: z.string().max(20) }),
  query: ({ ctx, args }) => sql<Todo>`
    select id, list_id as "listID", title, done, sort from todo
    where list_id = ${args.listID} and list_id in (select id from list where owner_id = ${ctx.userID})`,
  key: 'id',
});

/** The todos of a list of the user's own: all, or the last ones. */
const lastTodo = defineView({
  args: z.object({ listID: z.string(), last: z.int().positive().optional() }),
  query: ({ ctx, args }) => sql<Todo>`
    select id, list_id as "listID", title, done, sort from todo
    where list_id = ${args.listID} and list_id in (select id from list where owner_id = ${ctx.userID})
    order by sort desc, id limit ${args.last ?? null}`,
  key: 'id',
});

export const onDemandViews = { ...views, todo, lastTodo };

export type OnDemandClient = Client<typeof mutators, typeof onDemandViews>;
