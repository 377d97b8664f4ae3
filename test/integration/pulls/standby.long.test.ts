/** Pulls from hot standbys: what their cookies guarantee, and when standbys must not answer. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { parseSnapshot } from '../../../packages/tidemark/src/protocol/snapshot.js';
import { noAuditLog } from '../../../packages/tidemark/src/store/audit-log.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import { SeenGroups } from '../../../packages/tidemark/src/store/seen-groups.js';
import { Upkeep } from '../../../packages/tidemark/src/store/upkeep.js';
import { silent } from '../../support/log.js';
import { type Replication, type Standby, startReplication } from '../../support/replication.js';
import { fullRead, PullServer, SyncClient, tableView, wholeTable } from '../../support/synced.js';

const views = wholeTable('item');
const hour = 3600;

let replication: Replication;
let standby: Standby;
let other: Standby;
let writer: pg.Client;
/** A connection that inspects `standby`. */
let inspector: pg.Client;
let onPrimary: PullServer;
let onStandby: PullServer;
let onOther: PullServer;
/** Transactions that a test leaves open. */
let open: pg.Client[] = [];

beforeAll(async () => {
  replication = await startReplication({ delays: [0, 0], waitsFor: 'nobody' });
  [standby, other] = replication.standbys as [Standby, Standby];
  writer = await connect();
  inspector = await connect(standby.url);
  await writer.query('create table item (id text primary key, n int); create table unseen (id text)');
  await migrate({ database: replication.primaryURL, views, log: silent });
  await replication.caughtUp();
  onPrimary = new PullServer(replication.primaryURL, views);
  onStandby = new PullServer(standby.url, views);
  onOther = new PullServer(other.url, views);
}, 200_000);

afterAll(async () => {
  for (const one of [onPrimary, onStandby, onOther, writer, inspector]) {
    (await one) && ('end' in one ? one.end() : one.close());
  }
  await replication.stop();
});

beforeEach(async () => {
  await writer.query('delete from item; delete from tidemark.client; delete from tidemark.client_group');
  await replication.caughtUp();
});

afterEach(async () => {
  await writer.query(`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`);
  for (const one of open) await one.end();
  open = [];
  await standby.resume();
  await other.resume();
});

async function connect(url = replication.primaryURL): Promise<pg.Client> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Runs a statement in a transaction that stays open. */
async function begin(statement = 'select pg_current_xact_id()'): Promise<pg.Client> {
  const client = await connect();
  open.push(client);
  await client.query(`begin; ${statement}`);
  return client;
}

/**
 * Commits a statement so that standbys replay it, but the primary does not show it, because the commit waits for a
 * standby that does not exist.
 * @returns a function that ends the wait
 */
async function commitHiddenOnPrimary(statement: string): Promise<() => Promise<void>> {
  const client = await begin(`set local synchronous_commit = 'on'; ${statement}`);
  const pid = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;
  const committed = client.query('commit');
  const isWaiting = `select from pg_stat_activity where pid = $1 and wait_event = 'SyncRep'`;
  await expect.poll(async () => (await writer.query(isWaiting, [pid])).rowCount, { timeout: 10_000 }).toBe(1);
  return async () => {
    await writer.query('select pg_cancel_backend($1)', [pid]);
    await committed;
  };
}

async function run(...statements: readonly string[]): Promise<void> {
  for (const statement of statements) await writer.query(statement);
  await replication.caughtUp();
}

/** Changes something that the views do not show. */
const elsewhere = () => run(`insert into unseen values ('x')`);
const put = (id: string, n = 1) => `insert into item values ('${id}', ${n}) on conflict (id) do update set n = ${n}`;
const del = (id: string) => `delete from item where id = '${id}'`;
const mutation = (n: number) => `
  insert into tidemark.client_group values ('group', 'ada') on conflict do nothing;
  insert into tidemark.client values ('c', 'group', ${n}, pg_current_xact_id())
  on conflict (id) do update set last_mutation_id = ${n}, xid = pg_current_xact_id()`;

