import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import { prune } from '../../../src/store/retention.js';
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
/** As if an hour had passed, for what a prune has noted so far. */
const anHourPasses = () => run(`update tidemark.tick set at = at - interval '1 hour 1 second'`);

it('keeps what is younger than the retention', async () => {
  const young = await client();
  await run('update t set n = n + 1');
  expect(await prune(db, hour)).toBe(0);
  expect(await prune(db, hour)).toBe(0);
  expect(await count('change')).toBe(2);
  expect((await young.pull()).patch).toHaveLength(2);
});

it('forgets disconnected users like other changes', async () => {
  await run(`select tidemark.disconnect('ann')`);
  expect(await prune(db, hour)).toBe(0);
  await anHourPasses();
  await run(`select tidemark.disconnect('ben')`);
  expect(await prune(db, hour)).toBe(1);
  expect((await run('select key from tidemark.change')).rows).toEqual([{ key: ['ben'] }]);
});

it('forgets what is older, and resets the cookies that would need it', async () => {
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

it('forgets nothing of a new installation because of a transaction that is older', async () => {
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

it('renews the cookie of a client to whom nothing happens', async () => {
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

it('holds back for a transaction that is open across the horizon', async () => {
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

it('does not reset a young cookie because a transaction has been open all the while', async () => {
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

it('keeps the change at the horizon itself: a cookie whose snapshot begins there may not have seen it', async () => {
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

it('keeps every tick that a good cookie names, and few others', async () => {
  const waiting = new pg.Client({ connectionString: database.url });
  await waiting.connect();
  const ages: SyncClient[] = [];
  for (let minute = 0; minute < 12; minute++) {
    // From the fourth minute on, a writer holds the horizon back until the eighth.
    if (minute === 4) await waiting.query('begin; select pg_current_xact_id()');
    if (minute === 8) await waiting.query('commit');
    await prune(db, hour);
    await run(`update tidemark.tick set at = at - interval '12 minutes'`);
    ages.push(await client());
    await run('update t set n = n + 1 where id = 1');
    const { rows } = await run('select horizon::text from tidemark.meta');
    for (const one of ages) {
      const { snapshot } = one.cookie as { snapshot: string };
      const isGood = BigInt(snapshot.split(':')[0]!) >= BigInt(rows[0].horizon);
      const { patch } = await server.pull(one.cookie);
      expect([minute, patch[0]!.op]).toEqual([minute, isGood ? 'put' : 'clear']);
    }
  }
  expect(await count('tick')).toBeLessThan(10);
  await waiting.end();
});

it('deletes in batches, and the ticks with them', async () => {
  await run(`insert into t select i, i from generate_series(10, 25010) i;
    insert into tidemark.tick (at, oldest_xid, xid)
      select now() - make_interval(days => n), '3', (3 + n)::text::xid8 from generate_series(1, 10) n`);
  expect(await prune(db, 0)).toBe(25_001);
  expect(await count('change')).toBe(0);
  // The newest below the horizon, which a cookie may name, and the one that has just been written.
  expect(await count('tick')).toBe(2);
  expect(await prune(db, 0)).toBe(0);
});

/** The rows that the log has, and what the ticks above the horizon say of their size. */
async function measured(): Promise<{ bytes: number; rows: number }> {
  const { rows } =
    await run(`select coalesce(sum(bytes), 0)::float8 as bytes, (select count(*)::int from tidemark.change) as rows
    from tidemark.tick where oldest_xid > (select horizon from tidemark.meta)`);
  return rows[0];
}

it('knows about how large the log is on disk', async () => {
  await run(`alter table t add column note text; insert into t select i, i, repeat('x', i % 200) from generate_series(10, 20009) i;
    update t set n = n + 1`);
  await prune(db, hour);
  const { bytes, rows } = await measured();
  expect(rows).toBe(40_002);
  const { rows: sizes } = await run(`select pg_total_relation_size('tidemark.change')::float8 as size`);
  expect(bytes / sizes[0].size).toBeGreaterThan(0.8);
  expect(bytes / sizes[0].size).toBeLessThan(1.25);
});

it('measures each change once, however many servers do, and however long its transaction is open', async () => {
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

it('measures a log that an older version has kept', async () => {
  await run('update t set n = n + 1');
  await prune(db, hour);
  const { bytes } = await measured();
  await run('update tidemark.tick set bytes = null');
  await prune(db, hour);
  expect(bytes).toBeGreaterThan(160);
  expect((await measured()).bytes).toBe(bytes);
});

it('keeps no more than so many bytes, and resets only the cookies that would need more', async () => {
  await run(`alter table t add column note text default repeat('x', 900)`);
  const limit = 4500;
  const clients: SyncClient[] = [];
  for (let minute = 0; minute < 12; minute++) {
    clients.push(await client());
    await run('update t set n = n + 1 where id = 1');
    await prune(db, hour, limit);
    expect((await measured()).bytes).toBeLessThan(limit);
  }
  // Each change is about a kilobyte.
  expect(await count('change')).toBe(4);
  for (const [i, one] of clients.entries()) {
    const { patch } = await one.pull();
    expect([i, patch[0]!.op]).toEqual([i, i < 8 ? 'clear' : 'put']);
    expect(one.held()).toEqual(await fullRead(server));
  }
});

it('renews the cookie of a client to whom nothing happens when half of the bytes are logged', async () => {
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

it('runs at the same time from several servers', async () => {
  await run('update t set n = n + 1');
  const counts = await Promise.all([1, 2, 3].map(() => prune(db, 0)));
  expect(counts.reduce((sum, n) => sum + n)).toBe(2);
});

it('takes nothing from a pull that runs meanwhile', async () => {
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
