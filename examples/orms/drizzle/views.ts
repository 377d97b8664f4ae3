import { eq, getTableColumns } from 'drizzle-orm';
import { QueryBuilder } from 'drizzle-orm/pg-core';
import { defineView, sql } from 'tidemark';
import type { Rows } from './rows.js';
import { list, todo } from './schema.js';

const db = new QueryBuilder();
const lists = { id: list.id, name: list.name };
const todos = getTableColumns(todo);

export const views = {
  list: defineView({
    query: ({ ctx }) => sql<Rows<typeof lists>>(db.select(lists).from(list).where(eq(list.ownerId, ctx.userID))),
    key: 'id',
  }),
  todo: defineView({
    query: ({ ctx }) =>
      sql<Rows<typeof todos>>(
        db.select(todos).from(todo).innerJoin(list, eq(list.id, todo.listId)).where(eq(list.ownerId, ctx.userID)),
      ),
    key: 'id',
    columns: 'camelCase',
  }),
};