const keys = (client: SyncClient) => [...client.rows.keys()].sort();
const cookieOf = (client: SyncClient) => client.cookie as { order: number; snapshot: string };

async function startClient(server = onStandby): Promise<SyncClient> {
  const client = new SyncClient(server);
  await client.pull();
  return client;
}

async function expectUnchanged(client: SyncClient, server: PullServer): Promise<void> {
  const { cookie } = client;
  expect(await client.pull(server)).toEqual({ cookie, lastMutationIDChanges: {}, patch: [] });
}

/** After all transactions have ended and been replayed, all servers and the client agree. */
async function expectConverged(client: SyncClient): Promise<void> {
  await elsewhere();
  for (const server of [onStandby, onOther, onPrimary]) {
    const { order } = cookieOf(client);
    await client.pull(server);
    expect(cookieOf(client).order).toBeGreaterThanOrEqual(order);
    expect(client.held()).toEqual(await fullRead(server));
  }
}

it('a row that changes and changes back during a long transaction is sent again', async () => {
  await run(put('a', 1));
  await begin();
  await run(put('a', 2));
  const client = await startClient();
  await run(put('a', 1));
  await client.pull();
  expect(client.held()).toEqual({ a: { id: 'a', n: 1 } });
});

describe('during a long transaction', () => {
  beforeEach(async () => {
    await begin();
    await elsewhere();
  });

  it('a row that is inserted and deleted again leaves the client', async () => {
    await run(put('a'));
    const client = await startClient();
    expect(keys(client)).toEqual(['a']);
    await run(del('a'));
    await client.pull();
    expect(keys(client)).toEqual([]);
  });

  it('a transaction that was open at the previous pull is sent if it commits, not if it rolls back', async () => {
    const [slow, undone] = [await begin(put('slow')), await begin(put('undone'))];
    await run(put('quick'));
    const client = await startClient();
    expect(keys(client)).toEqual(['quick']);
    await slow.query('commit');
    await undone.query('rollback');
    await elsewhere();
    const { order } = cookieOf(client);
    expect((await client.pull()).patch.map((op) => op.op)).toEqual(['put']);
    expect(keys(client)).toEqual(['quick', 'slow']);
    expect(cookieOf(client).order).toBeGreaterThan(order);
  });

  it('nothing is sent twice, by any server', async () => {
    await run(put('a'), mutation(1));
    const client = new SyncClient(onStandby);
    expect((await client.pull()).lastMutationIDChanges).toEqual({ c: 1 });
    await elsewhere();
    for (const server of [onStandby, onOther, onPrimary]) await expectUnchanged(client, server);
    await run(mutation(2));
    expect((await client.pull()).lastMutationIDChanges).toEqual({ c: 2 });
    for (const server of [onStandby, onOther]) await expectUnchanged(client, server);
  });

  it('a standby continues a cookie of the primary if it shows every change in it', async () => {
    const slow = await begin(put('slow'));
    // Of the later transactions that the cookie has seen end, none has left anything.
    await elsewhere();
    const client = await startClient(onPrimary);
    await slow.query('commit');
    await replication.caughtUp();
    await client.pull(onStandby);
    expect(keys(client)).toEqual(['slow']);
    await run(del('slow'));
    await client.pull(onStandby);
    expect(keys(client)).toEqual([]);
  });

  it('a heartbeat shortens the list of unseen transactions in the cookie', async () => {
    for (const n of [1, 2, 3]) {
      await run(put('a', n));
      await elsewhere();
    }
    const unseenBy = (client: SyncClient) => parseSnapshot(cookieOf(client).snapshot)!.unseen.length;
    const before = await startClient();
    expect(unseenBy(before)).toBe(4);
    const slow = await begin(put('slow'));
    const db = openPool(replication.primaryURL, { max: 1 });
    await prune(db, hour);
    await db.close();
    await run(put('a', 4));
    const after = await startClient();
    // The long transaction, and the slow one and the heartbeat itself, whose IDs are consecutive and form one range.
    expect(unseenBy(after)).toBe(2);
    await slow.query('commit');
    await run(del('a'));
    for (const client of [before, after]) {
      await client.pull();
      expect(keys(client)).toEqual(['slow']);
    }
  });

  it('a standby responds 503 until the next heartbeat if too much has happened', async () => {
    const client = await startClient();
    await run(`insert into item select n, n from generate_series(1, 50000) n`, 'delete from item');
    const refusal = { code: 'unavailable', message: expect.stringContaining('ask a server on the primary') };
    await expect(client.pull()).rejects.toMatchObject(refusal);
    await expect(startClient()).rejects.toMatchObject(refusal);
    await client.pull(onPrimary);
    await expect(client.pull()).rejects.toMatchObject(refusal);
    const db = openPool(replication.primaryURL, { max: 1 });
    await prune(db, hour);
    await db.close();
    await run(put('a'));
    await client.pull();
    expect(keys(client)).toEqual(['a']);
    expect(keys(await startClient())).toEqual(['a']);
  });
});

