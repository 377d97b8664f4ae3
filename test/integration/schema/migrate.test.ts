import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '../../../packages/tidemark/src/errors.js';
import { migrate, uninstall } from '../../../packages/tidemark/src/migrate.js';
import { createSync } from '../../../packages/tidemark/src/server.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { createEmptyDatabase, type TestDatabase, untilWaiting } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { installationOf, PullServer, SyncClient, tableView, wholeTable } from '../../support/synced.js';
import { listSchema } from './schema-listing.js';

let database: TestDatabase;

beforeEach(async () => {
  database = await createEmptyDatabase();
  await database.pool.query(`
    create table todo (id text primary key, "list ID" text not null, title text default 'x', sort numeric(8, 2));
    create index on todo ("list ID");
    create function stamp() returns trigger language plpgsql as 'begin return new; end';
    create trigger stamp before insert on todo for each row execute function stamp();
    create table event (id int, day date, primary key (id, day)) partition by range (day);
    create table event_2026 partition of event for values from ('2026-01-01') to ('2027-01-01');
    insert into todo values ('a', 'l', 't', 1), ('b', 'l', null, null)`);
});

afterEach(() => database.drop());

const views = { todo: tableView('todo', 'id', 'todo/'), event: tableView('event', ['id', 'day'], 'event/') };

async function run(): Promise<string[]> {
  const messages: string[] = [];
  await migrate({
    database: database.url,
    views,
    log: { ...silent, info: (_, message) => void messages.push(message) },
  });
  return messages;
}

/** The identity of each Tidemark object, which changes when the object is recreated or altered. */
async function identities(): Promise<unknown[]> {
  const { rows } = await database.pool.query(`
    select 'trigger' as kind, oid, xmin from pg_trigger where tgname like 'tidemark%'
    union all select 'function', oid, xmin from pg_proc where pronamespace = 'tidemark'::regnamespace
    union all select 'relation', oid, xmin from pg_class where relnamespace = 'tidemark'::regnamespace and relkind = 'r'
    union all select 'table', id, xmin from tidemark.synced_table
    order by kind, oid`);
  return rows;
}

/** The application's own schema, as a dump would show it. */
function userSchema(): Promise<string> {
  return listSchema(database.pool, 'public');
}

const firstRun = [
  'applying 0001-initial.sql',
  'capturing changes to public.todo',
  'capturing changes to public.event',
  'capturing changes to tidemark.refusal',
];

