/** The effects of one user's mutator on its connection are invisible to the next user's mutator. */

import type pg from 'pg';
import type { ClientBase } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { AuditLog } from '../../../packages/tidemark/src/store/audit-log.js';
import { OwnTransactions } from '../../../packages/tidemark/src/writes/calls/call-transactions.js';
import { Calls } from '../../../packages/tidemark/src/writes/calls/calls.js';
import { createPush } from '../../../packages/tidemark/src/writes/push.js';
import { createPool, createTestDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog } from '../../support/log.js';
import { lastMutationIDs, mutation, pushRequest } from './push-requests.js';

const member = 'sessions_member';
let database: TestDatabase;
/** The application's own pool, with one connection, which it prepares itself. */
let pool: pg.Pool;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, 1);
  pool.on('connect', (client) => void client.query(`set app.server = 'one'`));
  db = openPool(pool);
  await database.pool.query(`
    create role ${member};
    create table entry (name text, role text default current_user);
    create table node (id int primary key, parent int references node deferrable initially deferred);
    grant select, insert on entry, node to ${member}`);
});
afterAll(async () => {
  await db.close();
  await pool.end();
  await database.pool.query(`drop owned by ${member}; drop role ${member}`);
  await database.drop();
});
beforeEach(() =>
  database.pool.query('truncate entry, node, tidemark.client, tidemark.client_group, tidemark.audit_log'),
);

/** Everything that could differ between two connections of this pool, but should not. */
const sessionText = `
  select current_user, session_user, current_setting('search_path') as path, current_setting('app.server', true) as server,
    nullif(current_setting('app.user', true), '') as "user", pg_my_temp_schema()::oid::int as temporary,
    (select count(*)::int from pg_class where relnamespace = pg_my_temp_schema()) as tables,
    (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
    (select count(*)::int from pg_prepared_statements where name not like 'tidemark%') as prepared,
    (select count(*)::int from pg_cursors where is_holdable) as cursors,
    (select count(*)::int from pg_listening_channels()) as channels`;

type Send = (tx: ClientBase, text: string) => Promise<unknown>;
const plainly: Send = (tx, text) => tx.query(text);

/** Pushes a user's mutation that sends these texts. Returns the session as it found it, and where it ran. */
async function push(userID: string, texts: readonly string[], { send = plainly, fails = false } = {}) {
  let session: unknown;
  let connection: unknown;
  const { log, lines } = memoryLog();
  const act = defineMutator(async ({ tx }) => {
    const { temporary, ...seen } = (await tx.query(sessionText)).rows[0];
    session = seen;
    connection = (await tx.query('select pg_backend_pid() as pid')).rows[0].pid;
    for (const text of texts) await send(tx, text);
    await tx.query('insert into public.entry (name) values ($1)', [userID]);
    if (fails) throw new Error('no');
  });
  const apply = createPush({ db, tx: (client) => client, mutators: defineMutators({ act }) });
  const request = pushRequest(userID, [mutation(1, 'act', null, userID)]);
  expect(await apply(request, { context: { userID }, requestID: 'r', log })).toBeNull();
  expect(lines).toHaveLength(fails ? 1 : 0);
  return { session, connection };
}

const lasting: [kind: string, text: string][] = [
  ['a role', `set role ${member}`],
  ['a role of the session', `set session session authorization ${member}`],
  ['a role, among other statements', `select 1; set role ${member}; select 2`],
  ['a search path', 'set search_path to pg_catalog'],
  ['a setting by function', `select set_config('app.user', 'ann', false)`],
  ['a setting by function, after a comment', `/* me */ select set_config('app.user', 'ann', false)`],
  ['a setting in a block', `do $$ begin perform set_config('app.user', 'ann', false); end $$`],
  ['without the pool’s settings', 'reset all'],
  ['a temporary table', 'create temp table mine as select 1 as secret'],
  ['a temporary table by SELECT', 'select 1 as secret into temp mine'],
  ['a lock', 'select pg_advisory_lock(7)'],
  ['a lock that was tried', 'select pg_try_advisory_lock(7)'],
  ['a prepared statement', 'prepare mine as select 1'],
  ['a cursor', 'declare mine cursor with hold for select 1'],
  ['a channel', 'listen mine'],
];