describe('a standby that is behind', () => {
  it('responds with no change, and continues from there', async () => {
    await standby.pause();
    await writer.query(put('c'));
    const client = await startClient(onPrimary);
    await expectUnchanged(client, onStandby);

    await standby.resume();
    await run(put('d'), del('c'));
    await client.pull(onStandby);
    expect(keys(client)).toEqual(['d']);
    await expectConverged(client);
  });

  /**
   * On the primary, `t` has ended and `k` has not. The standby has seen the end of `k`, which is the younger, but not
   * the end of `t`.
   */
  async function crossed(): Promise<() => Promise<void>> {
    const t = await begin(put('t'));
    const release = await commitHiddenOnPrimary(put('k'));
    await expect.poll(async () => (await inspector.query(`select from item where id = 'k'`)).rowCount).toBe(1);
    await standby.pause();
    await t.query('commit');
    return release;
  }

  it('detects that it is behind although it has seen later transactions', async () => {
    const release = await crossed();
    const client = await startClient(onPrimary);
    expect(keys(client)).toEqual(['t']);
    const { xmax } = parseSnapshot(cookieOf(client).snapshot)!;
    const { rows } = await inspector.query('select pg_snapshot_xmax(pg_current_snapshot())::text as xmax');
    expect(BigInt(rows[0].xmax)).toBeGreaterThan(xmax);
    await expectUnchanged(client, onStandby);
    await standby.resume();
    await release();
    await run(del('t'));
    await expectConverged(client);
  });

  it('sends no wrong delta if a load balancer has sent the poll to another standby', async () => {
    const release = await crossed();
    const client = await startClient(onPrimary);
    const behind = openPool(standby.url, { max: 1 });
    const balanced = new PullServer(other.url, views, (db) => ({
      ...db,
      query: (statement) => (statement.name?.startsWith('tidemark_delta') ? behind : db).query(statement),
      copy: (text) => behind.copy(text),
    }));
    await expect.poll(async () => keys(await startClient(onOther))).toEqual(['k', 't']);
    await expectUnchanged(client, balanced);
    await standby.resume();
    await release();
    await run(del('t'));
    await client.pull(balanced);
    expect(keys(client)).toEqual(['k']);
    await expectConverged(client);
    await balanced.close();
    await behind.close();
  });

  it('reports nothing to a client that it does not know', async () => {
    await standby.pause();
    await writer.query(put('c'));
    const client = await startClient(onPrimary);
    const { cookie } = client;
    const named = (lastMutationID: number) => ({ client: { id: 'new', lastMutationID } });
    const unchanged = { cookie, lastMutationIDChanges: {}, patch: [] };
    expect(await onStandby.pull(cookie, named(0))).toEqual(unchanged);
    expect(await onStandby.pull(cookie, named(1))).toEqual(unchanged);
    await expect(onStandby.pull(null, named(1))).rejects.toMatchObject({ code: 'unavailable' });
    await expect(onPrimary.pull(cookie, named(1))).rejects.toMatchObject({ code: 'client-record-lost' });
  });

  it('does not take back reported mutation IDs, even with a reset', async () => {
    const renamed = new PullServer(standby.url, wholeTable('item', 'n'));
    await run(mutation(1), put('a', 5));
    await standby.pause();
    await writer.query(mutation(2));
    const client = await startClient(onPrimary);
    await expectUnchanged(client, renamed);
    await standby.resume();
    await replication.caughtUp();
    const { patch, lastMutationIDChanges } = await client.pull(renamed);
    expect(patch).toEqual([{ op: 'clear' }, { op: 'put', key: '5', value: { id: 'a', n: 5 } }]);
    expect(lastMutationIDChanges).toEqual({ c: 2 });
    await renamed.close();
  });
});

