import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { boolean, pgTable, text } from 'drizzle-orm/pg-core';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { defineView, type RowOf, type SqlQuery, sql } from '../index.js';
import { readQuery } from '../sql.js';

interface Todo {
  id: string;
  owner_id: string;
  done: boolean;
}

const kysely = new Kysely<{ todo: Todo }>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

const todo = pgTable('todo', { id: text().notNull(), owner_id: text().notNull(), done: boolean().notNull() });
const drizzled = drizzle.mock();

interface User {
  userID: string;
}

describe('a view', () => {
  it('can be defined with the sql tag', () => {
    const view = defineView({
      key: 'id',
      query: ({ ctx }: { ctx: User }) => sql<Todo>`select * from todo where owner_id = ${ctx.userID}`,
    });
    expectTypeOf<RowOf<typeof view>>().toEqualTypeOf<Todo>();
    expect(
      readQuery(view.query({ ctx: { userID: 'ann' }, profileID: '', schemaVersion: '', args: undefined })),
    ).toMatchObject({
      text: 'select * from todo where owner_id = $1',
      values: ['ann'],
    });
  });

  it('can be defined with Kysely, compiled or not', () => {
    const query = (userID: string) => kysely.selectFrom('todo').select(['id', 'done']).where('owner_id', '=', userID);
    const view = defineView({ key: 'id', query: ({ ctx }: { ctx: User }) => query(ctx.userID) });
    expectTypeOf<RowOf<typeof view>>().toEqualTypeOf<{ id: string; done: boolean }>();
    const expected = { text: 'select "id", "done" from "todo" where "owner_id" = $1', values: ['ann'] };
    expect(readQuery(query('ann'))).toEqual(expected);
    expect(readQuery(query('ann').compile())).toEqual(expected);
  });

  it('can be defined with Drizzle, as SQL or not', () => {
    const query = (userID: string) =>
      drizzled.select({ id: todo.id, done: todo.done }).from(todo).where(eq(todo.owner_id, userID));
    const view = defineView({ key: 'id', query: ({ ctx }: { ctx: User }) => query(ctx.userID) });
    expectTypeOf<RowOf<typeof view>>().toBeUnknown();
    const expected = { text: 'select "id", "done" from "todo" where "todo"."owner_id" = $1', values: ['ann'] };
    expect(readQuery(query('ann'))).toEqual(expected);
    expect(readQuery(query('ann').toSQL())).toEqual(expected);
  });

  it('can be defined with Prisma, by its sql tag or TypedSQL', () => {
    class Tagged {
      readonly values = ['ann'];
      readonly sql = 'select * from todo where owner_id = ?';
      get text() {
        return 'select * from todo where owner_id = $1';
      }
    }
    const expected = { text: 'select * from todo where owner_id = $1', values: ['ann'] };
    expect(readQuery(new Tagged())).toMatchObject(expected);
    expect(readQuery({ sql: expected.text, values: expected.values })).toEqual(expected);
  });

  it('can be given the type of its rows with any query', () => {
    const query = kysely.selectFrom('todo').select('id').where('owner_id', '=', 'ann');
    const expected = { text: 'select "id" from "todo" where "owner_id" = $1', values: ['ann'] };
    for (const input of [query, query.compile()]) {
      const view = defineView({ query: () => sql<{ todo_id: bigint }>(input), key: 'todo_id', columns: 'camelCase' });
      expectTypeOf<RowOf<typeof view>>().toEqualTypeOf<{ todoId: number | string }>();
      expect(view.query({ ctx: { userID: 'ann' }, profileID: '', schemaVersion: '', args: undefined })).toEqual(
        expected,
      );
    }
  });
});

describe('the sql tag', () => {
  it('nests queries, and renumbers their values', () => {
    const mine = sql`owner_id = ${'ann'}`;
    const shared = sql`id in (select list_id from share where user_id = ${'ann'} and kind = '$1')`;
    const query: SqlQuery = sql`select * from list where archived = ${false} and (${mine} or ${shared}) limit ${10}`;
    expect(query.text).toBe(
      "select * from list where archived = $1 and (owner_id = $2 or id in (select list_id from share where user_id = $3 and kind = '$1')) limit $4",
    );
    expect(query.values).toEqual([false, 'ann', 'ann', 10]);
  });

  it('rejects a key that is not a column of the row', () => {
    // @ts-expect-error nothing is called ident
    defineView({ key: 'ident', query: () => sql<Todo>`select * from todo` });
  });
});
