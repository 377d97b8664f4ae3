/** Whole views of the example's tables, and one with arguments. */
import { z } from 'zod';
import { defineView, sql } from '../../../packages/tidemark/src/index.js';
import { views } from '../../support/whole-views.js';

export type Entry = { readonly id: string; readonly listID: string; readonly title: string };

/** The todos of one of the user's own lists. Lists with long IDs are refused. */
const entry = defineView({
  args: z.object({ listID: z.string().max(20) }),
  query: ({ ctx, args }) => sql<Entry>`
    select id, list_id as "listID", title from todo
    where list_id = ${args.listID} and list_id in (select id from list where owner_id = ${ctx.userID})`,
  key: 'id',
});

export const reactViews = { ...views, entry };
