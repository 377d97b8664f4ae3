import { sql } from 'drizzle-orm';
import { bigint, boolean, numeric, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

export const list = pgTable('list', {
  id: text('id').primaryKey(),
  ownerId: text('owner_id').notNull(),
  name: text('name').notNull(),
});

export const todo = pgTable('todo', {
  id: text('id').primaryKey(),
  listId: text('list_id')
    .notNull()
    .references(() => list.id),
  title: text('title').notNull(),
  done: boolean('done').notNull().default(false),
  dueAt: timestamp('due_at', { withTimezone: true }),
  price: numeric('price', { precision: 12, scale: 2 }),
  visits: bigint('visits', { mode: 'number' }).notNull().default(sql`0`),
});
