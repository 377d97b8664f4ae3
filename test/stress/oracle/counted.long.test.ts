/** Counted work: a pull costs what has changed for its user, however much the user holds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import { readInstallation } from '../../../src/installation/installation.js';
import { parseSnapshot, type Snapshot } from '../../../src/protocol/snapshot.js';
import { literalReport } from '../../../src/store/look.js';
import { deltaPatch } from '../../../src/store/patches/patch-sql.js';
import type { SyncedTable } from '../../../src/store/patches/states.js';
import { type BoundView, ClientViews } from '../../../src/view/client-views.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { loadCode } from './code.js';
import { explainCopy, type TableReads } from './plan-reads.js';
import { toViews, type ViewSpec } from './views.js';

const mine = `list_id in (
  select id from list where owner_id = $1 or id in (select list_id from share where user_id = $1))`;
const specs: readonly ViewSpec[] = [
  {
    name: 'lists',
    strategy: 'incremental',
    key: ['id'],
    text: 'select * from list where owner_id = $1 or id in (select list_id from share where user_id = $1)',
  },
  { name: 'todos', strategy: 'incremental', key: ['id'], text: `select * from todo where ${mine}` },
];
const views = toViews(specs);

/**
 * Half of the lists are mine; each has ten todos, and one more user sees it. In tables of a page or two Postgres would
 * scan all.
 */
const fill = `
  create table list (id int primary key, owner_id text not null, name text not null);
  create table share (list_id int not null references list, user_id text not null, primary key (user_id, list_id));
  create table todo (id int primary key, list_id int not null references list, title text not null);
  create index on list (owner_id);
  create index on share (list_id);
  create index on todo (list_id);
  insert into list select n, case when n % 2 = 0 then 'me' else 'other ' || n % 50 end, 'list' from generate_series(1, $lists) n;
  insert into share select n, 'reader ' || n % 40 from generate_series(1, $lists) n;
  insert into todo select n, 1 + n % $lists, 'todo' from generate_series(1, 10 * $lists) n;
  analyze;`;

describe.each([2000, 10_000])('with %i lists', (lists) => {
  let database: TestDatabase;
  let db: Database;
  let bound: readonly BoundView[];
  let tables: readonly SyncedTable[];

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.pool.query(fill.replaceAll('$lists', String(lists)));
    await (await loadCode()).migrate({ database: database.url, views, log: silent });
    await database.pool.query('update todo set title = title; update list set name = name; analyze todo, list, share');
    // Of the log Postgres knows nothing: its statistics must not matter.;
    db = openPool(database.url);
    bound = await new ClientViews(db, views).bind({ ctx: { userID: 'me' }, profileID: '', schemaVersion: '' }, '');
    ({ tables } = await readInstallation(db, [
      ...new Map(bound.flatMap((view) => view.tables).map((t) => [t.oid, t])).values(),
    ]));
  }, 60_000);

  afterAll(async () => {
    await db.close();
    await database.drop();
  });

  async function snapshot(): Promise<Snapshot> {
    const { rows } = await database.pool.query<{ text: string }>('select pg_current_snapshot()::text as text');
    return parseSnapshot(rows[0]!.text)!;
  }

  /** What my next pull would send, and what Postgres reads for it, after a change. */
  async function pullAfter(change: string): Promise<{ ops: string; reads: TableReads }> {
    const base = await snapshot();
    await database.pool.query(change);
    const changed = await database.pool.query<{ id: number }>(
      `select distinct table_id as id from tidemark.change where xid >= '${base.xmax}'::xid8`,
    );
    const ids = changed.rows.map(({ id }) => id);
    const report = literalReport({ base, tables: tables.map(({ id }) => id), groupIDs: ['g'] }, tables);
    const copy = deltaPatch(
      report,
      bound,
      tables.filter(({ id }) => ids.includes(id)).map((table) => ({ table, rows: 1 })),
      base,
    );
    let text = '';
    for await (const chunk of db.copy(copy)) text += Buffer.from(chunk).toString();
    // Explained as a part of the statement, the header's function says nothing of what it reads; its query does.
    const [, args] = /tidemark\.look\((.*)\), 'torn'/s.exec(copy)!;
    const { reads } = await explainCopy(database.pool, `copy (select l from tidemark.looks(${args}) l) to stdout`);
    return {
      ops: text.slice(text.indexOf('\n') + 1),
      reads: { ...reads, ...(await explainCopy(database.pool, copy)).reads },
    };
  }

  const changesOfOthers: readonly (readonly [string, string])[] = [
    ['shares a list with somebody else', `insert into share values (1, 'friend')`],
    ['ends that share', `delete from share where user_id = 'friend'`],
    ['changes a todo', `update todo set title = 'changed' where id = ${10 * 100}`],
    ['adds a todo', `insert into todo values (1000000, 1, 'new')`],
    ['deletes a todo', 'delete from todo where id = 1000000'],
    ['renames a list', `update list set name = 'renamed' where id = 1`],
  ];

  it.each(changesOfOthers)('somebody else %s: my patch is empty and my rows are not read', async (_, change) => {
    const { ops, reads } = await pullAfter(change);
    expect(ops).toBe('');
    expect(reads.list, JSON.stringify(reads)).toBeLessThan(10);
    expect(reads.todo, JSON.stringify(reads)).toBeLessThan(10);
    expect(reads.share, JSON.stringify(reads)).toBeLessThan(10);
    expect(reads.change, JSON.stringify(reads)).toBeLessThan(10);
  });

  it('a list shared with me brings itself and its todos, at their own cost', async () => {
    const { ops, reads } = await pullAfter(`insert into share values (1, 'me')`);
    expect(ops.split('\n').filter((line) => line !== '')).toHaveLength(1 + 10);
    expect(reads.todo, JSON.stringify(reads)).toBeLessThan(60);
    expect(reads.list, JSON.stringify(reads)).toBeLessThan(30);
  });
});
