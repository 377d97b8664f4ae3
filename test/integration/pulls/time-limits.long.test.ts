import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import { createEmptyDatabase, type TestDatabase, versionOf } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { PullServer, tableView } from '../../support/synced.js';

let database: TestDatabase;
beforeEach(async () => {
  database = await createEmptyDatabase();
});
afterEach(() => database.drop());

/** A view whose pull takes longer than the limit for any statement. */
const slowView = `
  create table t (id int primary key);
  insert into t select generate_series(1, 4);
  create function slow(int) returns int immutable language plpgsql as
    $$ begin perform pg_sleep(0.4); return $1; end $$`;

const views = {
  slow: { ...tableView('t'), query: () => ({ text: 'select id, slow(id) as n from t', values: [] }) },
};

it.each(['statement_timeout', 'transaction_timeout'])(
  'a first pull and a delta are not subject to a %s of the role or the database',
  async (setting) => {
    if (setting === 'transaction_timeout' && (await versionOf(database.pool)) < 170_000) return;
    await database.pool.query(slowView);
    await migrate({ database: database.url, views, log: silent });
    const limited = new URL(database.url);
    limited.searchParams.set('options', `-c ${setting}=1s`);
    const server = new PullServer(limited.href, views);
    const { patch, cookie } = await server.pull(null);
    expect(patch).toHaveLength(4);
    await database.pool.query('insert into t select generate_series(5, 8)');
    expect((await server.pull(cookie)).patch).toHaveLength(4);
    await server.close();
  },
);

it('a migration and the deletion of old changes are not subject to a statement_timeout', async () => {
  await database.pool.query('create table t (id int primary key)');
  const limited = new URL(database.url);
  limited.searchParams.set('options', '-c statement_timeout=1s');
  const blocker = await database.pool.connect();
  await blocker.query('begin; lock table t in row exclusive mode');
  const table = { t: tableView('t') };
  const migrating = migrate({ database: limited.href, views: table, log: silent });
  await blocker.query('select pg_sleep(1.5)');
  await blocker.query('commit');
  await migrating;
  const db = openPool(limited.href, { max: 1 });
  await blocker.query(`begin; select pg_advisory_xact_lock(hashtextextended('tidemark heartbeat', 0))`);
  const pruning = prune(db, 3600);
  await blocker.query('select pg_sleep(1.5)');
  await blocker.query('commit');
  blocker.release();
  await pruning;
  await db.close();
});