describe.each([
  ['applied', false],
  ['skipped', true],
])('a mutation that is %s', (_what, fails) => {
  it.each(lasting)('does not leave the next user %s', async (_kind, text) => {
    const { session: unchanged } = await push('zoe', []);
    await push('ann', [text], { fails });
    expect((await push('ben', [])).session).toEqual(unchanged);
    const { rows } = await database.pool.query('select name from entry');
    expect(rows.map(({ name }) => name)).toEqual(fails ? ['zoe', 'ben'] : ['zoe', 'ann', 'ben']);
    expect(await lastMutationIDs(database.pool)).toEqual({ zoe: 1, ann: 1, ben: 1 });
  });
});

it.each([
  ['plain statements', ['select 1', 'insert into entry (name) values (1)']],
  ['a local role', [`set local role ${member}`]],
  ['a local setting', [`set local app.tenant = 'ann'`, `select set_config('app.user', 'ann', true)`]],
  ['a nested transaction', ['begin', 'select 1', 'commit', 'savepoint a', 'rollback to a']],
  ['a temporary table for the transaction', ['create temp table mine (n int) on commit drop']],
])('a connection is reused after a mutator with %s', async (_kind, texts) => {
  const zoe = await push('zoe', []);
  const ann = await push('ann', texts);
  const ben = await push('ben', []);
  expect([ann.connection, ben.connection]).toEqual([zoe.connection, zoe.connection]);
  expect(ben.session).toEqual(zoe.session);
});

it('a mutator that continues after its transaction cannot use another one', async () => {
  let late: Promise<unknown> | undefined;
  let go = () => {};
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  await push('ann', ['later'], {
    send: async (tx) => {
      late = gone.then(() => tx.query(`insert into public.entry (name) values ('late')`));
      late.catch(() => {});
    },
  });
  await push('ben', ['now'], {
    send: async () => {
      go();
      await late?.catch(() => {});
    },
  });
  await expect(late).rejects.toThrow('is over');
  const { rows } = await database.pool.query('select name from entry');
  expect(rows.map(({ name }) => name)).toEqual(['ann', 'ben']);
});

it('a mutator can neither release nor end its client', async () => {
  const { connection } = await push('ann', ['now'], {
    send: async (tx) => {
      await (tx as pg.Client).end();
      (tx as pg.PoolClient).release(true);
      (tx as pg.PoolClient).release();
    },
  });
  expect((await push('ben', [])).connection).toBe(connection);
  expect(pool.totalCount).toBe(1);
});

describe('a call with an idempotency key', () => {
  const call = (texts: readonly string[], key: string) => {
    const act = defineMutator(async ({ tx }) => {
      for (const text of texts) await tx.query(text);
      await tx.query(`insert into public.entry (name) values ('called')`);
    });
    const calls = new Calls({
      mutators: defineMutators({ act }),
      transactions: new OwnTransactions(db, (client) => client),
      keyRetentionSeconds: 60,
      auditLog: new AuditLog(60),
    });
    return calls.run(
      { kind: 'call', call: { name: 'act', args: null } },
      { context: { userID: 'ann' }, requestID: 'r', log: memoryLog().log },
      { idempotencyKey: key, rollback: false },
    );
  };

  it.each([
    ['a local role', `set local role ${member}`],
    ['a local role by function', `select set_config('role', '${member}', true)`],
    ['a role', `set role ${member}`],
    ['a local role of the session', `set local session authorization ${member}`],
  ])('stores its answer and is in the audit log even if its mutator has set %s', async (kind, text) => {
    const texts = [text, `set local request.jwt.claims = '{"sub": "ann"}'`];
    expect((await call(texts, kind)).replayed).toBe(false);
    expect((await call(texts, kind)).replayed).toBe(true);
    const { rows } = await database.pool.query('select role from entry');
    expect(rows).toEqual([{ role: member }]);
    const auditLog = await database.pool.query('select mutator, outcome from tidemark.audit_log');
    expect(auditLog.rows).toEqual([{ mutator: 'act', outcome: 'applied' }]);
  });

  it('has its constraints checked as the role of the mutator', async () => {
    await database.pool.query(`
      create function note_checker() returns trigger language plpgsql as $$
        begin insert into entry (name, role) values ('checked', current_user); return null; end $$;
      create constraint trigger checked after insert on node deferrable initially deferred
        for each row execute function note_checker()`);
    await call([`set local role ${member}`, 'insert into node values (1)'], 'constraints');
    const { rows } = await database.pool.query(`select role from entry where name = 'checked'`);
    expect(rows).toEqual([{ role: member }]);
    const dangling = call([`set local role ${member}`, 'insert into node values (2, 7)'], 'dangling');
    await expect(dangling).rejects.toMatchObject({ code: 'conflict', cause: { code: '23503' } });
  });
});