describe('migrate', () => {
  it('installs the schema, and changes nothing the second time', async () => {
    expect(await run()).toEqual(firstRun);
    const before = await identities();
    expect(await run()).toEqual([]);
    expect(await identities()).toEqual(before);
    await expect(installationOf(database.url, views)).resolves.toMatchObject({
      tables: [{ name: 'todo' }, { name: 'event' }],
    });
  });

  it.each([2, 8])('installs the schema once if it runs %d times concurrently', async (count) => {
    const messages = await Promise.all(Array.from({ length: count }, run));
    expect(messages.flat().sort()).toEqual(firstRun.toSorted());
    const { rows } = await database.pool.query('select count(*)::int as n from tidemark.synced_table');
    expect(rows).toEqual([{ n: 3 }]);
    expect(await run()).toEqual([]);
  });

  it('refuses a schema that is newer than the code, and so does a server', async () => {
    await run();
    await database.pool.query(`insert into tidemark.migration (version, file) values (9999, '9999-later.sql')`);
    await expect(run()).rejects.toThrow(SetupError);
    await expect(run()).rejects.toThrow(/has version 9999.*Deploy a newer Tidemark/);
    await expect(installationOf(database.url, views)).rejects.toThrow(/has version 9999/);
  });

  it('accepts a schema to which a later version has added something', async () => {
    await run();
    await database.pool.query(`insert into tidemark.expansion (version, file) values (9999, '9999-later.sql')`);
    expect(await run()).toEqual([]);
    await expect(installationOf(database.url, views)).resolves.toMatchObject({ tables: [{}, {}] });
  });

  it('is required before a server works with an older schema', async () => {
    await run();
    await database.pool.query('delete from tidemark.migration');
    await expect(installationOf(database.url, views)).rejects.toThrow(
      /Tidemark is not installed.*Run `tidemark migrate`/,
    );
  });

  it('installs the schema of the golden file on every version of Postgres', async () => {
    await run();
    const schema = `${await listSchema(database.pool, 'tidemark')}\n${await listSchema(database.pool, 'public')}`;
    await expect(schema).toMatchFileSnapshot('../../golden/schema.sql');
  });

  it('checks views with the same schema version as a server', async () => {
    await database.pool.query('create table task (id text primary key)');
    const view = defineView({
      query: ({ schemaVersion }) => (schemaVersion === '2' ? sql`select id from task` : sql`select id from no_table`),
      key: 'id',
    });
    const options = { database: database.url, views: { view }, schemaVersions: ['2', '3'], log: silent };
    await migrate(options);
    await (await createSync({ ...options, authenticate: () => null })).close();
  });

  it('waits for writers, and does not block readers', async () => {
    const writer = new pg.Client({ connectionString: database.url });
    await writer.connect();
    await writer.query(`begin; insert into todo values ('c', 'l')`);
    let done = false;
    const migrating = run().finally(() => {
      done = true;
    });
    await untilWaiting(database.pool);
    expect(done).toBe(false);
    const { rows } = await database.pool.query('select count(*)::int as n from todo');
    expect(rows).toEqual([{ n: 2 }]);
    await writer.query('commit');
    await writer.end();
    expect(await migrating).toEqual(firstRun);
  });

  it('captures the columns that a table has when the lock is granted', async () => {
    await migrate({ database: database.url, views: wholeTable('event', ['id', 'day']), log: silent });
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    // Because of this writer, the migration reads the table as it is and only then waits.
    await other.query('begin; lock table todo in row exclusive mode');
    const migrating = run();
    await untilWaiting(database.pool);
    await other.query(`create table event_2027 (day date not null, id int not null, primary key (id, day));
      alter table event attach partition event_2027 for values from ('2027-01-01') to ('2028-01-01');
      alter table todo drop constraint todo_pkey; alter table todo add primary key (id, "list ID")`);
    await other.query('commit');
    await other.end();
    await migrating;
    await expect(installationOf(database.url, { todo: views.todo })).resolves.toMatchObject({
      tables: [{ name: 'todo' }],
    });
    await run();
    await expect(installationOf(database.url, views)).resolves.toBeDefined();
  });

  it('changes nothing if it fails', async () => {
    await database.pool.query(`create schema tidemark; create table tidemark.heartbeat (at int)`);
    const before = await listSchema(database.pool, 'tidemark');
    await expect(run()).rejects.toThrow(/already exists/);
    expect(await listSchema(database.pool, 'tidemark')).toBe(before);
    await database.pool.query('drop schema tidemark cascade');
    expect(await run()).toEqual(firstRun);
  });

  it('captures a table completely or not at all', async () => {
    await run();
    await uninstall({ database: database.url });
    // Gives the name of one of Tidemark's triggers to a trigger that cannot be replaced.
    await database.pool.query(
      `create constraint trigger tidemark_update after update on todo for each row execute function stamp()`,
    );
    const before = await userSchema();
    await expect(run()).rejects.toThrow(/tidemark_update/);
    expect(await userSchema()).toBe(before);
  });

  it.each([
    ['horizon', `update tidemark.meta set horizon = '900000000000'`],
    ['change', `update tidemark.change set xid = '900000000000' where key = '{b}'`],
  ])('empties a change log with a %s from another cluster', async (_, restored) => {
    await run();
    const server = new PullServer(database.url, views);
    const { cookie } = await server.pull(null);
    await database.pool.query(`update todo set sort = 3; insert into tidemark.client_group values ('group', 'ada');
      insert into tidemark.client values ('c', 'group', 5, '900000000000'); ${restored}`);
    await expect(installationOf(database.url, views)).rejects.toThrow('is from another cluster');
    expect(await run()).toEqual(['emptying the change log, which is from another cluster']);
    expect(await run()).toEqual([]);
    await expect(installationOf(database.url, views)).resolves.toBeDefined();

    expect((await server.pull(cookie)).patch[0]).toEqual({ op: 'clear' });
    expect(server.lines.lines.map(({ fields }) => fields.reason)).toEqual(['database']);
    const client = new SyncClient(server);
    expect((await client.pull()).lastMutationIDChanges).toEqual({ c: 5 });
    expect(await client.pull()).toEqual({ cookie: client.cookie, lastMutationIDChanges: {}, patch: [] });
    await database.pool.query(`update todo set sort = 4 where id = 'b'`);
    const { patch, lastMutationIDChanges } = await client.pull();
    expect(patch).toMatchObject([{ op: 'put', key: 'todo/b', value: { sort: 4 } }]);
    expect(lastMutationIDChanges).toEqual({});
    const unchanged = client.cookie;
    await client.pull();
    expect(client.cookie).toEqual(unchanged);
    await server.close();
  });

  it('names a view that cannot be served, and installs nothing', async () => {
    await expect(migrate({ database: database.url, views: wholeTable('missing'), log: silent })).rejects.toThrow(
      'The view "whole" cannot be served',
    );
    const { rows } = await database.pool.query(`select to_regnamespace('tidemark') as schema`);
    expect(rows).toEqual([{ schema: null }]);
  });

  it('continues to capture a table that gets another name or schema', async () => {
    await run();
    await database.pool.query('alter table todo rename to task; create schema app; alter table task set schema app');
    const renamed = wholeTable('app.task');
    const before = await identities();
    await migrate({ database: database.url, views: renamed, log: silent });
    expect(await identities()).toEqual(before);
    await expect(installationOf(database.url, renamed)).resolves.toMatchObject({
      tables: [{ schema: 'app', name: 'task' }],
    });
    await database.pool.query('update app.task set sort = 2');
    const { rows } = await database.pool.query('select count(*)::int as n from tidemark.change');
    expect(rows).toEqual([{ n: 2 }]);
  });
});

describe('uninstall', () => {
  it('restores the application’s tables, which remain writable', async () => {
    const before = await userSchema();
    await run();
    expect(await userSchema()).not.toBe(before);
    await uninstall({ database: database.url });
    expect(await userSchema()).toBe(before);
    const { rows } = await database.pool.query(`select to_regnamespace('tidemark') as schema`);
    expect(rows).toEqual([{ schema: null }]);
    await database.pool.query(`update todo set sort = 5; insert into event values (1, '2026-05-05'); truncate todo`);
    await uninstall({ database: database.url });
    expect(await run()).toEqual(firstRun);
    await expect(installationOf(database.url, views)).resolves.toBeDefined();
  });
});
