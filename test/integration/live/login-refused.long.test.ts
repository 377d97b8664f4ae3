import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import type { TestDatabase } from '../../support/database.js';
import { type LogLine, memoryLog } from '../../support/log.js';
import { createSynced, wholeTable } from '../../support/synced.js';

const role = `server_${randomUUID().replaceAll('-', '')}`;
const views = wholeTable('t');
let database: TestDatabase;
let cluster: pg.Client;
let name: string;
let sync: Sync;
let lines: LogLine[];

beforeAll(async () => {
  database = await createSynced('create table t (id int primary key)', views);
  name = new URL(database.url).pathname.slice(1);
  cluster = new pg.Client(process.env.TIDEMARK_TEST_CLUSTER);
  await cluster.connect();
  await database.pool.query(`
    create role ${role} login password 'x';
    grant usage on schema tidemark to ${role};
    grant all on all tables in schema tidemark, public to ${role}`);
  const url = Object.assign(new URL(database.url), { username: role, password: 'x' }).href;
  const log = memoryLog();
  lines = log.lines;
  sync = await createSync({ database: url, views, authenticate: () => ({ userID: 'ada' }), log: log.log });
});

afterAll(async () => {
  await sync.close();
  await database.pool.query(`drop owned by ${role}`);
  await database.drop();
  await cluster.query(`drop role ${role}`).finally(() => cluster.end());
});

const ask = (path: string, body?: object): Promise<Response> =>
  sync.fetch(
    new Request(`http://localhost${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    }),
  );
const pull = () =>
  ask('/sync/pull', { pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie: null });
const push = () =>
  ask('/sync/push', {
    ...{ pushVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '' },
    mutations: [{ id: 1, name: 'n', args: null, timestamp: 0, clientID: 'c' }],
  });

/** Ends all sessions of the database. Some changes, such as a new name, are impossible while a session exists. */
async function endSessions(): Promise<void> {
  const sessions = `select pid from pg_stat_activity where datname = '${name}'`;
  await cluster.query(`select pg_terminate_backend(pid) from (${sessions}) session`);
  await vi.waitFor(async () => expect((await cluster.query(sessions)).rowCount).toBe(0));
}

it.each([
  ['the role may not log in', 'alter role ROLE nologin', 'alter role ROLE login'],
  ['the password differs', `alter role ROLE password 'y'`, `alter role ROLE password 'x'`],
  [
    'the role may not connect to the database',
    'revoke connect on database NAME from public',
    'grant connect on database NAME to public',
  ],
  [
    'the database accepts no connections',
    'alter database NAME allow_connections false',
    'alter database NAME allow_connections true',
  ],
  ['the database has another name', 'alter database NAME rename to NAME_b', 'alter database NAME_b rename to NAME'],
])('requests are answered with 503 and Retry-After while %s', async (_, sql, undo) => {
  const run = (text: string) => cluster.query(text.replaceAll('ROLE', role).replaceAll('NAME', name));
  expect((await pull()).status).toBe(200);
  // The server may reconnect in between.
  const change = async () => {
    await endSessions();
    await run(sql);
    await endSessions();
  };
  await vi.waitFor(change);
  const statuses = new Set<number>();
  try {
    lines.length = 0;
    await vi.waitFor(async () => {
      const answers = [await pull(), await push(), await ask('/readyz')];
      for (const { status } of answers) statuses.add(status);
      expect(answers.map((answer) => [answer.status, answer.headers.get('Retry-After')])).toEqual(
        Array(3).fill([503, '1']),
      );
    });
    expect(statuses).not.toContain(500);
    expect(JSON.stringify(lines)).toContain('NotConnectedError');
  } finally {
    await run(undo);
  }
  await vi.waitFor(async () => expect((await pull()).status).toBe(200));
});

it.each(['t', 'tidemark.meta', 'tidemark.change', 'tidemark.client', 'tidemark.client_group', 'tidemark.heartbeat'])(
  'the server is not ready while its role may not read %s, and logs why',
  async (table) => {
    expect((await ask('/readyz')).status).toBe(200);
    await database.pool.query(`revoke select on ${table} from ${role}`);
    await vi.waitFor(async () => expect((await ask('/readyz')).status).toBe(503));
    const answer = await pull();
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '1']);
    expect(JSON.stringify(lines)).toMatch(/may not read|permission denied/);
    await database.pool.query(`grant select on ${table} to ${role}`);
    await vi.waitFor(async () => expect([(await ask('/readyz')).status, (await pull()).status]).toEqual([200, 200]));
  },
);
