import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createSync } from '../../../packages/tidemark/src/server.js';
import { pruneRefusals } from '../../../packages/tidemark/src/store/refusals.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import { OwnTransactions } from '../../../packages/tidemark/src/writes/calls/call-transactions.js';
import { Calls } from '../../../packages/tidemark/src/writes/calls/calls.js';
import { createPush } from '../../../packages/tidemark/src/writes/push.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { grants } from '../../support/grants.js';
import { memoryLog, silent } from '../../support/log.js';
import { PullServer, SyncClient, tableView, wholeTable } from '../../support/synced.js';

const roles = ['tidemark_owner', 'tidemark_server', 'tidemark_app'];

let database: TestDatabase;
const pools = new Map<string, pg.Pool>();
const as = (role: string, sql: string) => pools.get(role)!.query(sql);
const urlOf = (role: string) => Object.assign(new URL(database.url), { username: role, password: 'x' }).href;

beforeAll(async () => {
  database = await createEmptyDatabase();
  const { rows } = await database.pool.query('select current_database() as name');
  await database.pool.query(`
    ${roles.map((role) => `create role ${role} login password 'x'`).join(';')};
    grant create on database ${rows[0].name} to tidemark_owner;
    grant create on schema public to tidemark_owner, tidemark_app`);
  for (const role of roles) {
    const pool = new pg.Pool({ connectionString: urlOf(role), max: 2 });
    pool.on('error', () => {});
    pools.set(role, pool);
  }
  await as(
    'tidemark_owner',
    'create table todo (id int primary key, n int); create table private (id int primary key); insert into todo values (1, 1)',
  );
  await as('tidemark_owner', 'grant select, insert, update, delete, truncate on todo to tidemark_app');
  await migrate({ database: urlOf('tidemark_owner'), views: wholeTable('todo'), log: silent });
  for (const block of grants) await as('tidemark_owner', block);
});

afterAll(async () => {
  await Promise.all([...pools.values()].map((pool) => pool.end()));
  await database.pool.query(`drop owned by ${roles.join()} cascade`);
  await database.drop();
  const cluster = new pg.Client({ connectionString: process.env.TIDEMARK_TEST_CLUSTER });
  await cluster.connect();
  await cluster.query(`drop role ${roles.join()}`);
  await cluster.end();
});

it('the documentation has both blocks of grants', () => {
  expect(grants).toHaveLength(2);
});

