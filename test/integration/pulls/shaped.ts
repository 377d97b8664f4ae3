/** Views of every shape over two tables, and what clients must hold of them, computed without SQL. */
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { Context } from '../../support/synced.js';

/** A row of the table, with each column as text. */
export interface Item {
  readonly space: string;
  readonly id: string;
  readonly doc: string | null;
  readonly size: string | null;
  readonly title: string | null;
  /** Seconds since 1970. */
  readonly done: string | null;
}

export interface Tables {
  readonly items: readonly Item[];
  readonly access: readonly { readonly user_id: string; readonly space: string }[];
}

interface ViewCase {
  readonly view: Views<Context>[string];
  /** True if every user sees the view. */
  readonly isForAll?: true;
  /** The key and the value of an item; undefined if the view does not contain it. */
  readonly entryOf: (item: Item, userID: string) => readonly [key: string, value: unknown] | undefined;
}

const escaped = (text: string) => text.replaceAll('%', '%25').replaceAll('/', '%2F');
const exact = (size: string) => (Number.isSafeInteger(Number(size)) ? Number(size) : size);
const json = (doc: string | null): unknown => (doc === null ? null : JSON.parse(doc));

/** Formats a time with a Z in the years that ISO 8601 covers. */
function utc(done: string | null): string | null {
  if (done === null) return null;
  if (!Number.isFinite(Number(done))) return 'infinity';
  const [, sign, rest, fraction] = /^(.*?)(-\d\d-\d\dT\d\d:\d\d:\d\d)(.*?)0*Z$/.exec(
    new Date(1000 * Number(done)).toISOString(),
  )!;
  const year = Number(sign);
  const text = `${String(year > 0 ? year : 1 - year).padStart(4, '0')}${rest}${fraction === '.' ? '' : fraction}`;
  if (year <= 0) return `${text} BC`;
  return year > 9999 ? text : `${text}Z`;
}

const allOf = ({ space, id, doc, size, title, done }: Item) => ({
  space,
  id,
  doc: json(doc),
  size: size === null ? null : exact(size),
  title,
  doneAt: utc(done),
});

const visibleItems = ({ userID }: Context) =>
  sql`item where space in (select space from access where user_id = ${userID})`;

const viewCases: Readonly<Record<string, ViewCase>> = {
  document: {
    view: defineView({
      query: ({ ctx }) => sql`select space, id, doc from ${visibleItems(ctx)}`,
      key: ['space', 'id'],
      value: 'doc',
    }),
    entryOf: ({ space, id, doc }) => [`document/${escaped(space)}/${escaped(id)}`, json(doc)],
  },
  size: {
    view: defineView({
      query: ({ ctx }) => sql`select space, id, max(size) as size from ${visibleItems(ctx)} group by space, id`,
      key: ['space', 'id'],
      value: 'size',
    }),
    entryOf: ({ space, id, size }) => [`size/${escaped(space)}/${escaped(id)}`, size === null ? null : exact(size)],
  },
  title: {
    view: defineView({
      query: ({ ctx }) => sql`select id, title, space from ${visibleItems(ctx)} and space = 'a' and title is not null`,
      key: 'id',
      value: 'title',
      prefix: 't:',
    }),
    entryOf: ({ space, id, title }) => (space === 'a' && title !== null ? [`t:${id}`, title] : undefined),
  },
  // All keys have a prefix of the user's own.
  item: {
    view: defineView({
      query: ({ ctx }) => sql`select space, id, title from ${visibleItems(ctx)}`,
      key: 'space/{space}/item/{id}',
      prefix: ({ ctx }) => `user/${ctx.userID}/`,
    }),
    entryOf: ({ space, id, title }, userID) => [
      `user/${userID}/space/${escaped(space)}/item/${escaped(id)}`,
      { space, id, title },
    ],
  },
  sizeBelow: {
    view: defineView({
      query: ({ ctx }) => sql`select space, id, max(size) as size from ${visibleItems(ctx)} group by space, id`,
      key: 'space/{space}/size/{id}',
      prefix: ({ ctx }) => `user/${ctx.userID}/`,
      value: 'size',
    }),
    entryOf: ({ space, id, size }, userID) => [
      `user/${userID}/space/${escaped(space)}/size/${escaped(id)}`,
      size === null ? null : exact(size),
    ],
  },
  common: {
    view: defineView({
      query: () => sql`select id, title from item where space = 'a'`,
      key: 'id',
      prefix: ({ ctx }) => `common of ${ctx.userID}:`,
    }),
    entryOf: ({ space, id, title }, userID) =>
      space === 'a' ? [`common of ${userID}:${id}`, { id, title }] : undefined,
    isForAll: true,
  },
  fixed: {
    view: defineView({
      query: ({ ctx }) => sql`select id, title from ${visibleItems(ctx)} and space = 'b/1'`,
      key: 'fixed/o\'-{id}-/"',
    }),
    entryOf: ({ space, id, title }) => (space === 'b/1' ? [`fixed/o'-${escaped(id)}-/"`, { id, title }] : undefined),
  },
  named: {
    view: defineView({
      query: ({ ctx }) => sql`select title, size, space, id, done_at, doc from ${visibleItems(ctx)}`,
      key: 'named/{space}/{id}',
      columns: 'camelCase',
      timestamps: 'UTC',
    }),
    entryOf: (item) => [`named/${escaped(item.space)}/${escaped(item.id)}`, allOf(item)],
  },
  present: {
    view: defineView({
      query: ({ ctx }) => sql`select title, size, space, id, done_at, doc from ${visibleItems(ctx)}`,
      key: ['id', 'space'],
      columns: { done_at: 'doneAt', size: 'size "\'\\' },
      nulls: 'omit',
      timestamps: 'UTC',
    }),
    entryOf({ space, id, ...item }) {
      const { size, ...value } = allOf({ space, id, ...item });
      const all = Object.entries({ ...value, 'size "\'\\': size });
      // The JSON null of a document is not the NULL of SQL.
      const present = all.filter(([name, one]) => one !== null || (name === 'doc' && item.doc !== null));
      return [`present/${escaped(id)}/${escaped(space)}`, Object.fromEntries(present)];
    },
  },
  doneAt: {
    view: defineView({
      query: ({ ctx }) =>
        sql`select space, id, max(done_at) as done_at from ${visibleItems(ctx)} group by space, id, done_at`,
      key: ['space', 'id'],
      value: 'done_at',
      timestamps: 'UTC',
      prefix: 'done:',
    }),
    entryOf: ({ space, id, done }) => [`done:${escaped(space)}/${escaped(id)}`, utc(done)],
  },
};

/** The tables of the views. */
export const ddl = `
  create table item (
    space text not null, id text not null, doc json, size bigint, title text, done_at timestamptz, primary key (space, id)
  );
  create table access (user_id text not null, space text not null, primary key (user_id, space));
  create index on access (space)`;

export const describedViews = {
  definitions: Object.fromEntries(Object.entries(viewCases).map(([name, { view }]) => [name, view])) as Views<Context>,
  /** The data that a user's client holds, of all views or of the named ones. */
  expected({ items, access }: Tables, userID: string, names: readonly string[] = Object.keys(viewCases)) {
    const spaces = new Set(access.filter(({ user_id }) => user_id === userID).map(({ space }) => space));
    const entries = names
      .map((name) => viewCases[name]!)
      .flatMap(({ entryOf, isForAll }) =>
        items.filter(({ space }) => isForAll || spaces.has(space)).map((item) => entryOf(item, userID)),
      )
      .filter((entry) => entry !== undefined);
    const sorted = entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(sorted) as Record<string, unknown>;
  },
};
