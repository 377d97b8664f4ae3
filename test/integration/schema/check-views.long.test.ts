/** Before it serves, a server has Postgres check all of its statements, with nulls in place of users' values. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSync, defineView, migrate } from '../../../packages/tidemark/src/index.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog, silent } from '../../support/log.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query(`
    create domain level as text not null check (value <> '');
    create table item (id int primary key, sort int);
    create table note (id int primary key, sort int)`);
});

afterAll(() => database.drop());

async function start(text: string): Promise<void> {
  const views = { v: defineView<{ id: number }>({ key: 'id', query: () => ({ text, values: ['x'] }) }) };
  const authenticate = () => ({ userID: 'ann' });
  await migrate({ database: database.url, views, log: silent });
  const { log } = memoryLog();
  await (await createSync({ database: database.url, views, authenticate, log })).close();
}

describe('a view whose expression fails for null', () => {
  it.each(['$1::level', "array[array[$1], array['a', 'b']]::text", 'case when $1::text is null then 1 / 0 end'])(
    'is served: %s',
    async (expression) => {
      await start(`select id, ${expression} as v from item where sort > length($1)`);
    },
  );
});

describe('a view that reads text as a date or time', () => {
  it.each(["cast('now' as text)::timestamptz", "('to' || 'day')::date", "coalesce($1, 'now')::timestamptz"])(
    'is refused if the text means a different time on each read: %s',
    async (expression) => {
      await expect(start(`select id, ${expression} as v from item where sort > length($1)`)).rejects.toThrow(
        'The view "v" cannot be served: it reads text as a date or time, but the text is invalid or, like "now", means a different one each time',
      );
    },
  );

  it('is served if such a text is only in the data', async () => {
    await database.pool.query(
      `create table setting (id int primary key, at text); insert into setting values (1, 'now')`,
    );
    await start(`select id from item where sort > length($1) and (select at::timestamptz from setting) > '2026-01-01'`);
  });
});

it('a server starts with a view that fails only for a value in the data', async () => {
  // Postgres uses this error code for joins that it cannot plan, too.
  await database.pool.query(
    `create table big (id int primary key, amount numeric); insert into big values (1, 'infinity')`,
  );
  await start(`select max(amount)::int as id, $1::text as v from big`);
});

it.each([
  ['run', 'select item.id, $1::text as v from item full join note on item.sort < note.sort'],
  [
    'run with parameters that are not null',
    `select id from item where 1 <> all (
       select 1 from (select null::text as x from note) n full join (select) z on n.x = 'b' where coalesce(n.x, 'a') >= $1)`,
  ],
])('a server names the view that Postgres cannot %s', async (_, text) => {
  await expect(start(text)).rejects.toThrow(
    'The changes to the view "v" cannot be computed: FULL JOIN is only supported with merge-joinable or hash-joinable join conditions.',
  );
});
