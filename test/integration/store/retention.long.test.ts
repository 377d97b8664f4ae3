import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { createSynced, fullRead, PullServer, SyncClient, wholeTable } from '../../support/synced.js';

let database: TestDatabase;
let db: Database;
let server: PullServer;

beforeEach(async () => {
  const views = wholeTable('t');
  database = await createSynced(
    'create table t (id int primary key, n int); insert into t values (1, 1), (2, 2)',
    views,
  );
  db = openPool(database.url, { max: 3 });
  server = new PullServer(database.url, views);
});

afterEach(async () => {
  await server.close();
  await db.close();
  await database.drop();
});

const run = (sql: string) => database.pool.query(sql);
const count = async (table: string) => Number((await run(`select count(*) as n from tidemark.${table}`)).rows[0].n);

async function client(): Promise<SyncClient> {
  const one = new SyncClient(server);
  await one.pull();
  return one;
}

const hour = 3600;
/** Simulates that an hour has passed for everything that a prune has recorded so far. */
const anHourPasses = () => run(`update tidemark.heartbeat set at = at - interval '1 hour 1 second'`);

it('prune keeps changes that are younger than the retention', async () => {
  const young = await client();
  await run('update t set n = n + 1');
  expect(await prune(db, hour)).toBe(0);
  expect(await prune(db, hour)).toBe(0);
  expect(await count('change')).toBe(2);
  expect((await young.pull()).patch).toHaveLength(2);
});

it('prune deletes disconnects like other changes', async () => {
  await run(`select tidemark.disconnect('ann')`);
  expect(await prune(db, hour)).toBe(0);
  await anHourPasses();
  await run(`select tidemark.disconnect('ben')`);
  expect(await prune(db, hour)).toBe(1);
  expect((await run('select key from tidemark.change')).rows).toEqual([{ key: ['ben'] }]);
});

it('prune deletes older changes, and resets the cookies that would need them', async () => {
  const old = await client();
  await run('update t set n = n + 1');
  await prune(db, hour);
  await anHourPasses();
  const young = await client();
  await run('update t set n = n + 1 where id = 2');

  expect(await prune(db, hour)).toBe(2);
  expect(await count('change')).toBe(1);

  expect((await young.pull()).patch).toEqual([{ op: 'put', key: '2', value: { id: 2, n: 4 } }]);
  expect((await old.pull()).patch[0]).toEqual({ op: 'clear' });
  for (const one of [old, young]) expect(one.held()).toEqual(await fullRead(server));
  expect((await old.pull()).patch).toEqual([]);
});

it('prune deletes no change of a new database because of an older transaction', async () => {
  const old = await createEmptyDatabase();
  const writer = new pg.Client({ connectionString: old.url });
  await writer.connect();
  await writer.query('begin; select pg_current_xact_id()');
  const views = wholeTable('t');
  const young = await createSynced('create table t (id int primary key, n int); insert into t values (1, 1)', views);
  const youngServer = new PullServer(young.url, views);
  const one = new SyncClient(youngServer);
  await one.pull();
  await young.pool.query('update t set n = 2');
  expect((await one.pull()).patch).toEqual([{ op: 'put', key: '1', value: { id: 1, n: 2 } }]);
  await writer.end();
  await youngServer.close();
  await young.drop();
  await old.drop();
});

it('prune lets a pull renew the cookie of a client without changes', async () => {
  const quiet = await client();
  const { cookie: first } = await quiet.pull();
  await run('select pg_current_xact_id()');
  await prune(db, 2 * hour);
  expect((await quiet.pull()).cookie).toEqual(first);
  await anHourPasses();
  await prune(db, 2 * hour);
  const renewed = await quiet.pull();
  expect(renewed.cookie).not.toEqual(first);
  expect(renewed.patch).toEqual([]);
  expect((await quiet.pull()).cookie).toEqual(renewed.cookie);

  await anHourPasses();
  await prune(db, 2 * hour);
  await run('update t set n = 7 where id = 1');
  expect((await quiet.pull()).patch).toEqual([{ op: 'put', key: '1', value: { id: 1, n: 7 } }]);
});

