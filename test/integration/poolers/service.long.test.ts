/** Everything that a server does, over a single Postgres connection, which pgbouncer lends per transaction. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { listenTo } from '../../../packages/tidemark/src/db/listen.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { examine } from '../../../packages/tidemark/src/doctor/examine.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import { createEmptyDatabase, createPool, type TestDatabase } from '../../support/database.js';
import { memoryLog, silent } from '../../support/log.js';
import { type PgBouncer, pgbouncerIsMissing, startPgBouncer } from '../../support/pgbouncer.js';
import { listenForPokes } from '../../support/poke-reader.js';
import { wholeTable } from '../../support/synced.js';

const views = wholeTable('note');
const write = defineMutator(async ({ tx, args, ctx }) => {
  await tx.query('insert into note values ($1, $2)', [(args as { id: string }).id, ctx.userID]);
});
const options = {
  views,
  mutators: defineMutators({ write }),
  authenticate: (request: Request) => ({ userID: request.headers.get('Authorization')!.replace('Bearer ', '') }),
};

describe.skipIf(pgbouncerIsMissing)('one connection', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;
  const servers: Sync[] = [];

  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.pool.query('create table note (id text primary key, owner_id text not null)');
    pooler = await startPgBouncer(database.url, { size: 1 });
    // Two migrations at the same time, as when several servers of a deployment migrate.
    const migrates = [1, 2].map(() => migrate({ database: pooler.url, views, pokes: { notify: true }, log: silent }));
    await Promise.all(migrates);
    for (let i = 0; i < 2; i++) {
      servers.push(await createSync({ ...options, database: pooler.url, log: memoryLog().log }));
    }
  });
  afterAll(async () => {
    for (const server of servers) await server.close();
    await pooler.stop();
    await database.drop();
  });

  const sendTo = (server: Sync) => (path: string, init: RequestInit) =>
    server.fetch(new Request(`http://localhost${path}`, init));
  const post = async (server: Sync, path: string, userID: string, body: object) => {
    const common = { profileID: 'p', clientGroupID: `group of ${userID}`, schemaVersion: '' };
    const response = await sendTo(server)(`/sync/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${userID}` },
      body: JSON.stringify({ ...common, ...body }),
    });
    return { status: response.status, body: await response.json() };
  };

  it('serves two servers and many users simultaneously', async () => {
    const users = Array.from({ length: 16 }, (_, i) => `user ${i}`);
    const rounds = 6;
    const work = users.map(async (userID, index) => {
      let cookie: unknown = null;
      const clientRows = new Map<string, unknown>();
      for (let id = 1; id <= rounds; id++) {
        const mutations = [{ id, name: 'write', args: { id: `${userID} ${id}` }, timestamp: 0, clientID: userID }];
        const pushed = await post(servers[(index + id) % 2]!, 'push', userID, { pushVersion: 1, mutations });
        expect(pushed.status).toBe(200);
        const pulled = await post(servers[id % 2]!, 'pull', userID, { pullVersion: 1, cookie });
        expect(pulled).toMatchObject({ status: 200, body: { lastMutationIDChanges: { [userID]: id } } });
        cookie = pulled.body.cookie;
        for (const { op, key, value } of pulled.body.patch) {
          if (op === 'put') clientRows.set(key, value);
          else clientRows.clear();
        }
        expect(clientRows.get(`${userID} ${id}`)).toEqual({ id: `${userID} ${id}`, owner_id: userID });
      }
    });
    await Promise.all(work);
    const { rows } = await database.pool.query('select count(*)::int as notes from note');
    expect(rows).toEqual([{ notes: users.length * rounds }]);
    const [backends] = await queryDirectly<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`,
    );
    expect(backends!.n).toBeLessThanOrEqual(2);
  });

  /** Bypasses the pooler. */
  async function queryDirectly<Row>(text: string): Promise<Row[]> {
    return (await database.pool.query(text)).rows as Row[];
  }

  it('serves pokes, and requests that wait for a change', async () => {
    const reader = await listenForPokes(sendTo(servers[0]!), { user: 'ben' });
    onTestFinished(() => reader.close());
    const first = await sendTo(servers[1]!)('/api/views/whole', { headers: { Authorization: 'Bearer ben' } });
    await first.text();
    const waiting = sendTo(servers[1]!)('/api/views/whole', {
      headers: { Authorization: 'Bearer ben', 'If-None-Match': first.headers.get('ETag')!, Prefer: 'wait=20' },
    });
    await database.pool.query(`insert into note values ('by psql', 'ben')`);
    await reader.poked(2);
    const answer = await waiting;
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('by psql');
  });

  it('suffices to examine the database and to prune the change log', async () => {
    const db = openPool(pooler.url, { max: 3 });
    onTestFinished(() => db.close());
    await prune(db, 3600);
    const { findings } = await examine(db, options, false);
    expect(findings.map(({ code }) => code)).toEqual(['fsync-off', 'superuser', 'capture-as-superuser']);
  });

  it('causes one warning if notifications do not arrive, and pokes arrive anyway', async () => {
    const { log, lines } = memoryLog();
    const server = await createSync({ ...options, database: pooler.url, pokes: { notify: true }, log });
    onTestFinished(() => server.close());
    const reader = await listenForPokes(sendTo(server), { user: 'cat' });
    onTestFinished(() => reader.close());
    const warnings = () => lines.filter(({ message }) => message.startsWith('Notifications of Postgres do not arrive'));
    await vi.waitFor(() => expect(warnings()).toHaveLength(1));
    await database.pool.query(`insert into note values ('unheard', 'cat')`);
    await reader.poked(2);
    expect(warnings()).toHaveLength(1);
  });
});

describe.skipIf(pgbouncerIsMissing)('notifications', () => {
  it('arrive through a pooler in session mode', async () => {
    const database = await createEmptyDatabase();
    onTestFinished(() => database.drop());
    const pooler = await startPgBouncer(database.url, { mode: 'session', size: 3 });
    onTestFinished(() => pooler.stop());
    const pool = createPool(pooler.url, 2);
    onTestFinished(() => pool.end());
    const [onNotice, onDeaf] = [vi.fn(), vi.fn()];
    onTestFinished(listenTo(pool, 'news', onNotice, onDeaf));
    await vi.waitFor(() => expect(onNotice).toHaveBeenCalledTimes(1));
    await database.pool.query('notify news');
    await vi.waitFor(() => expect(onNotice).toHaveBeenCalledTimes(2));
    expect(onDeaf).not.toHaveBeenCalled();
  });
});