describe('the server’s role', () => {
  it('pulls, pushes and prunes', async () => {
    const server = new PullServer(urlOf('tidemark_server'), wholeTable('todo'));
    const db = openPool(urlOf('tidemark_server'));
    const client = new SyncClient(server);
    await client.pull();
    expect(client.held()).toEqual({ 1: { id: 1, n: 1 } });

    const run = async ({ tx }: { tx: pg.ClientBase }) => void (await tx.query('update todo set n = n + 1'));
    const push = createPush({ db, tx: (tx) => tx, mutators: defineMutators({ increment: defineMutator(run) }) });
    const mutations = [1, 2].map((id) => ({ id, clientID: 'c', name: 'increment', args: null, timestamp: 0 }));
    const caller = { context: { userID: 'ada' }, requestID: '', log: memoryLog().log };
    const request = { clientGroupID: 'group', profileID: 'profile', schemaVersion: '', mutations };
    expect(await push(request, caller)).toBeNull();

    expect((await client.pull()).lastMutationIDChanges).toEqual({ c: 2 });
    expect(client.held()).toEqual({ 1: { id: 1, n: 3 } });
    // Two changes of the row, and two mutations.
    expect(await prune(db, 0)).toBe(4);
    await db.close();
    await server.close();
  });

  it('records, shows and deletes refused mutations', async () => {
    const server = new PullServer(urlOf('tidemark_server'), { todo: tableView('todo', 'id', 'todo/') });
    const db = openPool(urlOf('tidemark_server'));
    const refuse = defineMutator(() => Promise.reject(new Error('No')));
    const push = createPush({ db, tx: (tx) => tx, mutators: defineMutators({ refuse }) });
    const caller = { context: { userID: 'ada' }, requestID: '', log: memoryLog().log };
    const envelope = { clientGroupID: 'refused', profileID: 'profile', schemaVersion: '' };
    // The second round uses a client that has been forgotten.
    for (const forget of ['', 'delete from tidemark.client']) {
      await as('tidemark_server', forget);
      const mutations = [{ id: 1, clientID: 'r', name: 'refuse', args: null, timestamp: 0 }];
      expect(await push({ ...envelope, mutations }, caller)).toBeNull();
    }
    const { patch } = await server.pull(null, { clientGroupID: 'refused', refused: true });
    expect(patch).toMatchObject([
      { op: 'put', key: 'todo/1' },
      { op: 'put', key: 'tidemark/refused/r/1' },
    ]);
    await as('tidemark_owner', `update tidemark.refusal set at = '2000'`);
    await pruneRefusals(db);
    expect((await as('tidemark_server', 'select * from tidemark.refusal')).rows).toEqual([]);
    await db.close();
    await server.close();
  });

  it('disconnects users, and names the right that it lacks for that', async () => {
    const options = { database: urlOf('tidemark_server'), views: wholeTable('todo'), log: silent };
    const sync = await createSync({ ...options, authenticate: () => null });
    await sync.disconnect('ada');
    expect((await as('tidemark_server', 'select key from tidemark.change where table_id = -1')).rows).toEqual([
      { key: ['ada'] },
    ]);
    await as('tidemark_owner', 'revoke execute on function tidemark.disconnect(text) from tidemark_server');
    try {
      await expect(sync.disconnect('ada')).rejects.toThrow('grant the server');
    } finally {
      await as('tidemark_owner', 'grant execute on function tidemark.disconnect(text) to tidemark_server');
      await sync.close();
    }
  });

  it.each(['select', 'insert', 'update', 'delete'])('serves only if it may %s refusals', async (right) => {
    await as('tidemark_owner', `revoke ${right} on tidemark.refusal from tidemark_server`);
    const options = { database: urlOf('tidemark_server'), views: wholeTable('todo'), log: silent };
    try {
      await expect(createSync({ ...options, authenticate: () => null })).rejects.toThrow(
        /^Refused mutations cannot be recorded: grant the server's role select, insert, update and delete on/,
      );
    } finally {
      await as('tidemark_owner', `grant ${right} on tidemark.refusal to tidemark_server`);
    }
    await (await createSync({ ...options, authenticate: () => null })).close();
  });

  it('stores the answers to calls with an idempotency key, and deletes expired ones', async () => {
    const db = openPool(urlOf('tidemark_server'));
    const transactions = new OwnTransactions(db, (client) => client);
    const run = async ({ tx }: { tx: pg.ClientBase }) => void (await tx.query('update todo set n = 1'));
    const mutators = defineMutators({ touch: defineMutator(run) });
    const caller = { context: { userID: 'ada' }, requestID: '', log: memoryLog().log };
    const call = (keyRetentionSeconds: number) =>
      new Calls({ mutators, transactions, keyRetentionSeconds }).run(
        { kind: 'call', call: { name: 'touch', args: 1 } },
        caller,
        {
          idempotencyKey: 'k',
          rollback: false,
        },
      );
    expect(await call(60)).toEqual({ answer: '{"ok":true}', replayed: false });
    expect((await call(60)).replayed).toBe(true);
    // With a negative retention, the key has expired: it is pruned, and stored again.
    expect((await call(-1)).replayed).toBe(false);
    await db.close();
  });

  it.each([
    'drop schema tidemark cascade',
    'drop table tidemark.change',
    'alter table tidemark.change add column x int',
    'create table tidemark.mine (id int)',
    'create function tidemark.mine() returns int language sql as $$select 1$$',
    'truncate tidemark.change',
    'do $$ begin lock table tidemark.migration in row exclusive mode; end $$',
    'insert into tidemark.change (table_id, xid, key, old) values (1, pg_current_xact_id(), null, null)',
    'update tidemark.change set old = null',
    `update tidemark.meta set secret = ''`,
    'update tidemark.meta set install_id = gen_random_uuid()',
    'delete from tidemark.meta',
    `update tidemark.client_group set user_id = 'eve'`,
    'insert into tidemark.synced_table (relation) values (1)',
    `insert into tidemark.migration (version, file) values (5, '')`,
    'alter table todo disable trigger all',
    'drop trigger tidemark_insert on todo',
    'alter function tidemark.capture_1() security invoker',
    'truncate todo',
    'select * from private',
    'create temp table mine (id int, n int); create trigger t after truncate on mine execute function tidemark.capture_1()',
    'create temp table mine (id int); create trigger t after truncate on mine execute function tidemark.log_mutation()',
  ])('may not execute: %s', async (sql) => {
    await expect(as('tidemark_server', sql)).rejects.toMatchObject({ code: '42501' });
  });
});

