/** A change of the tables that is undone. No client keeps what it showed, and its log rows mislead none. */
import { describe, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import { type Context, tableView, wholeTable } from '../../support/synced.js';
import { expectForgotten, useAltered } from './altered.js';

const altered = useAltered();

const partitioned = `create table t (id int primary key, n int) partition by range (id);
  create table low partition of t for values from (0) to (100);
  create table high (n int, id int primary key); insert into high values (5, 150), (6, 160);
  insert into t values (1, 10), (2, 20)`;
const attach = 'alter table t attach partition high for values from (100) to (200)';
const detach = 'alter table t detach partition high';
const labelled = `create type mood as enum ('glad', 'sad'); create table t (id int primary key, mood mood);
  insert into t values (1, 'glad'), (2, 'sad')`;
const two = `create table t (id int primary key, n int); insert into t values (1, 10), (2, 20);
  create table u (id int primary key, n int); insert into u values (2, 22), (3, 30)`;

interface Passing {
  readonly name: string;
  readonly ddl: string;
  readonly views?: Views<Context>;
  readonly change: string;
  readonly undo: string;
}

const both = { t: tableView('t', 'id', 't/'), u: tableView('u', 'id', 'u/') };
const swap = 'alter table t rename to v; alter table u rename to t; alter table v rename to u';

const changes: readonly Passing[] = [
  { name: 'an attached partition', ddl: partitioned, change: attach, undo: detach },
  {
    name: 'an attached partition with writes',
    ddl: partitioned,
    change: `${attach}; update t set n = n + 1; insert into t values (170, 7)`,
    undo: detach,
  },
  {
    name: 'a detached partition',
    ddl: partitioned,
    change: 'alter table t detach partition low',
    undo: `alter table t attach partition low for values from (0) to (100)`,
  },
  {
    name: 'a renamed enum label',
    ddl: labelled,
    change: `alter type mood rename value 'sad' to 'sorry'; update t set id = id`,
    undo: `alter type mood rename value 'sorry' to 'sad'`,
  },
  {
    name: 'a renamed enum label in a multirange',
    ddl: `create type mood as enum ('glad', 'sad'); create type moods as range (subtype = mood, multirange_type_name = mood_ranges);
      create table t (id int primary key, moods mood_ranges); insert into t values (1, '{[glad,sad]}')`,
    change: `alter type mood rename value 'sad' to 'sorry'; update t set id = id`,
    undo: `alter type mood rename value 'sorry' to 'sad'`,
  },
  {
    name: 'a table that replaces another',
    ddl: two,
    change: 'alter table t rename to v; alter table u rename to t',
    undo: 'alter table t rename to u; alter table v rename to t',
  },
  { name: 'a swap of two tables', ddl: two, views: both, change: swap, undo: swap },
  {
    name: 'a table of the same name in an earlier schema',
    ddl: 'create table public.hidden (id int primary key, n int); insert into public.hidden values (1, 1)',
    views: wholeTable('hidden'),
    change: 'create table hidden (id int primary key, n int); insert into hidden values (1, 5), (2, 2)',
    undo: 'drop table hidden',
  },
];

describe('before a server detects it', () => {
  it.each(changes)('$name leaves no rows with clients once undone', async ({ ddl, views, change, undo }) => {
    const tables = await altered.start(ddl, { views });
    await expectForgotten(tables, change, undo);
    await tables.run('drop table if exists public.hidden');
  });
});

it.each(['id int primary key, n int', 'n int, id int primary key'])(
  'a table (%s) that was a partition for a while leaves no rows behind, whatever was written to it',
  async (columns) => {
    const count = defineView<{ all: string }>({
      key: 'all',
      query: () => sql`select 'all' as all, count(*) as n, sum(n) as total from t`,
    });
    const ddl = `${partitioned}; drop table high; create table high (${columns}); insert into high (id, n) values (150, 5), (160, 6)`;
    const { run, client, truth } = await altered.start(ddl, { views: { t: tableView('t', 'id', 't/'), count } });
    await run(attach);
    await run(
      'update t set n = n + 1 where id > 100; insert into t values (180, 8); update t set id = 5 where id = 150',
    );
    // As many rows as there were together with those of the partition.
    await run(`${detach}; insert into t values (3, 30), (4, 40), (6, 60)`);
    const { patch } = await client.pull();
    expect(patch.map((op) => op.op === 'clear' || op.key).filter((key) => key === 't/160' || key === 't/180')).toEqual(
      [],
    );
    expect(client.held()).toEqual(await truth());
    await run('update high set n = 0; delete from t where id = 1');
    await client.pull();
    expect(client.held()).toEqual(await truth());
  },
);
