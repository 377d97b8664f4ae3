/** DDL on what a view does not read resets no client, unless the row format of logged rows cannot be determined. */
import { describe, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type View } from '../../../packages/tidemark/src/view/define.js';
import { type Context, type SyncClient, tableView } from '../../support/synced.js';
import { type Altered, useAltered } from './altered.js';

const altered = useAltered();

const ddl = `create type mood as enum ('glad', 'sad');
  create table t (id int primary key, n int, unread text, mood mood default 'sad', gone int, twice int generated always as (n * 2) stored);
  insert into t (id, n) values (1, 10), (2, 20);
  create table u (id int primary key, m int, unread text); insert into u values (1, 100), (3, 300)`;

const view = (text: string): View<Context> =>
  defineView<Record<string, unknown>>({ key: 'id', query: () => ({ text, values: [] }) });

/** None of them reads the columns `unread`, `mood` or `gone` of t. */
const narrow = {
  plain: view('select id, n from t'),
  joined: view('select t.id, t.n, u.m from t join u using (id)'),
  counted: defineView<{ id: string }>({ key: 'id', query: () => sql`select 'all' as id, count(*) as rows from t` }),
  highest: view('select id, n from t order by n desc limit 1'),
};
const writes = `update t set n = n + 1 where id = 1; insert into t (id, n) values (3, 30); delete from t where id = 2;
  update u set m = m + 1 where id in (1, 3)`;

const isReset = ({ patch }: { patch: readonly { op: string }[] }) => patch[0]?.op === 'clear';

async function expectTruth({ truth }: Altered, client: SyncClient): Promise<void> {
  expect(client.held()).toEqual(await truth());
}

/** After these, the server can determine the row format of the rows logged just before. */
const clear = [
  'alter table t add column extra text',
  'alter table t add column chance uuid default gen_random_uuid()',
  'alter table t drop column gone',
  'alter table t rename column unread to other',
  `alter table t alter column mood set default 'glad'`,
];
/** After these, the server cannot determine the row format of the rows logged just before. */
const unclear = [
  `alter type mood rename value 'sad' to 'sorry'`,
  `alter type mood add value 'wild'`,
  'alter table t alter column unread type varchar(40)',
  'alter table t rename column gone to other',
  'alter table t drop column unread; alter table t add column unread int',
  'alter table t add column extra int; alter table t drop column extra',
];
/** The statements that are invisible to clients, in order. */
const unread = [...clear, ...unclear];

