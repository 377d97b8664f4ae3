/** The window over a database, as looks keep it. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Database, Statement } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import type { Installation } from '../../../src/installation/installation.js';
import { Looks } from '../../../src/window/looks.js';
import type { Window } from '../../../src/window/window.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, installationOf, tableView } from '../../support/synced.js';
import { gate } from '../pulls/watched.js';

const views = { a: tableView('a', 'id', 'a/'), b: tableView('b', 'id', 'b/') };

let database: TestDatabase;
let db: Database;
let installation: Installation;
let before: (statement: Statement) => Promise<void>;
let statements = 0;
let looks: Looks;
/** What the looks have told: between which times nothing was committed. */
let remained: [since: number, until: number][];

const readings = {
  present: async () => installation,
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
  installation = await installationOf(database.url, views);
  before = async () => {};
  remained = [];
  looks = new Looks(db, readings, 1000);
  statements = 0;
});

const run = (sql: string) => database.pool.query(sql);
const idOf = (name: string) => installation.tables.find((table) => table.name === name)!.id;
const ids = () => installation.tables.map(({ id }) => id);

/** What the window says that a snapshot of it has not seen. */
function since(window: Window, base = window.header.snapshot) {
  const { changed, truncated } = window.since(base, ids());
  return { changed: new Map(changed), truncated };
}

describe('a look', () => {
  it('that finds nothing new tells since when there has been nothing, and up to when', async () => {
    let news = { from: Date.now(), by: 0 };
    let known = (await looks.look()).header;
    news.by = Date.now();
    expect(remained).toEqual([]);
    // Other databases of the cluster may be written to at any time.
    for (const until = Date.now() + 10_000; remained.length < 3 && Date.now() < until; await sleep(2)) {
      const begunAt = Date.now();
      const told = remained.length;
      const { header } = await looks.look();
      expect(remained.length - told).toBe(header === known ? 1 : 0);
      if (header === known) {
        const [since, until] = remained.at(-1)!;
        expect(since).toBeGreaterThanOrEqual(news.from);
        expect(since).toBeLessThanOrEqual(news.by);
        expect(until).toBeGreaterThanOrEqual(begunAt);
        expect(until).toBeLessThanOrEqual(Date.now());
      } else news = { from: begunAt, by: Date.now() };
      known = header;
    }
    expect(remained).toHaveLength(3);
  });

  it('adds what has been committed since the last one', async () => {
    const window = await looks.look();
    const base = window.header.snapshot;
    await run('insert into a select generate_series(1, 3)');
    expect(await looks.look()).toBe(window);
    expect(since(window, base)).toEqual({ changed: new Map([[idOf('a'), 3]]), truncated: false });
    await run('insert into a values (4); insert into b values (1)');
    await looks.look();
    expect(since(window, base).changed).toEqual(
      new Map([
        [idOf('a'), 4],
        [idOf('b'), 1],
      ]),
    );
    expect(since(window).changed).toEqual(new Map());
    await run('truncate b');
    await looks.look();
    expect(since(window, base)).toMatchObject({ truncated: true });
  });

  it('adds what a transaction wrote that was open at the look before, once it has committed', async () => {
    const writer = new pg.Client(database.url);
    await writer.connect();
    await writer.query('begin; insert into a values (1)');
    await run('insert into b values (1)');
    const window = await looks.look();
    const base = window.header.snapshot;
    await writer.query('commit');
    await writer.end();
    await looks.look();
    expect(since(window, base).changed).toEqual(new Map([[idOf('a'), 1]]));
  });

  it('is one statement for all who wait for it, and none began before they asked', async () => {
    await looks.look();
    statements = 0;
    const windows = await Promise.all(Array.from({ length: 100 }, () => looks.look()));
    expect(new Set(windows).size).toBe(1);
    expect(statements).toBe(1);

    const { opened, open } = gate();
    let isHeld = false;
    before = async () => {
      if (isHeld) return;
      isHeld = true;
      await opened;
    };
    statements = 0;
    const early = looks.look();
    await vi.waitFor(() => expect(isHeld).toBe(true));
    const late = Array.from({ length: 100 }, () => looks.look());
    expect(statements).toBe(1);
    open();
    await Promise.all([early, ...late]);
    expect(statements).toBe(2);
  });

  it('that ends after one that began later takes nothing back', async () => {
    const window = await looks.look();
    const base = window.header.snapshot;
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
    const slow = new Looks({ ...db, query }, readings, 1000);
    isHeld = true;
    await slow.look();
    isHeld = false;
    await run('insert into a values (1)');
    const first = slow.look();
    await vi.waitFor(() => expect(isHeld).toBe(true));
    await run('insert into a values (2)');
    const second = await slow.look();
    open();
    expect(await first).toBe(second);
    expect(second.since(base, ids()).changed).toEqual([[idOf('a'), 2]]);
  });

  it('fails for those alone who wait for it', async () => {
    before = async () => {
      throw new Error('refused by the test');
    };
    await expect(looks.look()).rejects.toThrow('refused by the test');
    before = async () => {};
    expect((await looks.look()).header.recovery).toBe(false);
  });
});

describe('the window begins anew', () => {
  async function renewed(change: () => Promise<unknown>): Promise<[Window, Window]> {
    const old = await looks.look();
    await change();
    await run('insert into a values (1)');
    const young = await looks.look();
    expect(young).not.toBe(old);
    expect(young.reaches(old.header.snapshot)).toBe(false);
    return [old, young];
  }

  it('if what came in between may have been pruned', async () => {
    await renewed(async () => {
      await run('select pg_current_xact_id()');
      await run('update tidemark.meta set horizon = pg_current_xact_id()');
    });
  });

  it('in another installation', async () => {
    await renewed(() => run('update tidemark.meta set install_id = gen_random_uuid()'));
  });

  it('if the database has lost the newest tick', async () => {
    await run(
      `insert into tidemark.tick (oldest_xid, snapshot) select pg_snapshot_xmin(s), s from pg_current_snapshot() s`,
    );
    await run('select pg_current_xact_id()');
    const [old] = await renewed(() => run('delete from tidemark.tick'));
    expect(old.header.tick).not.toBeNull();
  });

  it('if another table is followed', async () => {
    const all = installation;
    installation = { ...all, tableIDs: all.tableIDs.slice(0, 1) };
    const [, young] = await renewed(async () => {
      installation = all;
    });
    expect(young.lists(ids())).toBe(true);
  });

  it('in another cluster', async () => {
    await renewed(async () => {
      installation = { ...installation, cluster: 'another' };
    });
  });
});
