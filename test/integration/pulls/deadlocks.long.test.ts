/** Pulls in a deadlock with a session that locks the same tables in another order. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { type TestDatabase, untilWaiting } from '../../support/database.js';
import { createSynced, PullServer, SyncClient } from '../../support/synced.js';

const views = {
  both: defineView<{ id: number }>({
    key: 'id',
    query: () => sql`select one.id, other.n from one join other on other.id = one.id`,
  }),
};

let database: TestDatabase;
let server: PullServer;
let locker: pg.Client;

beforeAll(async () => {
  database = await createSynced(
    `create table one (id int primary key, n int); create table other (id int primary key, n int);
     insert into one values (1, 1); insert into other values (1, 10);
     do $$ begin execute format('alter database %I set deadlock_timeout = %L', current_database(), '2s'); end $$`,
    views,
  );
  server = new PullServer(database.url, views);
  locker = new pg.Client(database.url);
  await locker.connect();
  // Postgres ends the statement of the session that has waited this long, which must be the pull.
  await locker.query("set deadlock_timeout = '1min'");
});

afterAll(async () => {
  await server.close();
  await locker.end();
  await database.drop();
});

const deadlocks = async () =>
  (await database.pool.query('select deadlocks::int from pg_stat_database where datname = current_database()')).rows[0];

/** Makes a pull and the locker wait for each other, until Postgres ends the pull's statement. */
async function deadlock(statement: string, pull: () => Promise<unknown>): Promise<void> {
  await locker.query('begin; lock table other in access exclusive mode');
  const pulling = pull();
  await untilWaiting(database.pool, 1, statement);
  await locker.query('lock table one in access exclusive mode');
  await locker.query('commit');
  await pulling;
}

it('a first pull and a delta are retried after a deadlock', async () => {
  // Makes the server analyze the view now. Otherwise, the pull would wait for that.
  await new SyncClient(server).pull();
  const client = new SyncClient(server);
  await deadlock('%copy%', () => client.pull());
  await expect.poll(deadlocks).toEqual({ deadlocks: 1 });
  expect(client.held()).toEqual({ 'both/1': { id: 1, n: 10 } });

  await database.pool.query('update one set n = 2; update other set n = 20');
  await deadlock('with%', () => client.pull());
  await expect.poll(deadlocks).toEqual({ deadlocks: 2 });
  expect(client.held()).toEqual({ 'both/1': { id: 1, n: 20 } });
});
