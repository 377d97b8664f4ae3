import { defineView, type RowOf, sql, type UserContext, type Views, viewFor } from 'tidemark';
import { type AppContext, type Equal, holds } from './app.js';

interface Todo {
  readonly id: string;
  readonly title: string;
}

export const unknownRows = defineView({
  query: ({ ctx }) => sql`select id, title from todo where owner_id = ${ctx.userID}`,
  key: 'id',
});
export const severalColumns = defineView({
  query: () => sql`select list_id, user_id from share`,
  key: ['list_id', 'user_id'],
});
export const knownRows = defineView({ query: () => sql<Todo>`select id, title from todo`, key: 'id' });
holds<Equal<RowOf<typeof knownRows>, Todo>>();

export const titles = defineView({ query: () => sql<Todo>`select id, title from todo`, key: 'id', value: 'title' });
holds<Equal<RowOf<typeof titles>, string>>();
export const byTemplate = defineView({ query: () => sql<Todo>`select id, title from todo`, key: 'todo/{id}/x' });
// @ts-expect-error There is no such column in braces.
defineView({ query: () => sql<Todo>`select id, title from todo`, key: 'todo/{uid}' });
interface Task {
  readonly id: string;
  readonly list_id: string | null;
  readonly _done_at__: string;
}
const tasks = ({ ctx }: { readonly ctx: UserContext }) => sql<Task>`select * from task where user_id = ${ctx.userID}`;
export const camel = defineView({ query: tasks, key: 'id', columns: 'camelCase' });
holds<Equal<RowOf<typeof camel>, { readonly id: string; readonly listId: string | null; readonly _doneAt: string }>>();
export const named = defineView({ query: tasks, key: 'id', columns: { list_id: 'listID' }, timestamps: 'UTC' });
holds<
  Equal<RowOf<typeof named>, { readonly id: string; readonly listID: string | null; readonly _done_at__: string }>
>();
export const present = defineView({ query: tasks, key: ['id'], columns: 'camelCase', nulls: 'omit' });
holds<Equal<RowOf<typeof present>, { readonly id: string; readonly _doneAt: string; readonly listId?: string }>>();
export const unknownNames = defineView({ query: () => sql`select * from task`, key: 'id', columns: 'camelCase' });
holds<Equal<RowOf<typeof unknownNames>, unknown>>();
// @ts-expect-error There is no such column to rename.
defineView({ query: tasks, key: 'id', columns: { list: 'listID' } });
interface Entry {
  readonly key: string;
  readonly value: { readonly at: readonly number[] } | null;
}
export const documents = defineView({
  query: ({ ctx }) => sql<Entry>`select key, value from entry where user_id = ${ctx.userID}`,
  key: ['key'],
  value: 'value',
  prefix: '',
});
holds<Equal<RowOf<typeof documents>, { readonly at: readonly number[] } | null>>();
export const untyped = defineView({ query: () => sql`select key, value from entry`, key: 'key', value: 'value' });
holds<Equal<RowOf<typeof untyped>, unknown>>();

const defineOwn = viewFor<AppContext>();
export const byRole = defineOwn({
  query: ({ ctx, profileID }) => {
    holds<Equal<typeof ctx, AppContext>>();
    return sql<Todo>`select id, title from todo where role = any (${ctx.roles}) and profile = ${profileID}`;
  },
  key: ['id'],
  prefix: ({ ctx }) => `${ctx.roles.join()}/`,
});

export const views: Views<AppContext> = { unknownRows, knownRows, byRole, titles, untyped, present };
// @ts-expect-error A view needs more than this context offers.
export const poorer: Views<UserContext> = { byRole };
// @ts-expect-error There is no such column.
defineView({ query: () => sql<Todo>`select id, title from todo`, key: 'uid' });
// @ts-expect-error There is no such column among several.
defineView({ query: () => sql<Todo>`select id, title from todo`, key: ['id', 'uid'] });
// @ts-expect-error By default, a user's context has no such field.
defineView({ query: ({ ctx }) => sql`select ${ctx.roles}`, key: 'id' });
// @ts-expect-error There is no such column to be the value.
defineView({ query: () => sql<Todo>`select id, title from todo`, key: 'id', value: 'body' });
// @ts-expect-error A view has a key.
defineView({ query: () => sql`select id from todo` });
