/** Clients move from a primary to a promoted standby: which of them continue, and which are reset. */
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import type { Cookie } from '../../../packages/tidemark/src/protocol/cookie.js';
import { parseWalPosition } from '../../../packages/tidemark/src/protocol/history.js';
import { silent } from '../../support/log.js';
import { type Replication, type Standby, startReplication } from '../../support/replication.js';
import { connect } from '../../support/standby.js';
import { fullRead, type PullAnswer, PullServer, SyncClient, wholeTable } from '../../support/synced.js';
import { startAlone, write, writeHeartbeat } from './failing-over.js';

const views = wholeTable('item');

/** The databases, whose roles change from test to test. */
let replication: Replication;
let standby: Standby;
let other: Standby;
let writer: pg.Client;
let connections: pg.Client[];
let servers: PullServer[];

/** Starts a primary and standbys for the tests that follow. */
function useReplication(count = 2): void {
  beforeAll(async () => {
    replication = await startReplication({ delays: Array(count).fill(0), waitsFor: '' });
    [standby, other] = replication.standbys as [Standby, Standby];
    [connections, servers] = [[], []];
    writer = await connectTo(replication.primaryURL);
    await writer.query('create table item (id text primary key, n int)');
    await migrate({ database: replication.primaryURL, views, log: silent });
    await writer.query(put('a'));
    await replication.caughtUp();
  }, 200_000);

  afterAll(async () => {
    for (const server of servers) await server.close();
    for (const connection of connections) await connection.end();
    await replication.stop();
  });
}

async function connectTo(url: string): Promise<pg.Client> {
  const connection = await connect(url);
  connections.push(connection);
  return connection;
}

function serverOn(url: string): PullServer {
  const server = new PullServer(url, views);
  servers.push(server);
  return server;
}

async function startClient(server: PullServer): Promise<SyncClient> {
  const client = new SyncClient(server);
  await client.pull();
  return client;
}

const put = (id: string, n = 1) => `insert into item values ('${id}', ${n}) on conflict (id) do update set n = ${n}`;
const mutation = (n: number) => `
  insert into tidemark.client_group values ('group', 'ada') on conflict do nothing;
  insert into tidemark.client values ('c', 'group', ${n}, pg_current_xact_id())
  on conflict (id) do update set last_mutation_id = ${n}, xid = pg_current_xact_id()`;

/** Pauses the primary's background writer. */
async function pauseBackgroundWriter(): Promise<() => void> {
  const sql = `select pid from pg_stat_activity where backend_type = 'background writer'`;
  const { pid } = (await writer.query<{ pid: number }>(sql)).rows[0]!;
  process.kill(pid, 'SIGSTOP');
  return () => void process.kill(pid, 'SIGCONT');
}

/** Pulls, and checks that the client then holds what the database has, and that its order has not decreased. */
async function pullFrom(client: SyncClient, server: PullServer): Promise<'reset' | 'continued'> {
  const before = client.cookie as Cookie;
  const answer: PullAnswer = await client.pull(server);
  const after = client.cookie as Cookie;
  expect(after.order).toBeGreaterThanOrEqual(before.order as number);
  expect(client.held()).toEqual(await fullRead(server));
  return answer.patch[0]?.op === 'clear' ? 'reset' : 'continued';
}

const walPositionOf = (client: SyncClient) => parseWalPosition((client.cookie as Cookie).walPosition!)!;
const timelineOf = (client: SyncClient) => walPositionOf(client).timeline;
const reasons = (server: PullServer) => server.lines.lines.flatMap(({ fields }) => fields.reason ?? []);

