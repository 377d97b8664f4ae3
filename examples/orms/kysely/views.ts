import {
  CamelCasePlugin,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import { defineView } from 'tidemark';
import type { Tables } from './schema.js';

/** Builds queries, and runs none. Your application's own Kysely works too. */
const db = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
  plugins: [new CamelCasePlugin()],
});

export const views = {
  list: defineView({
    query: ({ ctx }) => db.selectFrom('list').select(['id', 'name']).where('ownerId', '=', ctx.userID),
    key: 'id',
  }),
  todo: defineView({
    query: ({ ctx }) =>
      db
        .selectFrom('todo')
        .innerJoin('list', 'list.id', 'todo.listId')
        .selectAll('todo')
        .where('list.ownerId', '=', ctx.userID),
    key: 'id',
    columns: 'camelCase', // as the plugin does
  }),
};
