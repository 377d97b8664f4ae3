import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { SetupError } from '../../../packages/tidemark/src/errors.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { migrateSchema } from '../../../packages/tidemark/src/schema/migrate.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { tableView } from '../../support/synced.js';

let database: TestDatabase;

beforeEach(async () => {
  database = await createEmptyDatabase();
  await database.pool.query('create table todo (id int primary key)');
});
afterEach(() => database.drop());

const run = (url = database.url, views = { todo: tableView('todo', 'id', 'todo/') }) =>
  migrate({ database: url, views, log: silent });

async function connect(as: Partial<URL> = {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: Object.assign(new URL(database.url), as).href });
  await client.connect();
  return client;
}

it('a role that may only connect cannot block a migration', async () => {
  const role = `nobody_${randomUUID().replaceAll('-', '')}`;
  await database.pool.query(`create role ${role} login password 'x'`);
  const unprivileged = await connect({ username: role, password: 'x' });
  try {
    await unprivileged.query(`select pg_advisory_lock(hashtextextended('tidemark migrate', 0))`);
    await run();
    await unprivileged.query('begin');
    const locking = unprivileged.query('lock table tidemark.migration in access share mode');
    await expect(locking).rejects.toMatchObject({ code: '42501' });
    await run();
  } finally {
    await unprivileged.end();
    await database.pool.query(`drop role ${role}`);
  }
});

it.each([
  ['lock table todo in row exclusive mode', 'the table public.todo'],
  ['lock table tidemark.migration in row exclusive mode', 'the schema tidemark'],
])('a migration that waits too long for a lock fails and says what is locked: %s', async (sql, what) => {
  await run(database.url, {} as never);
  const other = await connect();
  try {
    await other.query(`begin; ${sql}`);
    const failure: unknown = await run(`${database.url}?options=-c%20lock_timeout%3D500ms`).catch((error) => error);
    expect(failure).toBeInstanceOf(SetupError);
    expect(String(failure)).toContain(`waited too long to change ${what}: another migration is running, or`);
    await other.query('rollback');
    await run();
  } finally {
    await other.end();
  }
});

it('a migration waits no longer than a minute for a lock', async () => {
  const limits: unknown[] = [];
  const db = openPool(database.url);
  const transact: Database['transact'] = (work, first) =>
    db.transact(async (client, edges) => {
      const result = await work(client, edges);
      limits.push((await client.query(`select current_setting('lock_timeout') as lock`)).rows[0].lock);
      return result;
    }, first);
  await migrateSchema({ ...db, transact }, { notify: false, progress: () => {} });
  await db.close();
  expect(limits).toEqual(['1min']);
});
