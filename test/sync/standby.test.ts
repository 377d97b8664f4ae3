import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedDatabase, startEmbedded } from '../../src/db/embedded.js';
import { createSync, defineView, migrate, type Sync, sql } from '../../src/index.js';
import { memoryLog } from '../log.js';

const views = { item: defineView({ key: 'id', query: () => sql<{ id: string }>`select * from item` }) };

interface Pulled {
  readonly cookie: { readonly order: number; readonly snapshot: string };
  readonly patch: readonly { readonly op: string; readonly key: string }[];
}

let folder: string;
let primary: EmbeddedDatabase;
let standby: EmbeddedDatabase;
let writer: pg.Pool;
let onPrimary: Sync;
let onStandby: Sync;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-standby-'));
  const first = join(folder, 'primary');
  const second = join(folder, 'standby');
  primary = await startEmbedded({ directory: first, settings: { fsync: 'off' } });
  const setup = new pg.Client(primary.url);
  await setup.connect();
  await setup.query('create table item (id text primary key, n int)');
  await setup.end();
  await migrate({ database: primary.url, views });
  await primary.stop();
  appendFileSync(join(first, 'postgres', 'pg_hba.conf'), '\nhost replication all 127.0.0.1/32 scram-sha-256\n');

  execFileSync('cp', ['-a', first, second]);
  writeFileSync(join(second, 'postgres', 'standby.signal'), '');
  primary = await startEmbedded({ directory: first, settings: { fsync: 'off' } });
  standby = await startEmbedded({
    directory: second,
    port: await freePort(),
    settings: { fsync: 'off', primary_conninfo: primary.url.replace('/tidemark', '/') },
  });
  writer = new pg.Pool({ connectionString: primary.url });
  writer.on('error', () => {});
  const { log } = memoryLog();
  const options = { views, log, authenticate: () => ({ userID: 'ann' }) };
  onPrimary = await createSync({ ...options, database: primary.url });
  onStandby = await createSync({ ...options, database: standby.url });
});

afterAll(async () => {
  await onPrimary.close();
  await onStandby.close();
  await writer.end();
  await standby.stop();
  await primary.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function pull(sync: Sync, cookie: unknown): Promise<Pulled> {
  const body = { pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie };
  const response = await sync.fetch(
    new Request('http://localhost/sync/pull', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  );
  expect(response.status).toBe(200);
  return (await response.json()) as Pulled;
}

/** Waits until the standby has replayed all that the primary has written. */
async function caughtUp(): Promise<void> {
  const { rows } = await writer.query<{ lsn: string }>('select pg_current_wal_flush_lsn()::text as lsn');
  const reader = new pg.Client(standby.url);
  await reader.connect();
  try {
    await expect
      .poll(async () => {
        const sql = 'select pg_last_wal_replay_lsn() >= $1::pg_lsn as reached';
        return (await reader.query<{ reached: boolean }>(sql, [rows[0]!.lsn])).rows[0]!.reached;
      })
      .toBe(true);
  } finally {
    await reader.end();
  }
}

const keys = ({ patch }: Pulled) => patch.map((op) => `${op.op} ${op.key}`).sort();

describe('a pull from a hot standby', () => {
  it('shows rows of a transaction that was open when its cookie was made', async () => {
    await writer.query("insert into item values ('a', 1)");
    const slow = await writer.connect();
    await slow.query("begin; insert into item values ('slow', 1)");
    await writer.query("insert into item values ('b', 1)");
    await caughtUp();

    const first = await pull(onStandby, null);
    expect(keys(first)).toEqual(['put item/a', 'put item/b']);
    await slow.query('commit');
    slow.release();
    await caughtUp();

    const second = await pull(onStandby, first.cookie);
    expect(keys(second)).toContain('put item/slow');
    expect(second.cookie.order).toBeGreaterThan(first.cookie.order);
  });

  it('answers no change while it is behind the cookie, and goes on from there', async () => {
    const reader = new pg.Client(standby.url);
    await reader.connect();
    await reader.query('select pg_wal_replay_pause()');
    await writer.query("insert into item values ('c', 1)");
    const ahead = await pull(onPrimary, null);
    expect(keys(ahead)).toContain('put item/c');

    const behind = await pull(onStandby, ahead.cookie);
    expect(behind).toEqual({ cookie: ahead.cookie, lastMutationIDChanges: {}, patch: [] });

    await reader.query('select pg_wal_replay_resume()');
    await reader.end();
    await writer.query("insert into item values ('d', 1)");
    await caughtUp();
    const onward = await pull(onStandby, ahead.cookie);
    expect(keys(onward)).toContain('put item/d');
    expect(onward.cookie.order).toBeGreaterThan(ahead.cookie.order);
    const back = await pull(onPrimary, onward.cookie);
    expect(back.cookie.order).toBeGreaterThanOrEqual(onward.cookie.order);
  });
});
