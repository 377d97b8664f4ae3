/** Rows logged before a table was altered are read in the row format in which they were logged. */
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { defineView, type View } from '../../../packages/tidemark/src/view/define.js';
import type { Context, SyncClient } from '../../support/synced.js';
import { type Altered, useAltered } from './altered.js';

const altered = useAltered();

const view = (text: string): View<Context> =>
  defineView<Record<string, unknown>>({ key: 'id', query: () => ({ text, values: [] }) });

const isReset = ({ patch }: { patch: readonly { op: string }[] }) => patch[0]?.op === 'clear';

async function expectDelta({ truth }: Altered, client: SyncClient): Promise<void> {
  const answer = await client.pull();
  expect(isReset(answer)).toBe(false);
  expect(client.held()).toEqual(await truth());
}

describe('values that were logged before DDL', () => {
  const texts = [`'"'`, `'\\'`, `'a, (b)'`, `''`, 'null', `E'line\\nfeed'`, `'{"x",null}'`, `' '`];
  const rows = texts.map((text, i) => `(${i}, ${text}, array[${text}, 'x'], row(${i}, ${text}), ${text})`).join();

  it('stay the same with any contents and in any column order', async () => {
    const tables = await altered.start(
      `create type pair as (x int, y text);
       create table t (gone int, id int primary key, "the "" text" text, list text[], pair pair, unread text);
       insert into t (id, "the "" text", list, pair, unread) values ${rows}`,
      {
        views: {
          all: view('select id, "the "" text", list, pair from t'),
          last: view('select id, list from t order by id desc limit 3'),
        },
      },
    );
    const { client, run, passASecond } = tables;
    await run(`update t set unread = 'seen' where id < 4; delete from t where id = 5; update t set list = null where id in (6, 7);
      alter table t drop column gone, drop column unread`);
    passASecond();
    await tables.newcomer().pull();
    await run('alter table t add column more text; update t set id = id + 10 where id = 2');
    passASecond();
    await expectDelta(tables, client);
  });

  it('are distinguished if they look alike in two row formats', async () => {
    const tables = await altered.start(
      'create table t (id int primary key, a int, n int); insert into t values (1, 2, 3)',
      {
        views: { all: view('select id, n from t') },
      },
    );
    const { client, newcomer, run, passASecond } = tables;
    const pullAsNewClient = () => {
      passASecond();
      return newcomer().pull();
    };
    await run('delete from t');
    await pullAsNewClient();
    await run('alter table t drop column a, add column b int');
    await pullAsNewClient();
    await run('insert into t (id, n, b) values (1, 2, 3)');
    await expectDelta(tables, client);
  });

  it('of generated columns are computed from the logged row', async () => {
    const kind = altered.version >= 18_00_00 ? 'virtual' : 'stored';
    const tables = await altered.start(
      `create table t (gone text, n int, twice int generated always as (n * 2) ${kind}, id int primary key);
       insert into t (id, n) values (1, 1), (2, 2), (3, 3)`,
      { views: { all: view('select id, twice from t where twice > 2') } },
    );
    const { client, run, passASecond } = tables;
    await run('update t set n = n - 1; alter table t drop column gone');
    passASecond();
    await expectDelta(tables, client);
  });
});

describe('rows that are logged around DDL', () => {
  const ddl = 'create table t (id int primary key, n int, a text, b text); insert into t values (1, 1), (2, 2), (3, 3)';
  const views = { all: view('select id, n from t'), first: view('select id, n from t order by n, id limit 1') };

  it.each<[name: string, before: string, after: string]>([
    ['a row is inserted before and updated after', 'insert into t values (4, 0)', 'update t set n = 4 where id = 4'],
    [
      'a row is inserted and updated before, and updated after',
      'insert into t values (4, 0); update t set n = 5 where id = 4',
      'update t set n = 4 where id = 4',
    ],
    [
      'a row is deleted before and inserted again after',
      'delete from t where id = 1',
      'insert into t (id, n) values (1, 9)',
    ],
    [
      'a row is deleted and inserted again after',
      'select 1',
      'delete from t where id = 1; insert into t (id, n) values (1, 9)',
    ],
    [
      'a row is replaced before and after',
      'delete from t where id = 1; insert into t values (1, 7)',
      'delete from t where id = 1; insert into t (id, n) values (1, 8)',
    ],
    [
      'a row changes before and changes back after',
      'update t set n = 8 where id = 1',
      'update t set n = 1 where id = 1',
    ],
    ['a row is inserted before and deleted after', 'insert into t values (4, 0)', 'delete from t where id = 4'],
    ['keys change before and after', 'update t set id = 4 where id = 1', 'update t set id = 1 where id = 2'],
  ])('yield a delta if %s', async (_, before, after) => {
    const changes = [
      ['add column c text', 'add column d int'],
      ['drop column b', 'alter column a set statistics 7'],
    ] as const;
    for (const [change, more] of changes) {
      const tables = await altered.start(ddl, { views });
      const { client, newcomer, run, passASecond } = tables;
      const other = newcomer();
      await other.pull();
      await run(`${before}; alter table t ${change}; ${after}; alter table t ${more}`);
      passASecond();
      await expectDelta(tables, client);
      await run('update t set n = n + 1');
      await expectDelta(tables, client);
      await expectDelta(tables, other);
    }
  });

  it('cause a reset if one column is dropped and another added', async () => {
    const tables = await altered.start(ddl, { views });
    const { client, run, passASecond } = tables;
    await run('alter table t drop column b; update t set n = 7 where id = 1; alter table t add column c text');
    passASecond();
    expect(isReset(await client.pull())).toBe(true);
    expect(client.held()).toEqual(await tables.truth());
  });

  it('of a transaction that stays open are distinguished from earlier ones', async () => {
    const tables = await altered.start(ddl, { views });
    const { client, run, passASecond, url } = tables;
    const slow = new pg.Client(url);
    await slow.connect();
    try {
      await run('update t set n = 5 where id = 2');
      await slow.query('begin; select pg_current_xact_id()');
      passASecond();
      await tables.newcomer().pull();
      await run('alter table t alter column b type int using 1');
      passASecond();
      await tables.newcomer().pull();
      await slow.query('update t set n = 6 where id = 2; delete from t where id = 3; commit');
      await expectDelta(tables, client);
    } finally {
      await slow.end();
    }
  });

  it('cause a reset if a column is of a domain', async () => {
    const tables = await altered.start(
      `create domain full_text as text not null; create table t (id int primary key, n int, d full_text default 'x');
       insert into t (id, n) values (1, 1)`,
      { views },
    );
    const { client, run, passASecond } = tables;
    await run(`update t set n = 7; alter table t add column c full_text default 'x'`);
    passASecond();
    expect(isReset(await client.pull())).toBe(true);
    expect(client.held()).toEqual(await tables.truth());
  });

  it('yield a delta on every server', async () => {
    const tables = await altered.start(ddl, { views });
    const { run, passASecond, client, elsewhere } = tables;
    const others = [elsewhere(), elsewhere()];
    for (const one of others) await one.pull();
    await run('update t set n = n + 1; alter table t add column c text; update t set n = 0 where id = 1');
    passASecond();
    for (const one of [client, ...others]) await expectDelta(tables, one);
  });
});
