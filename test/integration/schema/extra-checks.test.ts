import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { fullRead, PullServer, SyncClient, tableView } from '../../support/synced.js';

const views = { t: tableView('t', 'id', 't/'), p: tableView('p', 'id', 'p/') };

let database: TestDatabase;
beforeEach(async () => {
  database = await createEmptyDatabase();
  const name = new URL(database.url).pathname.slice(1);
  await database.pool.query(`alter database ${name} set plpgsql.extra_errors = 'all'`);
});
afterEach(() => database.drop());

const run = async (...statements: string[]) => {
  for (const statement of statements) await database.pool.query(statement);
};

it('migrates, captures and serves where plpgsql.extra_errors is "all"', async () => {
  await run(
    'create table t (id int primary key, n int)',
    'create table p (id int primary key, n int) partition by hash (id)',
    'create table p0 partition of p for values with (modulus 1, remainder 0)',
  );
  await migrate({ database: database.url, views, pokes: { notify: true }, log: silent });
  const server = new PullServer(database.url, views);
  try {
    const client = new SyncClient(server);
    await client.pull();
    for (const table of ['t', 'p']) {
      await run(
        `insert into ${table} values (1, 1), (2, 2), (3, 3)`,
        `update ${table} set n = n + 1`,
        `update ${table} set id = 4 where id = 3`,
        `delete from ${table} where id = 1`,
      );
      await client.pull();
    }
    // Logs rows in one row format, and reads them in another.
    await run('update t set n = 7', 'alter table t add more int', 'update t set more = 8 where id = 2');
    await client.pull();
    expect(client.held()).toEqual(await fullRead(server));
    await run('truncate t, p');
    await client.pull();
    expect(client.held()).toEqual({});
  } finally {
    await server.close();
  }
});
