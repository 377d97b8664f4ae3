/** Copies of a database that diverge: no client that moves from one to the other keeps rows of the first. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type EmbeddedDatabase, startEmbedded } from '../../../packages/embedded-postgres/src/start.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import { createEmptyDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { fullRead, PullServer, SyncClient, wholeTable } from '../../support/synced.js';

const ddl = 'create table t (id int primary key, n int); insert into t values (1, 1), (2, 2)';
const views = wholeTable('t');
const week = 7 * 24 * 3600;

async function run(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** Does what every server does once a minute. */
async function aMinutePasses(url: string): Promise<void> {
  const db = openPool(url, { max: 1 });
  await prune(db, week);
  await db.close();
}

/** Makes a client that has a cookie pull from a server that starts now. */
async function pullAt(url: string, client: { cookie: unknown; rows: Map<string, unknown> }) {
  const server = new PullServer(url, views);
  const here = Object.assign(new SyncClient(server), { cookie: client.cookie, rows: client.rows });
  try {
    const answer = await here.pull();
    client.cookie = here.cookie;
    expect(here.held()).toEqual(await fullRead(server));
    return answer;
  } finally {
    await server.close();
  }
}

const newcomer = () => ({ cookie: null as unknown, rows: new Map<string, unknown>() });
const orderOf = ({ cookie }: { cookie: unknown }) => (cookie as { order: number }).order;

describe('a copy within the cluster', () => {
  it('resets the client when it is swapped in by renaming, and when it is swapped out again', async () => {
    const original = await createEmptyDatabase();
    const { url } = original;
    const name = new URL(url).pathname.slice(1);
    const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
    await original.pool.end();
    await run(url, ddl);
    await migrate({ database: url, views, log: silent });
    await run(cluster, `create database ${name}_copy template ${name}`);
    const swap = (away: string, into: string) =>
      run(cluster, `alter database ${name} rename to ${away}`, `alter database ${into} rename to ${name}`);

    const client = newcomer();
    await pullAt(url, client);
    await swap(`${name}_first`, `${name}_copy`);
    await run(url, `insert into t values (3, 3); delete from t where id = 1`);
    const there = await pullAt(url, client);
    expect(there.patch[0]).toEqual({ op: 'clear' });
    await swap(`${name}_copy`, `${name}_first`);
    const back = await pullAt(url, client);
    expect(back.patch[0]).toEqual({ op: 'clear' });
    expect(orderOf(back)).toBeGreaterThan(orderOf(there));
    await run(cluster, `drop database ${name}`, `drop database ${name}_copy`);
  });

  it('leaves no row behind if a client pulls before the server detects the swap', async () => {
    const original = await createEmptyDatabase();
    const name = new URL(original.url).pathname.slice(1);
    const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
    await original.pool.end();
    await run(original.url, ddl);
    await migrate({ database: original.url, views, log: silent });
    await run(cluster, `create database ${name}_copy template ${name}`);
    vi.useFakeTimers({ toFake: ['performance'] });
    const server = new PullServer(original.url, views);
    const client = new SyncClient(server);
    // Until the server has detected that its connections are gone, it responds that it is unavailable.
    const pull = async () => {
      while (!(await client.pull().catch(({ code }) => expect(code).toBe('unavailable'))));
    };
    await pull();
    const swap = (away: string, into: string) =>
      run(
        cluster,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
        `alter database ${name} rename to ${away}`,
        `alter database ${into} rename to ${name}`,
      );
    await swap(`${name}_first`, `${name}_copy`);
    await run(original.url, 'insert into t values (3, 3)');
    await pull();
    await swap(`${name}_copy`, `${name}_first`);
    await pull();
    expect(client.held()).toEqual(await fullRead(server));
    vi.useRealTimers();
    await server.close();
    await run(cluster, `drop database ${name}`, `drop database ${name}_copy`);
  });
});

describe('two clusters with the same files', () => {
  let folder: string;
  const running: EmbeddedDatabase[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tidemark-clones-'));
  });

  afterEach(async () => {
    for (const database of running.splice(0)) await database.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startAt(name: string): Promise<EmbeddedDatabase> {
    const binaries = process.env.TIDEMARK_TEST_POSTGRES;
    const database = await startEmbedded({
      directory: join(folder, name),
      settings: { fsync: 'off' },
      ...(binaries && { binaries: fileURLToPath(new URL(`../../../node_modules/${binaries}`, import.meta.url)) }),
    });
    running.push(database);
    return database;
  }

  /** Two databases that are identical to the last byte. */
  async function startClones({
    haveHeartbeat,
  }: {
    haveHeartbeat: boolean;
  }): Promise<[EmbeddedDatabase, EmbeddedDatabase]> {
    const one = await startAt('one');
    await run(one.url, ddl);
    await migrate({ database: one.url, views, log: silent });
    if (haveHeartbeat) {
      // A server has run there, too, and has recorded the timeline.
      await pullAt(one.url, newcomer());
      await aMinutePasses(one.url);
    }
    await running.pop()!.stop();
    execFileSync('cp', ['-a', join(folder, 'one'), join(folder, 'other')]);
    return [await startAt('one'), await startAt('other')];
  }

  it('distinguish their cookies by heartbeats although transaction IDs repeat', async () => {
    const [one, other] = await startClones({ haveHeartbeat: true });
    const [client, quiet] = [newcomer(), newcomer()];
    await pullAt(one.url, quiet);
    await aMinutePasses(one.url);
    await run(one.url, 'insert into t values (3, 3)', 'delete from t where id = 1');
    const before = await pullAt(one.url, client);

    await aMinutePasses(other.url);
    await run(other.url, ...Array.from({ length: 20 }, () => 'update t set n = n + 1'));
    const after = await pullAt(other.url, client);
    expect(after.patch[0]).toEqual({ op: 'clear' });
    expect(orderOf(after)).toBeGreaterThan(orderOf(before));
    expect((await pullAt(other.url, client)).patch).toEqual([]);

    // A cookie with the common history of both databases is valid in both.
    expect((await pullAt(other.url, quiet)).patch.map(({ op }) => op)).toEqual(['put', 'put']);
    expect((await pullAt(one.url, client)).patch[0]).toEqual({ op: 'clear' });
  });

  it('distinguish their cookies even while one of them has no heartbeat', async () => {
    const [one, other] = await startClones({ haveHeartbeat: false });
    const client = newcomer();
    await aMinutePasses(one.url);
    await run(one.url, 'insert into t values (3, 3)');
    await pullAt(one.url, client);
    await run(other.url, ...Array.from({ length: 20 }, () => 'update t set n = n + 1'));
    expect((await pullAt(other.url, client)).patch[0]).toEqual({ op: 'clear' });
  });
});