describe('promoting a standby that has everything while its primary continues', () => {
  useReplication();
  /** Two clients that have pulled from the primary before, and not since. */
  let idleClients: SyncClient[];

  it('resets no client, even if the standby assigns transaction IDs again', async () => {
    await writeHeartbeat(replication.primaryURL);
    const [onPrimary, onStandby, onOther] = [replication.primaryURL, standby.url, other.url].map(serverOn);
    const idle = await startClient(onPrimary!);
    await writer.query(put('b'));
    await replication.caughtUp();
    const resume = await pauseBackgroundWriter();
    // Their IDs are not in the write-ahead log, because only the background writer would write them there.
    for (const _ of Array(5)) {
      await (await connectTo(replication.primaryURL)).query('begin; select pg_current_xact_id()');
    }
    const clients = [idle, await startClient(onPrimary!), await startClient(onStandby!), await startClient(onOther!)];
    const { next } = clients[1]!.cookie as Cookie;
    idleClients = [await startClient(onPrimary!), await startClient(onPrimary!)];
    await replication.caughtUp();
    await standby.promote();
    resume();
    // At first, no server has recorded the new timeline.
    await write(standby.url, put('c'), put('d'), 'delete from item where id = $$a$$');
    const assigned = await connectTo(standby.url);
    const { rows } = await assigned.query('select pg_snapshot_xmax(pg_current_snapshot())::text as xmax');
    expect(BigInt(rows[0].xmax) - 2n).toBeLessThan(BigInt(next));
    const timelines = clients.map(timelineOf);
    for (const client of clients) expect(await pullFrom(client, onStandby!)).toBe('continued');
    expect(reasons(onStandby!)).toEqual([]);
    for (const client of clients) expect(timelines).not.toContain(timelineOf(client));
    await write(standby.url, put('e'));
    for (const client of clients) expect(await pullFrom(client, onStandby!)).toBe('continued');
  });

  it('resets clients that move from one history to the other', async () => {
    const [onPrimary, onStandby, onOther] = [replication.primaryURL, standby.url, other.url].map(serverOn);
    const [stays, changes] = idleClients;
    // The primary continues on its own, and so does its other standby.
    await writer.query(put('only there'));
    const ahead = await startClient(onPrimary!);
    await write(standby.url, put('only here'));
    expect(await pullFrom(ahead, onStandby!)).toBe('reset');
    expect(await pullFrom(changes!, onStandby!)).toBe('continued');
    await write(standby.url, put('more'));
    expect(await pullFrom(changes!, onStandby!)).toBe('continued');
    expect(await pullFrom(changes!, onPrimary!)).toBe('reset');
    expect(await pullFrom(stays!, onPrimary!)).toBe('continued');
    expect(reasons(onStandby!)).toEqual(['database']);

    // The promotion of another standby gives its timeline the same number.
    await replication.stopPrimary();
    const inspector = await connectTo(other.url);
    await expect.poll(async () => (await inspector.query('select from pg_stat_wal_receiver')).rowCount).toBe(0);
    // Without a WAL receiver, a change can be visible before it counts as replayed.
    const unsure = await startClient(onOther!);
    const { rows } = await inspector.query(`select (pg_last_wal_replay_lsn() - '0/0')::text as replayed`);
    expect(walPositionOf(unsure).lsn).toBe(BigInt(rows[0].replayed) + 16n * 1024n * 1024n);
    await other.promote();
    expect(await pullFrom(unsure, onOther!)).toBe('reset');
    const numbers = await Promise.all(
      [standby, other].map(async ({ url }) => {
        const connection = await connectTo(url);
        return (await connection.query('select tidemark.timeline_number() as number')).rows[0].number;
      }),
    );
    expect(numbers).toEqual([2, 2]);
    const onFirst = await startClient(onStandby!);
    expect(await pullFrom(onFirst, onOther!)).toBe('reset');
  });
});

