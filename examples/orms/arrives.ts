/** The rows that clients receive from any library's views. The compiler compares them with `RowOf`. */
import type { RowOf } from 'tidemark';
import type { views as drizzle } from './drizzle/views.js';
import type { views as kysely } from './kysely/views.js';
import type { views as postgresJS } from './postgres-js/views.js';
import type { views as prisma } from './prisma/views.js';

export interface Todo {
  id: string;
  listId: string;
  title: string;
  done: boolean;
  dueAt: string | null;
  price: number | string | null;
  visits: number | string;
}

export interface List {
  id: string;
  name: string;
}

type Is<Row, Expected> = (<T>() => T extends Row ? 1 : 2) extends <T>() => T extends Expected ? 1 : 2 ? true : never;
type Arrives<Views extends { list: unknown; todo: unknown }> = [
  Is<RowOf<Views['list']>, List>,
  Is<RowOf<Views['todo']>, Todo>,
];

export const ofDrizzle: Arrives<typeof drizzle> = [true, true];
export const ofKysely: Arrives<typeof kysely> = [true, true];
export const ofPostgresJS: Arrives<typeof postgresJS> = [true, true];
export const ofPrisma: Arrives<typeof prisma> = [true, true];
