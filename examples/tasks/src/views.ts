import { defineView, type SqlQuery, sql, type UserContext, type View } from 'tidemark';

export interface List {
  readonly id: string;
  readonly name: string;
  readonly ownerID: string;
}

export interface Todo {
  readonly id: string;
  readonly listID: string;
  readonly title: string;
  readonly done: boolean;
  readonly sort: number;
}

/** The one place that says which lists a user sees: their own, and those shared with them. */
function visibleLists({ userID }: UserContext): SqlQuery<{ id: string }> {
  return sql`
    select id from list where owner_id = ${userID}
    union all
    select list_id from share where user_id = ${userID}`;
}

const list = defineView({
  query: ({ ctx }: { ctx: UserContext }) => sql<List>`
    select id, name, owner_id as "ownerID" from list where id in (${visibleLists(ctx)})`,
  key: 'id',
});

const todo = defineView({
  query: ({ ctx }: { ctx: UserContext }) => sql<Todo>`
    select id, list_id as "listID", title, done, sort from todo where list_id in (${visibleLists(ctx)})`,
  key: 'id',
});

/** A client holds its lists under `list/<id>` and their todos under `todo/<id>`. */
export const views: { readonly list: View<UserContext, List>; readonly todo: View<UserContext, Todo> } = { list, todo };