describe('a promoted standby', () => {
  useReplication();

  it('relies only on the newest heartbeat after a crash', async () => {
    const onPrimary = serverOn(replication.primaryURL);
    const old = await startClient(onPrimary);
    await writeHeartbeat(replication.primaryURL);
    await writer.query(put('b'));
    const late = await startClient(onPrimary);
    await replication.caughtUp();
    await standby.promote();
    // What the standby wrote before the crash is not part of the previous timeline.
    await write(standby.url, put('c'), 'checkpoint', put('d'));
    await writeHeartbeat(standby.url);
    await standby.kill();
    const onStandby = serverOn(standby.url);
    expect(await pullFrom(late, onStandby)).toBe('reset');
    expect(await pullFrom(old, onStandby)).toBe('continued');
    expect(reasons(onStandby)).toEqual(['database']);
  });

  it('resets only clients that have seen what it lacks', async () => {
    await writeHeartbeat(replication.primaryURL);
    const onPrimary = serverOn(replication.primaryURL);
    await writer.query(mutation(1));
    const old = await startClient(onPrimary);
    await replication.caughtUp();
    await other.stop();
    await writer.query(`${put('lost')}; ${mutation(2)}`);
    const ahead = await startClient(onPrimary);
    await replication.stopPrimary();
    await startAlone(other);
    await other.promote();
    await write(other.url, put('a', 2));
    const onOther = serverOn(other.url);
    expect(await pullFrom(old, onOther)).toBe('continued');
    await expect(onOther.pull(ahead.cookie)).rejects.toThrow('ClientStateNotFound');
    // With another client group, the client starts over.
    const answer = await onOther.pull(ahead.cookie, { clientGroupID: 'another' });
    expect(answer.patch[0]).toEqual({ op: 'clear' });
    expect(new Set(reasons(onOther))).toEqual(new Set(['database']));
    expect(answer.patch.length - 1).toBe(old.rows.size);
  });
});

describe('a restored backup', () => {
  useReplication(1);

  it('resets clients that pulled something new after its newest heartbeat', async () => {
    const onPrimary = serverOn(replication.primaryURL);
    const [old, back] = [await startClient(onPrimary), await startClient(onPrimary)];
    await writeHeartbeat(replication.primaryURL);
    await writer.query(put('b'));
    const late = await startClient(onPrimary);
    await replication.caughtUp();
    await standby.restore(join(replication.dataDirectory, 'pg_wal'));
    await writer.query(put('lost'));
    const ahead = await startClient(onPrimary);
    await write(standby.url, put('c'));
    const restored = serverOn(standby.url);
    for (const client of [late, ahead]) expect(await pullFrom(client, restored)).toBe('reset');
    for (const client of [old, back]) expect(await pullFrom(client, restored)).toBe('continued');
    expect(await pullFrom(back, onPrimary)).toBe('reset');
  });
});

describe('a second promotion', () => {
  useReplication();

  it('resets no client, unless the timeline of the first one was never recorded', async () => {
    const onPrimary = serverOn(replication.primaryURL);
    const [first, idle] = [await startClient(onPrimary), await startClient(onPrimary)];
    await writeHeartbeat(replication.primaryURL);
    await writer.query(put('b'));
    const late = await startClient(onPrimary);
    await replication.caughtUp();
    await standby.promote();
    await write(standby.url, put('c'));
    expect(await pullFrom(first, serverOn(standby.url))).toBe('continued');
    await other.follow(standby);
    const { rows } = await (await connectTo(standby.url)).query('select pg_current_wal_flush_lsn()::text as lsn');
    await other.reaches(rows[0].lsn);
    const follows = await startClient(serverOn(other.url));
    await other.promote();
    await write(other.url, put('d'));
    const onOther = serverOn(other.url);
    const oldCookies = [idle.cookie, late.cookie];
    for (const client of [first, idle, late, follows]) expect(await pullFrom(client, onOther)).toBe('continued');
    [idle.cookie, late.cookie] = oldCookies;

    // As if no server had run on the second timeline.
    await write(other.url, 'delete from tidemark.timeline where number > 1');
    const others = serverOn(other.url);
    expect(await pullFrom(idle, others)).toBe('continued');
    expect(await pullFrom(late, others)).toBe('reset');
  });
});