describe('a primary that is behind a standby', () => {
  it('responds with no change until it shows what the standby showed', async () => {
    await run(mutation(1), put('a'));
    const release = await commitHiddenOnPrimary(`${put('k')}; ${del('a')}; ${mutation(2)}`);
    await expect.poll(async () => keys(await startClient())).toEqual(['k']);
    const client = await startClient();
    await expectUnchanged(client, onPrimary);
    await elsewhere();
    await expectUnchanged(client, onPrimary);
    await release();
    await run(del('k'));
    await client.pull(onPrimary);
    expect(keys(client)).toEqual([]);
    await expectConverged(client);
  });
});

it('each refused mutation is sent once, by any server', async () => {
  const itemViews = { item: tableView('item', 'id', 'item/') };
  const hosts = [new PullServer(replication.primaryURL, itemViews), new PullServer(standby.url, itemViews)];
  let cookie: unknown = null;
  const patches: unknown[] = [];
  for (let id = 1; id <= 6; id++) {
    await writer.query(
      `insert into tidemark.refusal (user_id, profile_id, client_id, mutation_id, code)
       values ('ada', 'profile', 'c', $1, 'internal')`,
      [id],
    );
    await replication.caughtUp();
    const answer = await hosts[id % 2]!.pull(cookie, { refused: true });
    patches.push(answer.patch);
    cookie = answer.cookie;
  }
  const put = (id: number) => expect.objectContaining({ op: 'put', key: `tidemark/refused/c/${id}` });
  expect(patches).toEqual([1, 2, 3, 4, 5, 6].map((id) => [put(id)]));
  await writer.query('delete from tidemark.refusal');
  for (const host of hosts) await host.close();
});

it('a cookie includes a TRUNCATE that its pull waited for', async () => {
  await run(put('a'));
  await startClient();
  const truncating = await begin('truncate item');
  await elsewhere();
  const client = new SyncClient(onStandby);
  const answer = client.pull();
  const isWaiting = `select from pg_locks where relation = 'item'::regclass and not granted`;
  await expect.poll(async () => (await inspector.query(isWaiting)).rowCount, { timeout: 10_000 }).toBe(1);
  await truncating.query('commit');
  await answer;
  expect(keys(client)).toEqual([]);
  await expectUnchanged(client, onStandby);
});

it('a server on a standby leaves the upkeep of the records to the primary', async () => {
  const db = openPool(standby.url, { max: 1 });
  // A standby refuses all writes.
  const retention = { retentionSeconds: hour, retentionBytes: hour, clientRetentionSeconds: hour };
  await new Upkeep({ db, log: silent, seenGroups: new SeenGroups(), auditLog: noAuditLog, ...retention }).run();
  await db.close();
});

it('a promoted standby that had everything continues without a reset', async () => {
  await run(put('a'));
  const client = await startClient(onOther);
  const promoting = await connect(other.url);
  await promoting.query('select pg_promote()');
  await promoting.query(put('b'));
  await promoting.end();
  await client.pull(onOther);
  expect(keys(client)).toEqual(['a', 'b']);
  expect(onOther.lines.lines.flatMap(({ fields }) => fields.reason ?? [])).toEqual([]);
});