it('prune keeps changes for a transaction that is open across the horizon', async () => {
  const writer = new pg.Client({ connectionString: database.url });
  await writer.connect();
  await writer.query('begin; update t set n = 77 where id = 1');
  const waiting = await client();
  for (let i = 0; i < 5; i++) await run('update t set n = n + 1 where id = 2');
  await prune(db, 0);
  const later = await client();
  await writer.query('commit');
  await writer.end();

  for (const one of [waiting, later]) {
    expect((await one.pull()).patch).toContainEqual({ op: 'put', key: '1', value: { id: 1, n: 77 } });
    expect(one.held()).toEqual(await fullRead(server));
  }
  await prune(db, 0);
  expect(await count('change')).toBe(0);
});

it('prune does not reset a young cookie because of a transaction that is open for long', async () => {
  const writer = new pg.Client({ connectionString: database.url });
  await writer.connect();
  await writer.query('begin; update t set n = 77 where id = 1');
  await run('update t set n = 5 where id = 2');
  await prune(db, hour);
  await anHourPasses();
  const young = await client();
  await prune(db, hour);
  await writer.query('commit');
  await writer.end();
  expect((await young.pull()).patch).toEqual([{ op: 'put', key: '1', value: { id: 1, n: 77 } }]);
});

it('prune keeps the change at the horizon, which a snapshot with this xmin may not have seen', async () => {
  const xids: string[] = [];
  for (let i = 0; i < 3; i++) {
    const { rows } = await run('update t set n = n + 1 where id = 1 returning pg_current_xact_id()::text as xid');
    xids.push(rows[0].xid);
  }
  await run(`update tidemark.meta set horizon = '${xids[1]}'`);
  expect(await prune(db, hour)).toBe(1);
  const { rows } = await run('select xid::text from tidemark.change order by xid');
  expect(rows.map(({ xid }) => xid)).toEqual(xids.slice(1));
});

it('prune keeps every heartbeat that a valid cookie names, and few others', async () => {
  const waiting = new pg.Client({ connectionString: database.url });
  await waiting.connect();
  const ages: SyncClient[] = [];
  for (let minute = 0; minute < 12; minute++) {
    // From minute 4 to minute 8, a writer holds the horizon back.
    if (minute === 4) await waiting.query('begin; select pg_current_xact_id()');
    if (minute === 8) await waiting.query('commit');
    await prune(db, hour);
    await run(`update tidemark.heartbeat set at = at - interval '12 minutes'`);
    ages.push(await client());
    await run('update t set n = n + 1 where id = 1');
    const { rows } = await run('select horizon::text from tidemark.meta');
    for (const one of ages) {
      const { snapshot } = one.cookie as { snapshot: string };
      const isValid = BigInt(snapshot.split(':')[0]!) >= BigInt(rows[0].horizon);
      const { patch } = await server.pull(one.cookie);
      expect([minute, patch[0]!.op]).toEqual([minute, isValid ? 'put' : 'clear']);
    }
  }
  expect(await count('heartbeat')).toBeLessThan(10);
  await waiting.end();
});

it('prune deletes changes in batches, together with their heartbeats', async () => {
  await run(`insert into t select i, i from generate_series(10, 25010) i;
    insert into tidemark.heartbeat (at, oldest_xid, xid)
      select now() - make_interval(days => n), '3', (3 + n)::text::xid8 from generate_series(1, 10) n`);
  expect(await prune(db, 0)).toBe(25_001);
  expect(await count('change')).toBe(0);
  // The newest heartbeat below the horizon, which a cookie may name, and the one that has just been written.
  expect(await count('heartbeat')).toBe(2);
  expect(await prune(db, 0)).toBe(0);
});

/** The number of rows in the log, and its size according to the heartbeats above the horizon. */
async function measured(): Promise<{ bytes: number; rows: number }> {
  const { rows } =
    await run(`select coalesce(sum(bytes), 0)::float8 as bytes, (select count(*)::int from tidemark.change) as rows
    from tidemark.heartbeat where oldest_xid > (select horizon from tidemark.meta)`);
  return rows[0];
}

it('prune estimates how large the log is on disk', async () => {
  await run(`alter table t add column note text; insert into t select i, i, repeat('x', i % 200) from generate_series(10, 20009) i;
    update t set n = n + 1`);
  await prune(db, hour);
  const { bytes, rows } = await measured();
  expect(rows).toBe(40_002);
  const { rows: sizes } = await run(`select pg_total_relation_size('tidemark.change')::float8 as size`);
  expect(bytes / sizes[0].size).toBeGreaterThan(0.8);
  expect(bytes / sizes[0].size).toBeLessThan(1.25);
});

