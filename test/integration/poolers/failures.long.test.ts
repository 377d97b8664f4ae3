/** Errors of the pooler itself: the server retries after temporary ones, and reports others immediately. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { untilReachable } from '../../../packages/tidemark/src/db/reachable.js';
import { isTransient } from '../../../packages/tidemark/src/db/sqlstate.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog, silent } from '../../support/log.js';
import { type PgBouncer, type PgBouncerOptions, pgbouncerIsMissing, startPgBouncer } from '../../support/pgbouncer.js';
import { wholeTable } from '../../support/synced.js';

const views = wholeTable('note');
const add = defineMutator(async ({ tx, args }) => {
  // A mutator's own prepared statement.
  await tx.query({ name: 'add', text: 'insert into note (id) values ($1)', values: [(args as { id: string }).id] });
});
const mutators = defineMutators({ add });
const authenticate = () => ({ userID: 'ann' });

describe.skipIf(pgbouncerIsMissing)('behind pgbouncer', () => {
  let database: TestDatabase;
  let pushes = 0;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.pool.query('create table note (id text primary key)');
    await migrate({ database: database.url, views, log: silent });
  });
  afterAll(() => database.drop());

  async function pool(options?: PgBouncerOptions): Promise<PgBouncer> {
    const pooler = await startPgBouncer(database.url, options);
    onTestFinished(() => pooler.stop());
    return pooler;
  }

  async function serve(url: string): Promise<Sync> {
    const sync = await createSync({ database: url, views, mutators, authenticate, log: memoryLog().log });
    onTestFinished(() => sync.close());
    return sync;
  }

  const post = async (sync: Sync, path: string, body: object) => {
    const common = { profileID: 'p', clientGroupID: 'g', schemaVersion: '' };
    const response = await sync.fetch(
      new Request(`http://localhost/sync/${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...common, ...body }),
      }),
    );
    await response.text();
    return response.status;
  };
  const push = (sync: Sync, id: number) =>
    post(sync, 'push', {
      pushVersion: 1,
      mutations: [{ id, name: 'add', args: { id: `n${id}` }, timestamp: 0, clientID: 'c' }],
    });
  const pull = (sync: Sync) => post(sync, 'pull', { pullVersion: 1, cookie: null });

  it('a long wait for a connection to Postgres is temporary, and no mutation is skipped', async () => {
    const pooler = await pool({ size: 1, settings: { query_wait_timeout: 1 } });
    const sync = await serve(pooler.url);
    expect(await push(sync, ++pushes)).toBe(200);
    await pooler.command('pause');
    expect(await Promise.all([push(sync, pushes + 1), pull(sync)])).toEqual([503, 503]);
    await pooler.command('resume');
    expect(await Promise.all([push(sync, ++pushes), pull(sync)])).toEqual([200, 200]);
    const { rows } = await database.pool.query(`select from note where id = 'n${pushes}'`);
    expect(rows).toHaveLength(1);
  });

  it('a restart of the pooler is only an interruption', async () => {
    const first = await pool();
    const sync = await serve(first.url);
    expect(await push(sync, ++pushes)).toBe(200);
    await first.stop('SIGTERM');
    expect(await Promise.all([push(sync, pushes + 1), pull(sync)])).toEqual([503, 503]);
    await pool({ port: Number(new URL(first.url).port) });
    expect(await Promise.all([push(sync, ++pushes), pull(sync)])).toEqual([200, 200]);
  });

  it('a killed connection to Postgres is temporary, so no mutation is skipped', async () => {
    const pooler = await pool({ size: 1 });
    const db = openPool(pooler.url, { max: 2 });
    onTestFinished(() => db.close());
    const kill = async (client: pg.PoolClient) => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      await database.pool.query('select pg_terminate_backend($1, 5000)', [rows[0]!.pid]);
      await client.query('select 1');
    };
    const failure = await db.transact(kill).catch((error: unknown) => error);
    expect(isTransient(failure)).toBe(true);
    expect(await db.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
  });

  it('a refusal because of too many clients is temporary', async () => {
    const pooler = await pool({ settings: { max_client_conn: 1 } });
    const [one, two] = [openPool(pooler.url, { max: 1 }), openPool(pooler.url, { max: 1 })];
    onTestFinished(async () => void (await Promise.all([one.close(), two.close()])));
    expect(await one.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
    const refused = await two.query({ text: 'select 1' }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: '08P01', message: expect.stringContaining('no more connections allowed') });
    expect(isTransient(refused)).toBe(true);
  });

  it('an unreachable Postgres is temporary', async () => {
    const nowhere = Object.assign(new URL(database.url), { port: '1' });
    const pooler = await startPgBouncer(nowhere.href, { settings: { server_login_retry: 1 } });
    onTestFinished(() => pooler.stop());
    const db = openPool(pooler.url, { max: 1, connectionTimeoutMs: 1_000 });
    onTestFinished(() => db.close());
    expect(isTransient(await db.query({ text: 'select 1' }).catch((error: unknown) => error))).toBe(true);
  });

  it.each<[what: string, change: Partial<URL>, says: RegExp]>([
    ['a wrong password', { password: 'wrong' }, /authentication failed.*Check the user and the password/],
    ['a database that does not exist', { pathname: '/none' }, /"none" does not exist.*Check the name/],
    [
      'an unknown startup parameter',
      { search: 'options=-c%20jit%3Doff' },
      /startup parameter: options.*ignore_startup/,
    ],
  ])('%s is reported immediately, without another attempt', async (_what, change, says) => {
    const pooler = await pool();
    const url = Object.assign(new URL(pooler.url), change).href;
    const onFailure = vi.fn();
    const failure = await untilReachable(url, 10_000, onFailure).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'SetupError', message: expect.stringMatching(says) });
    expect(onFailure).not.toHaveBeenCalled();
  });

  it('statement pooling is refused, with instructions', async () => {
    const { url } = await pool({ mode: 'statement' });
    const says = { name: 'SetupError', message: expect.stringContaining('pool_mode = transaction') };
    await expect(createSync({ database: url, views, mutators, authenticate, log: silent })).rejects.toMatchObject(says);
    await expect(migrate({ database: url, views, log: silent })).rejects.toMatchObject(says);
  });
});
