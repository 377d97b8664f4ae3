/** Counts work: a pull's cost grows with the changes for its user, not with the rows that the user holds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { parseSnapshot, type Snapshot } from '../../../packages/tidemark/src/protocol/snapshot.js';
import { readSchemaState } from '../../../packages/tidemark/src/schema/schema-state.js';
import { deltaPatch } from '../../../packages/tidemark/src/store/patches/patch-sql.js';
import type { SyncedTable } from '../../../packages/tidemark/src/store/patches/states.js';
import { literalObservation } from '../../../packages/tidemark/src/store/polls/poll.js';
import { ClientViews, type ResolvedView } from '../../../packages/tidemark/src/view/client-views.js';
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
 * The user owns half of the lists. Each has ten todos, and one more user sees it. Postgres would scan tables of only a
 * page or two entirely.
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
  let resolved: readonly ResolvedView[];
  let tables: readonly SyncedTable[];

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.pool.query(fill.replaceAll('$lists', String(lists)));
    await (await loadCode()).migrate({ database: database.url, views, log: silent });
    await database.pool.query('update todo set title = title; update list set name = name; analyze todo, list, share');
    // Postgres has no statistics of the log. They must not matter.
    db = openPool(database.url);
    resolved = await new ClientViews(db, views).resolve(
      { ctx: { userID: 'me' }, profileID: '', schemaVersion: '' },
      '',
    );
    ({ tables } = await readSchemaState(db, [
      ...new Map(resolved.flatMap((view) => view.tables).map((t) => [t.oid, t])).values(),
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

  /** The ops of the user's next pull after a change, and the rows that Postgres reads for it. */
  async function pullAfter(change: string): Promise<{ ops: string; reads: TableReads }> {
    const base = await snapshot();
    await database.pool.query(change);
    const changed = await database.pool.query<{ id: number }>(
      `select distinct table_id as id from tidemark.change where xid >= '${base.xmax}'::xid8`,
    );
    const ids = changed.rows.map(({ id }) => id);
    const observation = literalObservation({ base, tables: tables.map(({ id }) => id), groupIDs: ['g'] }, tables);
    const copy = deltaPatch(
      observation,
      resolved,
      tables.filter(({ id }) => ids.includes(id)).map((table) => ({ table, rows: 1 })),
      base,
    );
    let text = '';
    for await (const chunk of db.copy(copy)) text += Buffer.from(chunk).toString();
    // EXPLAIN of the whole statement does not show what the function `tidemark.poll` reads. EXPLAIN of its query does.
    const [, args] = /tidemark\.poll\((.*)\), 'torn'/s.exec(copy)!;
    const { reads } = await explainCopy(
      database.pool,
      `copy (select l from tidemark.poll_inline(${args}) l) to stdout`,
    );
    return {
      ops: text.slice(text.indexOf('\n') + 1),
      reads: { ...reads, ...(await explainCopy(database.pool, copy)).reads },
    };
  }

  const foreignChanges: readonly (readonly [string, string])[] = [
    ['shares a list', `insert into share values (1, 'friend')`],
    ['ends that share', `delete from share where user_id = 'friend'`],
    ['changes a todo', `update todo set title = 'changed' where id = ${10 * 100}`],
    ['adds a todo', `insert into todo values (1000000, 1, 'new')`],
    ['deletes a todo', 'delete from todo where id = 1000000'],
    ['renames a list', `update list set name = 'renamed' where id = 1`],
  ];

  it.each(foreignChanges)('a pull is empty and reads no rows of the user after another user %s', async (_, change) => {
    const { ops, reads } = await pullAfter(change);
    expect(ops).toBe('');
    expect(reads.list, JSON.stringify(reads)).toBeLessThan(10);
    expect(reads.todo, JSON.stringify(reads)).toBeLessThan(10);
    expect(reads.share, JSON.stringify(reads)).toBeLessThan(10);
    expect(reads.change, JSON.stringify(reads)).toBeLessThan(10);
  });

  it('a newly shared list costs a pull only the rows of the list and its todos', async () => {
    const { ops, reads } = await pullAfter(`insert into share values (1, 'me')`);
    expect(ops.split('\n').filter((line) => line !== '')).toHaveLength(1 + 10);
    expect(reads.todo, JSON.stringify(reads)).toBeLessThan(60);
    expect(reads.list, JSON.stringify(reads)).toBeLessThan(30);
  });
});
