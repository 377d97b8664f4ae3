/** The rows of views whose queries come from query builders. */
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text, timestamp } from 'drizzle-orm/pg-core';
import { type Generated, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { defineView, type RowOf, sql, viewFor } from 'tidemark';
import { type AppContext, type Equal, holds } from './app.js';

interface Interval {
  days: number;
  toPostgres(): string;
}

interface Tables {
  todo: {
    id: Generated<string>;
    owner_id: string;
    due: Date | null;
    visits: bigint;
    price: { toNumber(): number; toFixed(): string };
    state: 'open' | 'done';
    icon: Buffer;
    reminders: Date[];
    labels: { name: string; at: [Date, number] }[];
    pause: Interval;
    other: unknown;
  };
}

const pool = new pg.Pool();
const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });

export const ofKysely = defineView({ query: () => kysely.selectFrom('todo').selectAll(), key: 'id' });
type Row = RowOf<typeof ofKysely>;
holds<Equal<Row['id'] | Row['owner_id'], string>>();
holds<Equal<Row['due'], string | null>>();
holds<Equal<Row['visits'] | Row['price'], number | string>>();
holds<Equal<Row['price'], number | string>>();
holds<Equal<Row['state'], 'open' | 'done'>>();
holds<Equal<Row['icon'], string>>();
holds<Equal<Row['reminders'], string[]>>();
holds<Equal<Row['labels'], { name: string; at: [string, number] }[]>>();
holds<Equal<Row['pause'] | Row['other'], unknown>>();
// @ts-expect-error There is no such column.
defineView({ query: () => kysely.selectFrom('todo').select('id'), key: 'owner_id' });

// A compiled query has no row type.
export const compiled = defineView({ query: () => kysely.selectFrom('todo').selectAll().compile(), key: 'id' });
holds<Equal<RowOf<typeof compiled>, unknown>>();

const todo = pgTable('todo', { id: text('id').primaryKey(), ownerId: text('owner_id'), due: timestamp('due') });
const drizzled = drizzle({ client: pool });

// Its fields are not the SQL columns: `ownerId` arrives as `owner_id`.
export const ofDrizzle = defineView({ query: () => drizzled.select().from(todo), key: ['id', 'owner_id'] });
holds<Equal<RowOf<typeof ofDrizzle>, unknown>>();

interface Todo {
  readonly id: string;
  readonly owner_id: string | null;
  readonly due: string | null;
}
export const named = defineView<Todo>({ query: () => drizzled.select().from(todo), key: 'owner_id' });
holds<Equal<RowOf<typeof named>, Todo>>();
const defineOwn = viewFor<AppContext>();
export const own = defineOwn<Todo>({ query: () => drizzled.select().from(todo).toSQL(), key: 'id' });
holds<Equal<RowOf<typeof own>, Todo>>();
// @ts-expect-error There is no such column.
defineView<Todo>({ query: () => drizzled.select().from(todo), key: 'ownerId' });

export const ofText = defineView({ query: () => sql<{ id: string; at: Date }>`select id, at from todo`, key: 'id' });
holds<Equal<RowOf<typeof ofText>, { id: string; at: string }>>();

// The type of a query's rows, if its library does not provide it. It can be combined with all options.
export const withRowType = defineView({
  query: () => sql<Todo>(drizzled.select().from(todo)),
  key: 'owner_id',
  columns: 'camelCase',
  nulls: 'omit',
});
holds<Equal<RowOf<typeof withRowType>, { readonly id: string; readonly ownerId?: string; readonly due?: string }>>();
// @ts-expect-error There is no such column.
defineView({ query: () => sql<Todo>(kysely.selectFrom('todo').selectAll().compile()), key: 'ownerId' });