it('prune measures each change once, with any number of servers and a transaction that stays open', async () => {
  const writer = new pg.Client({ connectionString: database.url });
  await writer.connect();
  await writer.query('begin; update t set n = 77 where id = 1');
  await run('update t set n = n + 1 where id = 2');
  await Promise.all([1, 2, 3].map(() => prune(db, hour)));
  expect((await measured()).bytes).toBe(0);
  await writer.query('commit');
  await writer.end();
  await Promise.all([1, 2, 3].map(() => prune(db, hour)));
  const { bytes } = await measured();
  const { rows } = await run(
    'select sum(80 + pg_column_size(key) + pg_column_size(old))::float8 as bytes from tidemark.change',
  );
  expect(bytes).toBe(rows[0].bytes);
});

it('prune measures a log that an older version has written', async () => {
  await run('update t set n = n + 1');
  await prune(db, hour);
  const { bytes } = await measured();
  await run('update tidemark.heartbeat set bytes = null');
  await prune(db, hour);
  expect(bytes).toBeGreaterThan(160);
  expect((await measured()).bytes).toBe(bytes);
});

it('prune keeps at most the given number of bytes, and resets only the cookies that need more', async () => {
  await run(`alter table t add column note text default repeat('x', 900)`);
  const limit = 4500;
  const clients: SyncClient[] = [];
  for (let minute = 0; minute < 12; minute++) {
    clients.push(await client());
    await run('update t set n = n + 1 where id = 1');
    await prune(db, hour, limit);
    expect((await measured()).bytes).toBeLessThan(limit);
  }
  // Each change takes about a kilobyte.
  expect(await count('change')).toBe(4);
  for (const [i, one] of clients.entries()) {
    const { patch } = await one.pull();
    expect([i, patch[0]!.op]).toEqual([i, i < 8 ? 'clear' : 'put']);
    expect(one.held()).toEqual(await fullRead(server));
  }
});

it('prune lets a pull renew the cookie of a client without changes once half of the bytes are logged', async () => {
  const quiet = await client();
  const { cookie: first } = await quiet.pull();
  await run(`insert into tidemark.client_group values ('other', 'bob')`);
  const mutations = (client: string) =>
    run(
      `insert into tidemark.client select '${client}' || n, 'other', 1, pg_current_xact_id() from generate_series(1, 99) n`,
    );
  await mutations('a');
  await prune(db, hour, 1e6);
  expect((await quiet.pull()).cookie).toEqual(first);

  const { bytes } = await measured();
  await mutations('b');
  expect(await prune(db, hour, 3 * bytes)).toBe(0);
  const renewed = await quiet.pull();
  expect(renewed.cookie).not.toEqual(first);
  expect(renewed.patch).toEqual([]);
  expect(await prune(db, hour, 1.5 * bytes)).toBe(99);
  await run('update t set n = 7 where id = 1');
  expect((await quiet.pull()).patch).toEqual([{ op: 'put', key: '1', value: { id: 1, n: 7 } }]);
});

it('prune runs on several servers at the same time', async () => {
  await run('update t set n = n + 1');
  const counts = await Promise.all([1, 2, 3].map(() => prune(db, 0)));
  expect(counts.reduce((sum, n) => sum + n)).toBe(2);
});

it('prune deletes nothing that a concurrent pull needs', async () => {
  await run('insert into t select i, 0 from generate_series(3, 20) i');
  const clients = await Promise.all([1, 2, 3].map(() => client()));
  const until = Date.now() + 3000;
  const repeat = async (work: () => Promise<unknown>) => {
    while (Date.now() < until) await work();
  };
  await Promise.all([
    repeat(() => run(`begin; update t set n = n + 1 where id = 1 + random() * 19; commit`)),
    repeat(() =>
      run(
        `begin; update t set n = n + 1 where id = ${1 + Math.floor(Math.random() * 20)}; select pg_sleep(0.03); commit`,
      ),
    ),
    repeat(() => prune(db, 0)),
    ...clients.map((one) => repeat(() => one.pull())),
  ]);
  for (const one of clients) {
    await one.pull();
    expect(one.held()).toEqual(await fullRead(server));
  }
  expect(server.lines.lines.filter((line) => line.level === 'error')).toEqual([]);
});
