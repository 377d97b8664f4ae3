import { defineView, type SqlQuery, sql, type UserContext } from 'tidemark';
import { z } from 'zod';
import { listID } from './fields.js';

// Types, not interfaces: the client's types accept only these as JSON.
export type List = {
  readonly id: string;
  readonly name: string;
  readonly ownerID: string;
  /** The number of its todos that are not done. */
  readonly open: number;
};

export type Todo = {
  readonly id: string;
  readonly listID: string;
  readonly title: string;
  readonly done: boolean;
  readonly sort: number;
};

export type Share = {
  readonly listID: string;
  readonly userID: string;
};

/** The lists that a user sees: their own, and those shared with them. All views use this. */
export function visibleLists({ userID }: UserContext): SqlQuery<{ id: string }> {
  return sql`
    select id from list where owner_id = ${userID}
    union all
    select list_id from share where user_id = ${userID}`;
}

const list = defineView({
  query: ({ ctx }) => sql<List>`
    select id, name, owner_id as "ownerID",
      (select count(*) from todo where list_id = list.id and not done) as open
    from list where id in (${visibleLists(ctx)})`,
  key: 'id',
});

/** The todos of one list: a client syncs the lists that it opens. */
const todo = defineView({
  args: z.object({ listID: listID.describe('The list that they are in.') }),
  query: ({ ctx, args }) => sql<Todo>`
    select id, list_id as "listID", title, done, sort from todo
    where list_id = ${args.listID} and list_id in (${visibleLists(ctx)})`,
  key: 'id',
});

/** The other users who see a list. All who see the list can see them. */
const share = defineView({
  query: ({ ctx }) => sql<Share>`
    select list_id as "listID", user_id as "userID" from share where list_id in (${visibleLists(ctx)})`,
  key: ['listID', 'userID'],
});

/**
 * The client views. A client holds lists under `list/<id>`, todos of the lists that it opens under `todo/<id>`, and shares
 * under `share/<list>/<user>`.
 */
export const views = { list, todo, share };
