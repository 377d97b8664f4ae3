import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import type { TestDatabase } from '../../support/database.js';
import { useLogicalReplication } from '../../support/subscription.js';
import { createSynced, PullServer, SyncClient, wholeTable } from '../../support/synced.js';

useLogicalReplication();

let database: TestDatabase;
let db: Database;
const views = wholeTable('t');
const run = (sql: string) => database.pool.query(sql);

beforeEach(async () => {
  database = await createSynced('create table t (id int primary key, n int); insert into t values (1, 1)', views);
  db = openPool(database.url, { max: 3 });
  await run('create publication everything for all tables');
});

afterEach(async () => {
  await db.close();
  await database.drop();
});

it('prune deletes old changes in a database with a publication for all tables', async () => {
  const server = new PullServer(database.url, views);
  const client = new SyncClient(server);
  await client.pull();
  await run('update t set n = n + 1');
  expect(await prune(db, 3600)).toBe(0);
  await run(`update tidemark.heartbeat set at = at - interval '1 hour 1 second'`);
  await run('update t set n = n + 1');
  expect(await prune(db, 3600)).toBe(1);
  expect((await client.pull()).patch[0]).toEqual({ op: 'clear' });
  await server.close();
});

it('each table of Tidemark accepts updates and deletes under a publication for all tables', async () => {
  const { rows: tables } = await run(`
    select c.oid::regclass::text as name, min(quote_ident(attname)) as column
    from pg_class c join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped and attidentity = ''
    where relnamespace = 'tidemark'::regnamespace and relkind = 'r' group by c.oid`);
  expect(tables.map(({ name }) => name)).toContain('tidemark.change');
  for (const { name, column } of tables) {
    await run(`delete from ${name} where ctid is null`);
    await run(`update ${name} set ${column} = ${column} where ctid is null`);
  }
});
