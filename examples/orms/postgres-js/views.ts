import { defineView, sql } from 'tidemark';

interface List {
  id: string;
  name: string;
}

interface Todo {
  id: string;
  list_id: string;
  title: string;
  done: boolean;
  due_at: Date | null;
  price: number | string | null;
  visits: bigint;
}

export const views = {
  list: defineView({
    query: ({ ctx }) => sql<List>`select id, name from list where owner_id = ${ctx.userID}`,
    key: 'id',
  }),
  todo: defineView({
    query: ({ ctx }) => sql<Todo>`
      select t.* from todo t join list on list.id = t.list_id where list.owner_id = ${ctx.userID}`,
    key: 'id',
    columns: 'camelCase', // as `postgres.camel` does
  }),
};
