/** Views of the example's tables without arguments, as clients of the plain protocol sync them: all todos at once. */
import { type Share, type Todo, visibleLists } from '../../examples/tasks/src/views.js';
import { defineView, sql } from '../../packages/tidemark/src/index.js';

export type { Todo };

export type List = {
  readonly id: string;
  readonly name: string;
  readonly ownerID: string;
};

const list = defineView({
  query: ({ ctx }) => sql<List>`
    select id, name, owner_id as "ownerID" from list where id in (${visibleLists(ctx)})`,
  key: 'id',
});

const todo = defineView({
  query: ({ ctx }) => sql<Todo>`
    select id, list_id as "listID", title, done, sort from todo where list_id in (${visibleLists(ctx)})`,
  key: 'id',
});

const share = defineView({
  query: ({ ctx }) => sql<Share>`
    select list_id as "listID", user_id as "userID" from share where list_id in (${visibleLists(ctx)})`,
  key: ['listID', 'userID'],
});

export const views = { list, todo, share };
