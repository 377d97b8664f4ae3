import { type Kysely, type Migration, sql } from 'kysely';

/** The names of columns are camelCase here, too: the plugin translates them. */
export const migrations: Record<string, Migration> = {
  '0000_init': {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('list')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('ownerId', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('todo')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('listId', 'text', (column) => column.notNull().references('list.id'))
        .addColumn('title', 'text', (column) => column.notNull())
        .addColumn('done', 'boolean', (column) => column.notNull().defaultTo(false))
        .addColumn('dueAt', 'timestamptz')
        .addColumn('price', sql`numeric(12, 2)`)
        .addColumn('visits', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
};
