import pg from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Database, Statement } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { SetupError } from '../../../packages/tidemark/src/errors.js';
import { migrate, uninstall } from '../../../packages/tidemark/src/migrate.js';
import { createSync } from '../../../packages/tidemark/src/server.js';
import { createPool, createTestDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openPool(database.url, { max: 4 });
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

const running = async (pattern: string) =>
  (await database.pool.query("select from pg_stat_activity where state = 'active' and query like $1", [pattern]))
    .rowCount;

it('a query is described without being run', async () => {
  const text = 'select $1::uuid as id, $2 || n as name from generate_series(1, $3 / 0) n where n = any ($4) -- end';
  const { parameterTypes, tree, offset } = await db.describe(text);
  expect(parameterTypes).toEqual(['pg_catalog.uuid', 'pg_catalog.text', 'pg_catalog.int4', 'pg_catalog._int4']);
  expect(tree).toMatch(/^\{QUERY/);
  expect(tree).toContain(`:location ${offset + text.indexOf('$4')}`);
  expect(await db.columns(text)).toEqual([
    { name: 'id', typeOID: 2950 },
    { name: 'name', typeOID: 25 },
  ]);
  // Nothing of it stays on the connection.
  for (let i = 0; i < 8; i++) await db.describe(text);
  await expect(db.describe('select $1')).resolves.toMatchObject({ parameterTypes: ['pg_catalog.text'] });
  await expect(db.describe("select $1 = 'a'::char(3)")).resolves.toMatchObject({
    parameterTypes: ['pg_catalog.bpchar'],
  });
  await expect(db.describe('select nothing')).rejects.toThrow('nothing');
  expect(await db.query({ text: 'select count(*)::int4 as n from pg_prepared_statements' })).toEqual([{ n: 0 }]);
  expect(await db.query({ text: 'show debug_print_parse' })).toEqual([{ debug_print_parse: 'off' }]);
});

it('a connection holds a bounded number of prepared statements', async () => {
  const single = openPool(database.url, { max: 1 });
  const text = 'select count(*)::int as count, pg_backend_pid() as pid from pg_prepared_statements';
  const seen: { count: number; pid: number }[] = [];
  for (let i = 0; i < 450; i++) {
    const query =
      i % 2 === 0 ? single.query : <Row>(statement: Statement) => single.inSnapshot((ask) => ask<Row>(statement));
    seen.push(...(await query<{ count: number; pid: number }>({ name: `statement ${i}`, text })));
  }
  expect(Math.max(...seen.map(({ count }) => count))).toBeLessThanOrEqual(201);
  expect(new Set(seen.map(({ pid }) => pid)).size).toBe(3);
  // A statement that runs again and again is prepared once.
  for (let i = 0; i < 450; i++) await single.query({ name: 'statement 449', text });
  const [last] = await single.query<{ pid: number }>({ name: 'statement 449', text });
  expect(last!.pid).toBe(seen.at(-1)!.pid);
  await single.close();
});

describe('query', () => {
  it('replaces a plan that no longer fits', async () => {
    await database.pool.query('create table changing (a int); insert into changing values (1)');
    const statement = { name: 'all_of_it', text: 'select * from changing' };
    await Promise.all(Array.from({ length: 4 }, () => db.query(statement)));
    await database.pool.query('alter table changing add b int');
    for (let i = 0; i < 8; i++) expect(await db.query(statement)).toEqual([{ a: 1, b: null }]);
  });

  it('fails when it takes too long, and its statement is cancelled', async () => {
    const slow = { text: 'select pg_sleep(20)', timeoutMs: 100 };
    const started = performance.now();
    await expect(db.query(slow)).rejects.toThrow('timeout');
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(await db.query({ text: 'select 1 as one', timeoutMs: 5_000 })).toEqual([{ one: 1 }]);
    await vi.waitFor(async () => expect(await running('select pg_sleep(20)')).toBe(0), { timeout: 5_000 });
  });

  it('is cancelled when its signal aborts, and later queries succeed', async () => {
    const client = new AbortController();
    const abandoned = db.query({ text: 'select pg_sleep(21)', signal: client.signal });
    await vi.waitFor(async () => expect(await running('select pg_sleep(21)')).toBe(1));
    client.abort();
    await expect(abandoned).rejects.toMatchObject({ code: '57014' });
    await expect(db.query({ text: 'select 1', signal: client.signal })).rejects.toThrow('Nobody waits');
    expect(await db.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
  });

  it('replaces a killed connection', async () => {
    await expect(db.query({ text: 'select pg_terminate_backend(pg_backend_pid())' })).rejects.toThrow();
    expect(await db.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
  });

  it('reports and replaces a connection that is killed while it is idle', async () => {
    const log = { info: vi.fn(), warn: vi.fn() };
    const other = openPool(database.url, { log });
    const [backend] = await other.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
    await database.pool.query('select pg_terminate_backend($1)', [backend?.pid]);
    await vi.waitFor(() => expect(log.warn).toHaveBeenCalledOnce());
    expect(await other.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
    await other.close();
  });

  it('does not report errors while a pool ends', async () => {
    const log = { info: vi.fn(), warn: vi.fn() };
    const pool = createPool(database.url, 1);
    openPool(pool, { log });
    const client = await pool.connect();
    const ended = pool.end();
    pool.emit('error', new Error('terminating connection'), client);
    expect(log.warn).not.toHaveBeenCalled();
    client.release();
    await ended;
  });

  it('uses a pool of the application, and leaves it open', async () => {
    const pool = createPool(database.url, 1);
    const other = openPool(pool);
    expect(await other.query({ text: 'select $1::int as n', values: [3] })).toEqual([{ n: 3 }]);
    await other.close();
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it('fails after the timeout if the pool is exhausted', async () => {
    // The limit also applies to opening a connection.
    const small = openPool(database.url, { max: 1, connectionTimeoutMs: 2_000 });
    await small.transact(() => expect(small.query({ text: 'select 1' })).rejects.toThrow('timeout exceeded'));
    await small.close();
  });
});

describe('transact', () => {
  it('reads one snapshot, and commits what it writes', async () => {
    await database.pool.query('create table kept (n int)');
    await db.transact(async (client) => {
      await client.query('select count(*) from kept');
      await database.pool.query('insert into kept values (1)');
      expect((await client.query('select from kept')).rowCount).toBe(0);
      await client.query('insert into kept values (2)');
    });
    expect((await database.pool.query('select n from kept order by n')).rows).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('passes on a permanent failure without a retry, and leaves no statement running', async () => {
    const work = vi.fn(async () => {
      throw new Error('no');
    });
    await expect(db.transact(work)).rejects.toThrow('no');
    expect(work).toHaveBeenCalledOnce();
    await vi.waitFor(async () => expect(await running('%kept%')).toBe(0));
  });

  it('repeats work that hid a failure, together with the statement sent with COMMIT', async () => {
    await database.pool.query('create table hidden (n int)');
    let runs = 0;
    await db.transact(async (client, { last }) => {
      if (++runs === 1) await client.query('select 1 / 0').catch(() => {});
      last.push({ text: 'insert into hidden values ($1)', values: [runs] });
    });
    expect((await database.pool.query('select n from hidden')).rows).toEqual([{ n: 2 }]);
  });

  it.each(['commit', 'rollback'])('fails if its work ends the transaction with %s', async (text) => {
    await expect(db.transact((client) => client.query(text))).rejects.toThrow('ended its transaction');
  });

  it('leaves no transaction open, whatever its work does', async () => {
    const works = ['select 1', 'select 1 / 0', 'rollback', 'select pg_terminate_backend(pg_backend_pid())'];
    const expectNoneOpen = async () => {
      const { rows } = await database.pool.query(
        "select from pg_stat_activity where state like 'idle in transaction%' and datname = current_database()",
      );
      expect(rows).toEqual([]);
    };
    for (const text of works) {
      await db.transact((client) => client.query(text)).catch(() => {});
      await expectNoneOpen();
      await db.transact((client) => client.query(text).catch(() => {})).catch(() => {});
      await expectNoneOpen();
    }
  });
});

describe('inSnapshot', () => {
  it('shows the same data to all statements, whatever is committed between them', async () => {
    await database.pool.query('create table passing (n int)');
    const counts = await db.inSnapshot(async (query) => {
      const count = () =>
        query<{ n: number }>({ text: 'select count(*)::int as n from passing where n > $1', values: [0] });
      const before = await count();
      await database.pool.query('insert into passing values (1)');
      return [before, await count()];
    });
    expect(counts).toEqual([[{ n: 0 }], [{ n: 0 }]]);
    expect(await db.query({ text: 'select n from passing' })).toEqual([{ n: 1 }]);
  });

  it('runs later statements unaffected by one that fails or takes too long', async () => {
    await db.inSnapshot(async (query) => {
      const snapshot = () => query({ text: 'select pg_current_snapshot()::text as snapshot' });
      const before = await snapshot();
      await database.pool.query('select pg_current_xact_id()');
      await expect(query({ text: 'select 1 / 0' })).rejects.toMatchObject({ code: '22012' });
      await expect(query({ text: 'select pg_sleep(20)', timeoutMs: 50 })).rejects.toMatchObject({ code: '57014' });
      expect(await query({ text: 'select pg_sleep(0.1)::text as slept' })).toEqual([{ slept: '' }]);
      expect(await snapshot()).toEqual(before);
    });
    expect(await running('select pg_sleep(20)')).toBe(0);
  });

  it('refuses to write', async () => {
    const write = db.inSnapshot((query) => query({ text: 'create table unwritten (n int)' }));
    await expect(write).rejects.toMatchObject({ code: '25006' });
  });

  it('leaves no transaction open and no limit set, whatever happens', async () => {
    for (const text of ['select 1', 'select 1 / 0', 'select pg_terminate_backend(pg_backend_pid())']) {
      await db.inSnapshot((query) => query({ text, timeoutMs: 1_000 })).catch(() => {});
      await db.inSnapshot((query) => query({ text, timeoutMs: 1_000 }).catch(() => [])).catch(() => {});
    }
    const failing = db.inSnapshot(async () => {
      throw new Error('mine');
    });
    await expect(failing).rejects.toThrow('mine');
    await vi.waitFor(async () => {
      const { rows } = await database.pool.query(
        "select from pg_stat_activity where state like 'idle in transaction%' and datname = current_database()",
      );
      expect(rows).toEqual([]);
    });
    for (let i = 0; i < 4; i++) {
      const [setting] = await db.query<{ limit: string }>({
        text: `select current_setting('statement_timeout') as limit`,
      });
      expect(setting).toEqual({ limit: '0' });
    }
  });
});

describe('copy', () => {
  it('yields all bytes', async () => {
    const text = await collect(db.copy('copy (select n from generate_series(1, 200000) n) to stdout'));
    expect(text.split('\n')).toHaveLength(200_001);
    expect(text.endsWith('\n200000\n')).toBe(true);
  });

  it('yields the first bytes without waiting for the rest', async () => {
    const started = performance.now();
    const slow = "copy (select repeat('x', 20000), pg_sleep(0.1) from generate_series(1, 30)) to stdout";
    for await (const chunk of db.copy(slow)) {
      expect(chunk.byteLength).toBeGreaterThan(0);
      break;
    }
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it('holds Postgres back for a slow reader, and yields large chunks', async () => {
    const sizes: number[] = [];
    for await (const chunk of db.copy("copy (select repeat('x', 100) from generate_series(1, 50000)) to stdout")) {
      sizes.push(chunk.byteLength);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(50_000 * 101);
    expect(Math.max(...sizes)).toBeLessThan(512 * 1024);
    expect(sizes.length).toBeLessThan(1_000);
  });

  it('lets other work in the process run, however fast rows arrive', async () => {
    let inThisTurn = 0;
    let maxPerTurn = 0;
    let turning = setImmediate(function turn() {
      inThisTurn = 0;
      turning = setImmediate(turn);
    });
    const text = "copy (select repeat('x', 10000) from generate_series(1, 5000)) to stdout";
    for await (const { length } of db.copy(text)) {
      inThisTurn += length;
      maxPerTurn = Math.max(maxPerTurn, inThisTurn);
    }
    clearImmediate(turning);
    expect(maxPerTurn).toBeGreaterThan(0);
    expect(maxPerTurn).toBeLessThan(500_000);
  });

  it('throws an error that comes before or among the rows', async () => {
    await expect(collect(db.copy('copy (select * from nowhere) to stdout'))).rejects.toMatchObject({ code: '42P01' });
    const amid = 'copy (select 1 / (100000 - n) from generate_series(1, 200000) n) to stdout';
    await expect(collect(db.copy(amid))).rejects.toMatchObject({ code: '22012' });
    expect(await db.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
  });

  it('throws if the backend is killed, instead of ending early', async () => {
    const chunks = db.copy("copy (select repeat('x', 1000) as killed from generate_series(1, 1000000)) to stdout");
    const kill =
      "select pg_terminate_backend(pid) from pg_stat_activity where query like 'select set_config%copy%as killed%'";
    await expect(
      (async () => {
        let first = true;
        for await (const _ of chunks) {
          if (first) await database.pool.query(kill);
          first = false;
        }
      })(),
    ).rejects.toThrow();
  });

  it('frees its connection and ends its statement each time that a reader stops early', async () => {
    for (let i = 0; i < 12; i++) {
      const text = "copy (select repeat('x', 9000) as early, pg_sleep(0.01) from generate_series(1, 100000)) to stdout";
      for await (const _ of db.copy(text)) break;
    }
    expect(await db.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
    await vi.waitFor(async () => expect(await running('select set_config%copy%as early%')).toBe(0), { timeout: 3_000 });
  });

  it.each([
    ['before', 'copy (select pg_sleep(60) as given_up) to stdout'],
    ['after', "copy (select repeat('x', 200000) as given_up union all select pg_sleep(60)::text) to stdout"],
  ])('is cancelled %s its first bytes when its signal aborts', async (_, text) => {
    const client = new AbortController();
    const reading = collect(db.copy(text, client.signal));
    reading.catch(() => {});
    await vi.waitFor(async () => expect(await running('select set_config%copy%as given_up%')).toBe(1));
    client.abort();
    await expect(reading).rejects.toThrow('Nobody waits');
    await vi.waitFor(async () => expect(await running('select set_config%copy%as given_up%')).toBe(0));
    await expect(collect(db.copy(text, client.signal))).rejects.toThrow('Nobody waits');
  });

  it('fails if its first bytes take too long, but not if later ones do', async () => {
    const limits = { transactionMs: 60_000, lockMs: 60_000, statementMs: 200 };
    const impatient = openPool(database.url, { max: 2, limits });
    await expect(collect(impatient.copy('copy (select pg_sleep(60) as late) to stdout'))).rejects.toThrow('200 ms');
    await expect(impatient.query({ text: 'select pg_sleep(60) as late' })).rejects.toThrow('timeout');
    await vi.waitFor(async () => expect(await running('%pg_sleep(60) as late%')).toBe(0));
    const slow = "copy (select repeat('x', 20000), pg_sleep(0.05) from generate_series(1, 10)) to stdout";
    expect(await collect(impatient.copy(slow))).toHaveLength(10 * 20_002);
    await impatient.close();
  });

  it('ends a statement that sends nothing more when a reader stops early', async () => {
    const text = "copy (select repeat('x', 20000) as quiet union all select pg_sleep(60)::text) to stdout";
    for await (const _ of db.copy(text)) break;
    await vi.waitFor(async () => expect(await running('select set_config%copy%as quiet%')).toBe(0), {
      timeout: 10_000,
    });
  });
});

describe('a value that is not a pool of `pg`', () => {
  const withoutPool = async () => {
    const sql = postgres(database.url);
    const client = new pg.Client(database.url);
    onTestFinished(() => sql.end());
    return [
      [sql, 'is a client of postgres.js'],
      [client, 'is a single client of `pg`, which cannot serve several requests at once'],
      [undefined, 'is neither a connection string nor a pool of `pg`'],
      [{ $client: database.pool }, 'is neither a connection string nor a pool of `pg`'],
    ] as const;
  };

  it.each<[name: string, start: (database: never) => Promise<unknown>]>([
    ['createSync', (value) => createSync({ database: value, views: {}, authenticate: () => null, log: silent })],
    ['migrate', (value) => migrate({ database: value, views: {}, log: silent })],
    ['uninstall', (value) => uninstall({ database: value })],
  ])('is refused by %s, which says what to pass', async (_, start) => {
    for (const [value, what] of await withoutPool()) {
      const failure = await start(value as never).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(SetupError);
      expect((failure as Error).message).toBe(
        `The option \`database\` ${what}. Pass a connection string, or \`new pg.Pool({ connectionString })\` of the ` +
          'package `pg`; the rest of your application may keep its own client.',
      );
    }
  });

  it('does not include a pool of another copy of `pg`', () => {
    const { options, on, off, connect, query, end } = database.pool;
    expect(() => openPool({ options, on, off, connect, query, end } as pg.Pool)).not.toThrow();
  });
});
