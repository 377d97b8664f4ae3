/**
 * After a crash, Postgres reuses the IDs of transactions that rolled back shortly before, because nothing of them was
 * on disk. Snapshots from before the crash have seen these transactions end.
 */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import { Random } from '../../stress/oracle/random.js';
import { Postgres } from '../../stress/torture/rig/postgres.js';
import { createPool } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { fullRead, PullServer, SyncClient, tableView } from '../../support/synced.js';
import { until } from '../conformance/client/client.js';

const rounds = 8;
/** Rounds in which an ID must be reused. On a slow machine, Postgres writes more IDs to disk before it crashes. */
const reusedRounds = 3;
const maxRounds = 60;
const recoveryTimeoutMs = 60_000;
const day = 24 * 60 * 60;
const views = { a: tableView('a', 'id', 'a/'), b: tableView('b', 'id', 'b/') };
/** A subset of the views. */
const fewerViews = { a: tableView('a', 'id', 'a/') };

let postgres: Postgres;
/** A single connection: once it works again, so does the database. */
let pool: pg.Pool;
beforeEach(async () => {
  postgres = await Postgres.start();
  pool = createPool(postgres.url, 1);
  await run('create table a (id int primary key, n int); create table b (id int primary key, n int)');
  await run('insert into a select n, 0 from generate_series(1, 3) n; insert into b select * from a');
  await migrate({ database: postgres.url, views, log: silent });
});
afterEach(async () => {
  await pool.end();
  await postgres.remove();
});

const run = (text: string) => pool.query(text);

/** Identifies the current run of the database; undefined while the database does not respond. */
async function currentRun(): Promise<string | undefined> {
  const text = 'select concat(pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time()) as run';
  const result = await run(text).catch(() => undefined);
  return result?.rows[0].run;
}

const crashes: Readonly<Record<string, () => Promise<void>>> = {
  async 'the database server is killed'() {
    await postgres.kill();
    await postgres.start();
  },
  async 'a session is killed, and the database server recovers automatically'() {
    const session = new pg.Client(postgres.url).on('error', () => {});
    await session.connect();
    const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
    process.kill(rows[0]!.pid, 'SIGKILL');
  },
};

/** Makes the database crash, and resolves when it is up again. */
async function crashBy(way: () => Promise<void>): Promise<void> {
  const before = await currentRun();
  await way();
  await until(async () => {
    const now = await currentRun();
    return now !== undefined && now !== before;
  }, recoveryTimeoutMs);
}

describe.each(Object.entries(crashes))('when %s', (_, way) => {
  const crash = () => crashBy(way);

  it.each([1, 2, 3])('no client misses a transaction that has the ID of an earlier one (seed %d)', async (seed) => {
    const random = new Random(seed);
    const server = new PullServer(postgres.url, views);
    const other = new PullServer(postgres.url, fewerViews);
    const clients = Array.from({ length: 6 }, (_, i) => new SyncClient(i % 3 === 0 ? other : server));
    const db = openPool(postgres.url);
    let reused = 0;
    try {
      for (let round = 0; round < rounds || reused < reusedRounds; round++) {
        expect(round).toBeLessThan(maxRounds);
        for (let i = random.between(0, 3); i > 0; i--) await commit(random);
        let last = 0n;
        for (let i = random.between(1, 4); i > 0; i--) last = await rollBack(random);
        if (random.chance(0.2)) await prune(db, day);
        for (const client of clients) if (random.chance(0.5)) await client.pull();
        await crash();
        const first = await commit(random);
        if (first <= last) reused++;
        for (let i = random.between(0, 4); i > 0; i--) await commit(random);
        for (const client of clients) {
          if (random.chance(0.3)) continue;
          await client.pull();
          expect(client.held()).toEqual(await fullRead(clients.indexOf(client) % 3 === 0 ? other : server));
        }
      }
    } finally {
      await Promise.all([server.close(), other.close(), db.close()]);
    }
  });

  it('a server detects that the database has another state than the one that it has cached', async () => {
    const random = new Random(4);
    const [server, other] = [new PullServer(postgres.url, views), new PullServer(postgres.url, views)];
    try {
      const client = new SyncClient(server);
      await client.pull();
      await rollBack(random);
      await client.pull();
      await crash();
      // By now, as many transactions have begun and ended as before the crash.
      await commit(random);
      await client.pull();
      expect(client.held()).toEqual(await fullRead(other));
    } finally {
      await Promise.all([server.close(), other.close()]);
    }
  });
});

const write = (random: Random) =>
  `update ${random.pick(['a', 'b'])} set n = n + 1 where id = ${random.between(1, 3)} returning pg_current_xact_id() as xid`;

async function commit(random: Random): Promise<bigint> {
  const { rows } = await run(write(random));
  return BigInt(rows[0].xid);
}

async function rollBack(random: Random): Promise<bigint> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query(write(random));
    await client.query('rollback');
    return BigInt(rows[0].xid);
  } finally {
    client.release();
  }
}
