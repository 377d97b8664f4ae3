/** Statements through a pooler that lends each transaction one of two connections, without named statements. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { NamedStatements } from '../../../packages/tidemark/src/db/poolers/named-statements.js';
import { createEmptyDatabase, createPool, type TestDatabase } from '../../support/database.js';
import { type PgBouncer, pgbouncerIsMissing, startPgBouncer } from '../../support/pgbouncer.js';

describe.skipIf(pgbouncerIsMissing)('through pgbouncer', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    pooler = await startPgBouncer(database.url, { size: 2 });
  });
  afterAll(async () => {
    await pooler.stop();
    await database.drop();
  });

  /** A pool like Tidemark's own, and the number of its connections that were closed. */
  function open(max = 5) {
    const pool = createPool(pooler.url, max);
    const log = { info: vi.fn(), warn: vi.fn() };
    const onRemoved = vi.fn();
    pool.on('remove', onRemoved);
    onTestFinished(() => pool.end());
    return { db: openPool(pool, { log }), log, onRemoved };
  }

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client(pooler.url);
    client.on('error', () => {});
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  }

  it('the server detects once that names are unusable, and loses no request and no connection', async () => {
    const { db, log, onRemoved } = open();
    const ask = async (n: number) => {
      const statement = { name: 'number', text: 'select $1::int as n', values: [n] };
      const read = n % 3 > 0 ? db.query<{ n: number }> : undefined;
      const [row] = read ? await read(statement) : await db.inSnapshot((query) => query<{ n: number }>(statement));
      return row!.n;
    };
    const numbers = Array.from({ length: 300 }, (_, n) => n);
    expect(await Promise.all(numbers.map(ask))).toEqual(numbers);
    expect(log.info).toHaveBeenCalledOnce();
    expect(onRemoved).not.toHaveBeenCalled();
    const { rows } = await database.pool.query(
      'select count(*)::int as backends from pg_stat_activity where datname = $1',
      [new URL(database.url).pathname.slice(1)],
    );
    expect(pooler.logged(/closing because: (?!client close request)/)).toEqual([]);
    expect(rows[0].backends).toBeLessThanOrEqual(3);
  });

  it('two versions never run each other’s statements', async () => {
    const [older, newer] = [open(1).db, open(1).db];
    const version = (db: typeof older, text: string) =>
      db.query<{ version: string; pid: number }>({
        name: 'version',
        text: `select '${text}' as version, pg_backend_pid() as pid`,
      });
    const holders = [await connect(), await connect()];
    const hold = async (holder: pg.Client) => {
      const { rows } = await holder
        .query<{ pid: number }>('begin; select 1')
        .then(() => holder.query('select pg_backend_pid() as pid'));
      return rows[0]!.pid;
    };
    // Each prepares its statement on a connection of its own.
    const pids = [await hold(holders[0]!), await hold(holders[1]!)] as const;
    await holders[0]!.query('commit');
    expect(await version(older, 'older')).toEqual([{ version: 'older', pid: pids[0] }]);
    await hold(holders[0]!);
    await holders[1]!.query('commit');
    expect(await version(newer, 'newer')).toEqual([{ version: 'newer', pid: pids[1] }]);
    // Then each uses the other's connection.
    expect(await version(older, 'older')).toEqual([{ version: 'older', pid: pids[1] }]);
    await holders[0]!.query('commit');
  });

  const running = async () =>
    (
      await database.pool.query(
        `select from pg_stat_activity where state = 'active' and query like '%pg_sleep(2%' and pid <> pg_backend_pid()`,
      )
    ).rowCount;
  const limits = { statementMs: 200, transactionMs: 200, lockMs: 200 };

  it.each<[what: string, run: (db: ReturnType<typeof openPool>) => Promise<unknown>]>([
    ['a statement', (db) => db.query({ text: 'select pg_sleep(20)' })],
    ['a transaction', (db) => db.transact((client) => client.query('select pg_sleep(21)'))],
    ['a COPY', (db) => db.copy('copy (select pg_sleep(22)) to stdout')[Symbol.asyncIterator]().next()],
    [
      'a statement with an aborted signal',
      (db) => db.query({ text: 'select pg_sleep(23)', signal: AbortSignal.timeout(200), timeoutMs: 20_000 }),
    ],
  ])('%s that is abandoned does not continue behind the pooler', async (_what, run) => {
    const db = openPool(pooler.url, { max: 2, limits });
    onTestFinished(() => db.close());
    const outcome = run(db);
    outcome.catch(() => {});
    await vi.waitFor(async () => expect(await running()).toBe(1), { interval: 5 });
    await expect(outcome).rejects.toThrow();
    await vi.waitFor(async () => expect(await running()).toBe(0), { timeout: 5_000 });
    expect(await db.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
  });

  it('an interrupted description does not disturb others, and completed ones leave nothing', async () => {
    const { db } = open();
    const client = await connect();
    await client.query('prepare tidemark_described as select 1');
    const describes = Array.from({ length: 20 }, () => db.describe('select $1::uuid'));
    for (const { parameterTypes } of await Promise.all(describes)) expect(parameterTypes).toEqual(['pg_catalog.uuid']);
    await client.query('deallocate all');
    const text = `select name from pg_prepared_statements where name like 'tidemark_described%'`;
    expect(await db.query({ text })).toEqual([]);
  });
});

describe('NamedStatements', () => {
  const failure = (code: string, severity = 'ERROR') => Object.assign(new Error('x'), { code, severity });

  it.each([
    ['26000', 'ERROR'],
    ['42P05', 'ERROR'],
    ['08P01', 'ERROR'],
    // As Supavisor sends it, which then closes the connection.
    ['42P05', 'FATAL'],
  ])('names no more statements after the error %s (%s)', (code, severity) => {
    const log = { info: vi.fn() };
    const names = new NamedStatements(log);
    expect(names.nameOf({ name: 'look', text: 'select 1' })).toMatch(/^look_[\w-]{16}$/);
    expect(names.areWhy(failure(code, severity))).toBe(true);
    expect(names.areWhy(failure(code, severity))).toBe(true);
    expect(names.nameOf({ name: 'look', text: 'select 1' })).toBeUndefined();
    expect(log.info).toHaveBeenCalledOnce();
  });

  it.each([
    ['0A000', 'ERROR', true],
    ['08P01', 'FATAL', false],
    ['57014', 'ERROR', false],
    ['57P01', 'FATAL', false],
  ])('continues to name statements after the error %s (%s)', (code, severity, isWhy) => {
    const log = { info: vi.fn() };
    const names = new NamedStatements(log);
    expect(names.areWhy(failure(code, severity))).toBe(isWhy);
    expect(names.nameOf({ name: 'look', text: 'select 1' })).toBeDefined();
    expect(log.info).not.toHaveBeenCalled();
  });

  it('derives names from the text, and gives none to statements without a name', () => {
    const names = new NamedStatements();
    const named = (text: string) => names.nameOf({ name: 'look', text });
    expect(named('select 1')).toBe(named('select 1'));
    expect(new Set([named('select 1'), named('select 2')]).size).toBe(2);
    expect(new NamedStatements().nameOf({ name: 'look', text: 'select 1' })).toBe(named('select 1'));
    expect(names.nameOf({ text: 'select 1' })).toBeUndefined();
  });
});
