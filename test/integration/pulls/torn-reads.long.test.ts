/** Pulls that wait while a session gives a table other files, in which an earlier snapshot finds nothing. */
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { untilWaiting } from '../../support/database.js';
import { tableView } from '../../support/synced.js';
import { type Altered, useAltered } from './altered.js';

const tables = useAltered();
let altered: Altered;
let other: pg.Client;

const ddl = `
  create table a (id int primary key, x int);
  create table t (id int primary key, n int);
  create table p (id int primary key, n int) partition by range (id);
  create table low partition of p for values from (0) to (100);
  create table high (id int primary key, n int);
  insert into a values (1, 1), (2, 2);
  insert into t values (1, 10), (2, 20);
  insert into p values (1, 10), (2, 20);
  insert into high values (150, 5)`;

const views = {
  t: tableView('t', 'id', 't/'),
  p: tableView('p', 'id', 'p/'),
  joined: defineView<{ id: number }>({
    key: 'id',
    query: () => sql`select a.id, a.x, t.n, p.n as m from a join t using (id) join p using (id)`,
  }),
};

async function start(level: string): Promise<void> {
  const session = `default_transaction_isolation=${level.replace(' ', '\\ ')}`;
  altered = await tables.start(ddl, { views, session });
  other = new pg.Client(altered.url);
  await other.connect();
}

afterEach(() => other.end());

/**
 * A client with pending changes and one without a cookie pull while a session holds what they read, then releases it.
 */
async function expectWhole(release: () => Promise<unknown>): Promise<void> {
  const { client, newcomer, truth } = altered;
  const clients = [client, newcomer()];
  const pulls = clients.map((one) => one.pull());
  await untilWaiting(tables.database.pool, clients.length);
  await release();
  await Promise.all(pulls);
  for (const one of clients) expect(one.held()).toEqual(await truth());
  await altered.run(
    'update t set n = n + 1; update p set n = n + 1; update a set x = x + 1; delete from t where id = 1',
  );
  for (const one of clients) {
    await one.pull();
    expect(one.held()).toEqual(await truth());
  }
}

describe.each(['read committed', 'repeatable read', 'serializable'])('under %s', (level) => {
  it.each([
    'truncate t',
    'truncate t; insert into t values (1, 11)',
    'alter table t set unlogged; alter table t set logged',
    'alter table t alter n type bigint',
    'alter table t add column r int default (random() * 10)::int',
    'cluster t using t_pkey',
    'truncate low',
    'alter table low set unlogged; alter table low set logged',
    'alter table p detach partition low',
    'lock table p; alter table p attach partition high for values from (100) to (200)',
  ])('a pull that waits for "%s" receives consistent rows', async (change) => {
    await start(level);
    await altered.run('update a set x = x + 1 where id = 2; update t set n = n + 1 where id = 1');
    await other.query(`begin; ${change}`);
    await expectWhole(() => other.query('commit'));
  });

  it('a pull that waits for "vacuum full" receives consistent rows', async () => {
    await start(level);
    await altered.run('update a set x = x + 1 where id = 2; update t set n = n + 1 where id = 1');
    await other.query('begin; select from t');
    const vacuuming = altered.runAlone('vacuum full t');
    await untilWaiting(tables.database.pool, 1);
    const { client, newcomer, truth } = altered;
    const clients = [client, newcomer()];
    const pulls = clients.map((one) => one.pull());
    await untilWaiting(tables.database.pool, 3);
    await other.query('commit');
    await Promise.all([...pulls, vacuuming]);
    for (const one of clients) expect(one.held()).toEqual(await truth());
  });
});

/**
 * Above READ COMMITTED, a statement does not see columns that change while it waits. The server detects the change
 * within a second.
 */
it.each([
  ['', 'update t set n = n + 1 where id = 1'],
  [', after many other changes', 'insert into t select i, 1 from generate_series(10, 200) i'],
])('a pull that waits for a column change receives the new columns under read committed%s', async (_kind, before) => {
  await start('read committed');
  await altered.run(before);
  await other.query('begin; alter table t drop column n, add column n int default 7');
  await expectWhole(() => other.query('commit'));
});