describe('DDL on what no view reads', () => {
  it.each(unread)('resets no client: %s', async (change) => {
    const tables = await altered.start(ddl, { views: narrow });
    const { client, run, passASecond } = tables;
    const { cookie } = client;
    await run(change);
    passASecond();
    expect((await client.pull()).patch).toEqual([]);
    // With the new cookie, the client lacks no earlier change.
    expect(client.cookie).not.toEqual(cookie);
    for (const statement of writes.split(';')) {
      await run(statement);
      expect(isReset(await client.pull())).toBe(false);
      await expectTruth(tables, client);
    }
  });

  it.each([...clear.map((change) => [change, false] as const), ...unclear.map((change) => [change, true] as const)])(
    'resets clients that lack rows logged just before (%s): %s',
    async (change, startsOver) => {
      const tables = await altered.start(ddl, { views: narrow });
      const { client, run, passASecond } = tables;
      await run(writes);
      await run(change);
      await run('update t set n = n + 1');
      passASecond();
      expect(isReset(await client.pull())).toBe(startsOver);
      await expectTruth(tables, client);
      await run('update t set n = n + 1');
      expect(isReset(await client.pull())).toBe(false);
      await expectTruth(tables, client);
    },
  );

  it.each(unread)('sends a delta to clients that lack rows logged long before: %s', async (change) => {
    const tables = await altered.start(ddl, { views: narrow });
    const { client, newcomer, run, passASecond } = tables;
    const other = newcomer();
    await run(writes);
    passASecond();
    await other.pull();
    await run(change);
    passASecond();
    await other.pull();
    await run(writes.replaceAll('3, 30', '4, 40'));
    for (const one of [client, other]) {
      expect(isReset(await one.pull())).toBe(false);
      await expectTruth(tables, one);
    }
  });

  it('resets no client if the new rows are in another table', async () => {
    const tables = await altered.start(ddl, { views: narrow });
    const { client, run, passASecond } = tables;
    await run('update u set m = 5; alter table t add column extra int');
    passASecond();
    expect(isReset(await client.pull())).toBe(false);
    await expectTruth(tables, client);
    await run(writes);
    expect(isReset(await client.pull())).toBe(false);
    await expectTruth(tables, client);
  });

  it('resets no client if the statement of a pull detects it first', async () => {
    const tables = await altered.start(ddl, { views: narrow });
    const { client, run } = tables;
    for (const change of ['add column extra int', 'drop column extra']) {
      await run(`update t set n = n + 1; alter table t ${change}; update t set n = n + 1`);
      expect(isReset(await client.pull())).toBe(false);
      await expectTruth(tables, client);
    }
  });

  it('of a type leaves no wrong values from pulls before the server detects it', async () => {
    const tables = await altered.start(ddl, { views: narrow });
    const { client, run, passASecond } = tables;
    await run('insert into t (id, n) values (3, 30)');
    await run(`alter type mood rename value 'sad' to 'sorry'`);
    await run('update t set gone = 1');
    await client.pull();
    passASecond();
    await client.pull();
    await expectTruth(tables, client);
  });

  it('resets no client after changes that the views do not show', async () => {
    const tables = await altered.start(ddl, { views: { plain: view('select id, n from t where id < 100') } });
    const { client, run, passASecond } = tables;
    const { cookie } = client;
    await run('insert into t (id, n) values (200, 1)');
    expect((await client.pull()).cookie).toEqual(cookie);
    await run('alter table t add column extra int');
    passASecond();
    expect((await client.pull()).patch).toEqual([]);
    await run(writes);
    expect(isReset(await client.pull())).toBe(false);
    await expectTruth(tables, client);
  });
});

describe('DDL', () => {
  it.each([
    ['a column in its select list', narrow.plain, 'alter table t rename column n to m; alter table t add column n int'],
    ['the key', { ...narrow }.counted, 'alter table t alter column id type bigint'],
    ['all columns', tableView('t'), 'alter table t add column extra int'],
    ['whole rows', view('select t.id, to_jsonb(t) as row from t'), 'alter table t drop column gone'],
    ['whole rows under an alias', view('select r.id, r::text as row from t r'), 'alter table t add column extra int'],
    [
      'a column in a condition',
      view('select id from t where unread is null'),
      `alter table t alter column unread type text using 'x'`,
    ],
    [
      'a column in a subquery',
      view('select id from u where exists (select from t where t.id = u.id and t.unread is null)'),
      `alter table t alter column unread type text using 'x'`,
    ],
    [
      'a column in ORDER BY',
      view('select id from t order by unread, id limit 1'),
      `alter table t alter unread type text using null`,
    ],
    ['a column of an enum', view('select id, mood from t'), `alter type mood rename value 'sad' to 'sorry'`],
    [
      'a column whose name then refers to another table',
      view('select id from t where exists (select from u where u.id = t.id and n > 5)'),
      'alter table u add column n int',
    ],
    [
      'a column that NATURAL JOIN adds',
      view('select t.id as id from t natural join u'),
      'alter table u add column n int',
    ],
  ])('resets clients whose view reads %s', async (_, one, change) => {
    const tables = await altered.start(ddl, { views: { one } });
    const { client, run, passASecond, migrate } = tables;
    await run(change);
    await migrate();
    passASecond();
    expect(isReset(await client.pull())).toBe(true);
    await expectTruth(tables, client);
    await run('update t set id = id + 10');
    expect(isReset(await client.pull())).toBe(false);
    await expectTruth(tables, client);
  });
});
