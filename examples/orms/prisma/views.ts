import { defineView, sql } from 'tidemark';
import { type List, Prisma, type Todo } from './generated/client.js';

export const views = {
  list: defineView({
    query: ({ ctx }) => sql<Pick<List, 'id' | 'name'>>`select id, name from list where owner_id = ${ctx.userID}`,
    key: 'id',
  }),
  todo: defineView({
    query: ({ ctx }) =>
      sql<Todo>(Prisma.sql`
        select t.id, list_id as "listId", title, done, due_at as "dueAt", price, visits
        from todo t join list on list.id = t.list_id where list.owner_id = ${ctx.userID}`),
    key: 'id',
  }),
};
