/** The change-log cache of a database, as polls maintain it. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChangeLogCache } from '../../../packages/tidemark/src/change-log/change-log-cache.js';
import { ChangeLogPoller } from '../../../packages/tidemark/src/change-log/change-log-poller.js';
import type { Database, Statement } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import type { SchemaState } from '../../../packages/tidemark/src/schema/schema-state.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, installationOf, tableView } from '../../support/synced.js';
import { gate } from '../pulls/watched.js';

const views = { a: tableView('a', 'id', 'a/'), b: tableView('b', 'id', 'b/') };

let database: TestDatabase;
let db: Database;
let schema: SchemaState;
let before: (statement: Statement) => Promise<void>;
let statements = 0;
let poller: ChangeLogPoller;
/** The periods in which nothing was committed, as reported by the polls. */
let remained: [since: number, until: number][];

const schemaProvider = {
  present: async () => schema,
  remained: (since: number, until: number) => void remained.push([since, until]),
};

beforeAll(async () => {
  database = await createSynced('create table a (id int primary key); create table b (id int primary key)', views);
  const pool = openPool(database.url, { max: 4 });
  db = {
    ...pool,
    async query(statement) {
      statements++;
      await before(statement);
      return pool.query(statement);
    },
  };
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(async () => {
  await run('delete from a; delete from b');
  schema = await installationOf(database.url, views);
  before = async () => {};
  remained = [];
  poller = new ChangeLogPoller(db, schemaProvider, 1000);
  statements = 0;
});

const run = (sql: string) => database.pool.query(sql);
const idOf = (name: string) => schema.tables.find((table) => table.name === name)!.id;
const ids = () => schema.tables.map(({ id }) => id);

/** The changes that a snapshot has not seen, according to the cache. */
function since(cache: ChangeLogCache, base = cache.state.snapshot) {
  const { changed, truncated } = cache.since(base, ids());
  return { changed: new Map(changed), truncated };
}

describe('a poll', () => {
  it('that finds no changes reports the period without changes', async () => {
    let lastChange = { from: performance.now(), by: 0 };
    let previous = (await poller.poll()).state;
    lastChange.by = performance.now();
    expect(remained).toEqual([]);
    // Other databases of the cluster can be written to at any time.
    for (const until = performance.now() + 10_000; remained.length < 3 && performance.now() < until; await sleep(2)) {
      const begunAt = performance.now();
      const reported = remained.length;
      const { state } = await poller.poll();
      expect(remained.length - reported).toBe(state === previous ? 1 : 0);
      if (state === previous) {
        const [since, until] = remained.at(-1)!;
        expect(since).toBeGreaterThanOrEqual(lastChange.from);
        expect(since).toBeLessThanOrEqual(lastChange.by);
        expect(until).toBeGreaterThanOrEqual(begunAt);
        expect(until).toBeLessThanOrEqual(performance.now());
      } else lastChange = { from: begunAt, by: performance.now() };
      previous = state;
    }
    expect(remained).toHaveLength(3);
  });

  it('adds what has been committed since the previous poll', async () => {
    const cache = await poller.poll();
    const base = cache.state.snapshot;
    await run('insert into a select generate_series(1, 3)');
    expect(await poller.poll()).toBe(cache);
    expect(since(cache, base)).toEqual({ changed: new Map([[idOf('a'), 3]]), truncated: false });
    await run('insert into a values (4); insert into b values (1)');
    await poller.poll();
    expect(since(cache, base).changed).toEqual(
      new Map([
        [idOf('a'), 4],
        [idOf('b'), 1],
      ]),
    );
    expect(since(cache).changed).toEqual(new Map());
    await run('truncate b');
    await poller.poll();
    expect(since(cache, base)).toMatchObject({ truncated: true });
  });

  it('adds the writes of a transaction that was open at the previous poll, once it commits', async () => {
    const writer = new pg.Client(database.url);
    await writer.connect();
    await writer.query('begin; insert into a values (1)');
    await run('insert into b values (1)');
    const cache = await poller.poll();
    const base = cache.state.snapshot;
    await writer.query('commit');
    await writer.end();
    await poller.poll();
    expect(since(cache, base).changed).toEqual(new Map([[idOf('a'), 1]]));
  });

  it('is one statement for all requests that wait, and begins after they arrive', async () => {
    await poller.poll();
    statements = 0;
    const caches = await Promise.all(Array.from({ length: 100 }, () => poller.poll()));
    expect(new Set(caches).size).toBe(1);
    expect(statements).toBe(1);

    const { opened, open } = gate();
    let isHeld = false;
    before = async () => {
      if (isHeld) return;
      isHeld = true;
      await opened;
    };
    statements = 0;
    const early = poller.poll();
    await vi.waitFor(() => expect(isHeld).toBe(true));
    const late = Array.from({ length: 100 }, () => poller.poll());
    expect(statements).toBe(1);
    open();
    await Promise.all([early, ...late]);
    expect(statements).toBe(2);
  });

  it('that ends after a later one undoes nothing', async () => {
    const cache = await poller.poll();
    const base = cache.state.snapshot;
    const { opened, open } = gate();
    let isHeld = false;
    const pool = db.query;
    const query: typeof pool = async (statement) => {
      const rows = await pool(statement);
      if (isHeld) return rows as never;
      isHeld = true;
      await opened;
      return rows as never;
    };
    const slow = new ChangeLogPoller({ ...db, query }, schemaProvider, 1000);
    isHeld = true;
    await slow.poll();
    isHeld = false;
    await run('insert into a values (1)');
    const first = slow.poll();
    await vi.waitFor(() => expect(isHeld).toBe(true));
    await run('insert into a values (2)');
    const second = await slow.poll();
    open();
    expect(await first).toBe(second);
    expect(second.since(base, ids()).changed).toEqual([[idOf('a'), 2]]);
  });

  it('fails only for the requests that wait for it', async () => {
    before = async () => {
      throw new Error('refused by the test');
    };
    await expect(poller.poll()).rejects.toThrow('refused by the test');
    before = async () => {};
    expect((await poller.poll()).state.recovery).toBe(false);
  });
});

describe('a new cache begins', () => {
  async function expectNewCache(change: () => Promise<unknown>): Promise<[ChangeLogCache, ChangeLogCache]> {
    const old = await poller.poll();
    await change();
    await run('insert into a values (1)');
    const young = await poller.poll();
    expect(young).not.toBe(old);
    expect(young.reaches(old.state.snapshot)).toBe(false);
    return [old, young];
  }

  it('if changes since the previous poll may have been deleted', async () => {
    await expectNewCache(async () => {
      await run('select pg_current_xact_id()');
      await run('update tidemark.meta set horizon = pg_current_xact_id()');
    });
  });

  it('if the install ID changes', async () => {
    await expectNewCache(() => run('update tidemark.meta set install_id = gen_random_uuid()'));
  });

  it('if the database has lost the newest heartbeat', async () => {
    await run(
      `insert into tidemark.heartbeat (oldest_xid, snapshot) select pg_snapshot_xmin(s), s from pg_current_snapshot() s`,
    );
    await run('select pg_current_xact_id()');
    const [old] = await expectNewCache(() => run('delete from tidemark.heartbeat'));
    expect(old.state.heartbeat).not.toBeNull();
  });

  it('if another table is synced', async () => {
    const all = schema;
    schema = { ...all, tableIDs: all.tableIDs.slice(0, 1) };
    const [, young] = await expectNewCache(async () => {
      schema = all;
    });
    expect(young.lists(ids())).toBe(true);
  });

  it('if the cluster changes', async () => {
    await expectNewCache(async () => {
      schema = { ...schema, cluster: 'another' };
    });
  });
});
