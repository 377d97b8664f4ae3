/** Added partitions reset no client: the server sends their rows. */
import { describe, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type View } from '../../../packages/tidemark/src/view/define.js';
import type { Context } from '../../support/synced.js';
import { useAltered } from './altered.js';

const altered = useAltered();

const view = (text: string): View<Context> =>
  defineView<Record<string, unknown>>({ key: 'id', query: () => ({ text, values: [] }) });

const views = {
  rows: view('select id, n from t'),
  sums: defineView<{ id: string }>({
    key: 'id',
    query: () => sql`select 'all' as id, count(*) as rows, sum(n) as total from t`,
  }),
};
const ddl = `create table t (id int primary key, n int, a text) partition by range (id);
  create table low partition of t for values from (0) to (100); create table rest partition of t default;
  insert into t (id, n) values (1, 10), (2, 20)`;
const create = 'create table high partition of t for values from (100) to (200)';
const high = `create table high (a text, gone int, n int, id int primary key); alter table high drop column gone;
  insert into high (id, n) values (150, 5), (151, 6)`;
const attach = 'alter table t attach partition high for values from (100) to (200)';

const ops = ({ patch }: { patch: readonly { op: string; key?: string }[] }) =>
  patch.map(({ op, key }) => (key === undefined ? op : `${op} ${key.split('/')[1]}`)).sort();

describe('a pull', () => {
  it.each<[name: string, change: string, sent: readonly string[]]>([
    ['sends nothing after an empty partition is created', create, []],
    ['sends the rows of an attached partition', `${high}; ${attach}`, ['put 150', 'put 151', 'put all']],
    [
      'sends what is written to a created partition',
      `${create}; insert into t (id, n) values (100, 1)`,
      ['put 100', 'put all'],
    ],
    [
      'sends what was written to other partitions before one is created',
      `update t set n = 11 where id = 1; ${create}`,
      ['put 1', 'put all'],
    ],
    [
      'sends the differences after rows move between partitions',
      `insert into t (id, n) values (120, 1); delete from t where id = 120; ${high}; ${attach};
       update t set id = 160 where id = 2; update t set id = 3 where id = 151; delete from t where id = 150`,
      ['del 2', 'put 160', 'put 3', 'put all'],
    ],
    [
      'sends the rows of an attached partition after a column is added',
      `${high}; ${attach}; update t set n = n + 1 where id in (1, 150); alter table t add column b text default 'b';
       update t set n = n + 1 where id in (2, 151)`,
      ['put 1', 'put 150', 'put 151', 'put 2', 'put all'],
    ],
  ])('%s', async (_, change, sent) => {
    const { client, newcomer, run, passASecond, truth } = await altered.start(ddl, { views });
    const late = newcomer();
    await late.pull();
    await run(change);
    passASecond();
    expect(ops(await client.pull())).toEqual(sent);
    expect(client.held()).toEqual(await truth());
    await run('update t set n = n + 1; delete from t where id = 1; insert into t (id, n) values (199, 9), (1000, 9)');
    for (const one of [client, late]) {
      expect(ops(await one.pull())).not.toContain('clear');
      expect(one.held()).toEqual(await truth());
    }
  });

  it('sends only differing rows if a new partition takes over the rows of another', async () => {
    const { client, run, passASecond, truth } = await altered.start(ddl, { views });
    await run('insert into t (id, n) values (150, 1), (151, 2), (300, 3)');
    await client.pull();
    await run(`create table moved as select * from t where id between 100 and 199; delete from t where id between 100 and 199; ${create};
      insert into t (id, n) select id, n + id - 150 from moved`);
    passASecond();
    expect(ops(await client.pull())).toEqual(['put 151', 'put all']);
    expect(client.held()).toEqual(await truth());
  });

  it.each<[name: string, change: string]>([
    ['is detached', 'alter table t detach partition high'],
    ['is dropped', 'drop table high'],
    ['is truncated alone', 'truncate high'],
    ['is detached and attached again', `alter table t detach partition high; update high set n = 7; ${attach}`],
    ['is rewritten', 'alter table t alter column a type int using 1'],
    [
      'loses its trigger for a while',
      'alter table high disable trigger tidemark_update; update high set n = 7; alter table high enable always trigger tidemark_update',
    ],
  ])('resets the client after a partition %s', async (_, change) => {
    const { client, run, passASecond, truth } = await altered.start(`${ddl}; ${high}; ${attach}`, { views });
    await run(change);
    passASecond();
    expect(ops(await client.pull())).toContain('clear');
    expect(client.held()).toEqual(await truth());
  });

  it('resets clients that saw a partition before it was reattached, and sends its rows to others', async () => {
    const { client, newcomer, run, passASecond, truth } = await altered.start(ddl, { views });
    await run(create);
    passASecond();
    const early = newcomer();
    await early.pull();
    await run(
      `insert into t (id, n) values (150, 1); alter table t detach partition high; insert into high (id, n) values (151, 2); ${attach}`,
    );
    passASecond();
    expect(ops(await early.pull())).toContain('clear');
    expect(ops(await client.pull())).toEqual(['put 150', 'put 151', 'put all']);
    expect(client.held()).toEqual(await truth());
  });

  it('resets the client after a large partition is attached', async () => {
    const { client, run, passASecond, truth } = await altered.start(ddl, { views });
    await run(`create table high (a text, n int, id int primary key); alter table high alter column a set storage plain;
      insert into high select repeat('x', 7000), i, 1000 + i from generate_series(0, 699) i;
      alter table t attach partition high for values from (1000) to (2000)`);
    passASecond();
    expect(ops(await client.pull())).toContain('clear');
    expect(client.held()).toEqual(await truth());
  });
});