describe('an application’s role with rights only on the table', () => {
  it('writes, and its writes are captured', async () => {
    const before = await database.pool.query('select count(*)::int as n from tidemark.change');
    await as(
      'tidemark_app',
      'insert into todo values (5, 5); update todo set n = 6 where id = 5; delete from todo where id = 5',
    );
    const after = await database.pool.query('select count(*)::int as n from tidemark.change');
    expect(after.rows[0].n - before.rows[0].n).toBe(3);
    await as('tidemark_app', 'truncate todo');
  });

  it.each(['select * from tidemark.meta', 'select * from tidemark.change', 'select tidemark.null_key($$v$$)'])(
    'may not execute: %s',
    async (sql) => {
      await expect(as('tidemark_app', sql)).rejects.toMatchObject({ code: '42501' });
    },
  );

  it('can neither capture a table of its own nor disconnect users, even if it may use the schema', async () => {
    await as('tidemark_owner', 'grant usage on schema tidemark to tidemark_app');
    await expect(as('tidemark_app', `select tidemark.disconnect('ada')`)).rejects.toMatchObject({ code: '42501' });
    await as('tidemark_app', 'create table bait (id int primary key, n int)');
    const sql = `create trigger t after insert on bait referencing new table as new_rows
      for each statement execute function tidemark.capture_1()`;
    await expect(as('tidemark_app', sql)).rejects.toMatchObject({ code: '42501' });
  });

  it('cannot make the capture function run its own functions and operators', async () => {
    await as(
      'tidemark_app',
      `create function public.pg_current_xact_id() returns xid8 language plpgsql as $$ begin raise exception 'run as %', current_user; end $$;
       create function public.captured(int, int) returns boolean language plpgsql as $$ begin raise exception 'run as %', current_user; end $$;
       create operator public.= (leftarg = int, rightarg = int, function = public.captured);
       create function public.pg_trigger_depth() returns int language plpgsql as $$ begin raise exception 'run as %', current_user; end $$;
       set search_path to pg_temp, public, pg_catalog;
       create temp table change (id int);
       insert into todo values (7, 7); update todo set n = 8, id = 9; delete from todo; reset search_path`,
    );
    const { rows } = await as('tidemark_app', 'select count(*)::int as n from todo');
    expect(rows).toEqual([{ n: 0 }]);
  });

  it('cannot make the capture function run code through a temporary type', async () => {
    // Uses a connection of its own, so that the type exists before the function is first planned.
    const client = new pg.Client({ connectionString: urlOf('tidemark_app') });
    await client.connect();
    try {
      await client.query(
        `create function public.spy(text) returns boolean language plpgsql as $$ begin raise exception 'run as %', current_user; end $$;
         create domain pg_temp.text as pg_catalog.text check (public.spy(value));
         insert into todo values (7, 7); update todo set n = 8, id = 9; delete from todo`,
      );
    } finally {
      await client.end();
    }
  });

  it('finds no function that runs as its owner without a fixed search path', async () => {
    const { rows } = await database.pool.query(`
      select proname::text as name from pg_proc
      where prosecdef and not coalesce('search_path=pg_catalog, pg_temp' = any (proconfig), false)`);
    expect(rows).toEqual([]);
  });
});
