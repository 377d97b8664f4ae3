/** Pulls of a server whose connections lead to several hosts, as behind a load balancer: some lag behind others. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { SeenTransactions } from '../../stress/oracle/snapshots.js';
import { silent } from '../../support/log.js';
import { type Replication, startReplication } from '../../support/replication.js';
import { fullRead, PullServer, SyncClient, tableView } from '../../support/synced.js';

const views = { item: tableView('item', 'id', 'item/'), part: tableView('part', 'id', 'part/') };
/** The delay with which the standby replays commits, in milliseconds. It replays locks immediately. */
const delayMs = 1_000;

let replication: Replication;
let writer: pg.Client;
let server: PullServer;
let onPrimary: PullServer;
let standby: ReturnType<typeof openPool>;

beforeAll(async () => {
  replication = await startReplication({ delays: [delayMs], waitsFor: 'nobody' });
  writer = new pg.Client(replication.primaryURL);
  await writer.connect();
  await writer.query(`
    create table item (id text primary key, n int);
    create table part (id int primary key) partition by range (id);
    create table low partition of part for values from (0) to (100);
    create table high (id int primary key)`);
  await migrate({ database: replication.primaryURL, views, log: silent });
  standby = openPool(replication.standbys[0]!.url, { max: 3 });
  // It reads the tables' schema from the primary, and everything else from the standby.
  server = new PullServer(replication.primaryURL, views, () => standby);
  onPrimary = new PullServer(replication.primaryURL, views);
}, 200_000);

beforeEach(async () => {
  await writer.query(`
    do $$ begin
      if not exists (select from pg_inherits where inhrelid = 'low'::regclass) then
        alter table part attach partition low for values from (0) to (100);
      end if;
    end $$;
    truncate item, part;
    insert into item select i::text, i from generate_series(1, 3) i;
    insert into part values (1), (2)`);
  await replication.caughtUp();
});

afterAll(async () => {
  await server.close();
  await onPrimary.close();
  await standby.close();
  await writer.end();
  await replication.stop();
});

it.each([
  'truncate item',
  'alter table item alter n type bigint',
  'truncate low',
  'insert into high values (150); lock part; alter table part attach partition high for values from (100) to (200)',
  'alter table part detach partition low',
])(
  'what a client has belongs to its cookie while the standby has yet to show "%s"',
  async (change) => {
    const client = new SyncClient(server);
    await client.pull();
    await writer.query(`update item set n = -1 where id = '1'; delete from part where id = 2`);
    await replication.caughtUp();
    const newcomer = new SyncClient(server);
    const before = await fullRead(onPrimary);
    await writer.query('begin');
    const { rows } = await writer.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
    await writer.query(`${change}; commit`);
    const after = await fullRead(onPrimary);
    // Both wait for the lock, which the standby has replayed, with a snapshot from before the change.
    await Promise.all([client.pull(), newcomer.pull()]);
    for (const one of [client, newcomer]) {
      const { snapshot } = one.cookie as { snapshot: string };
      const hasSeen = new SeenTransactions(snapshot).sees(BigInt(rows[0]!.xid));
      expect(one.held()).toEqual(hasSeen ? after : before);
    }
  },
  60_000,
);

it('no change is missed that was made before its table was captured, and that the standby shows after that', async () => {
  await writer.query(`create table fresh (id text primary key); insert into fresh values ('old')`);
  await replication.caughtUp();
  const fresh = { fresh: tableView('fresh') };
  const reading = new PullServer(replication.primaryURL, fresh, () => standby);
  const client = new SyncClient(reading);
  const [paused] = replication.standbys;
  await paused!.pause();
  await writer.query(`insert into fresh values ('new')`);
  await migrate({ database: replication.primaryURL, views: fresh, log: silent });
  await expect(client.pull()).rejects.toMatchObject({ code: 'unavailable' });
  await paused!.resume();
  await replication.caughtUp();
  await client.pull();
  expect(client.held()).toEqual({ new: { id: 'new' }, old: { id: 'old' } });
  await reading.close();
}, 60_000);
