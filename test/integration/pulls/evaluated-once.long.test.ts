/** The number of times that pulls evaluate a view's expression, measured by scans of a table that only it reads. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linesIn } from '../../../packages/tidemark/src/pulls/pull-result.js';
import { type SqlQuery, sql } from '../../../packages/tidemark/src/sql.js';
import type { ValueOptions, View } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, PullServer } from '../../support/synced.js';

const todos = 20;
const ddl = `
  create table todo (id int primary key, title text);
  create table item (id int primary key, size bigint, price numeric, at timestamptz)`;

const size = sql`(select size from item where item.id = todo.id)`;
const price = sql`(select price from item where item.id = todo.id)`;
const at = sql`(select at from item where item.id = todo.id)`;

function viewOf(query: SqlQuery, options: ValueOptions = {}): View<Context> {
  return { query: () => query, key: ['id'], ...options };
}

const kinds: readonly [kind: string, view: View<Context>][] = [
  ['a bigint', viewOf(sql`select id, title, ${size} as found from todo`)],
  ['a numeric', viewOf(sql`select id, title, ${price} as found from todo`)],
  ['a renamed bigint', viewOf(sql`select id, title, ${size} as found from todo`, { columns: 'camelCase' })],
  ['a numeric without nulls', viewOf(sql`select id, title, ${price} as found from todo`, { nulls: 'omit' })],
  ['a numeric as the value', viewOf(sql`select id, title, ${price} as found from todo`, { value: 'found' })],
  ['a time in UTC', viewOf(sql`select id, title, ${at} as found from todo`, { timestamps: 'UTC' })],
  ['a key', viewOf(sql`select title, ${size} as id from todo`)],
];

describe.each(kinds)('%s from a sub-select', (kind, view) => {
  const views = { todo: view };
  let database: TestDatabase;
  let pool: pg.Pool;
  let server: PullServer;

  beforeAll(async () => {
    database = await createSynced(ddl, views);
    await database.pool.query(`
      insert into todo select n, 'todo ' || n from generate_series(1, ${todos}) n;
      insert into item select n, n, n, to_timestamp(n) from generate_series(1, ${todos}) n`);
    await database.pool.query('analyze');
    pool = new pg.Pool({ connectionString: database.url, max: 1 });
    server = new PullServer(pool, views);
    await server.pull(null, {}, 'nobody');
  });
  afterAll(async () => {
    await server.close();
    await pool.end();
    await database.drop();
  });

  /** The number of times that the sub-select has run so far. */
  async function evaluations(): Promise<number> {
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await pool.query<{ scans: number }>(
      "select (seq_scan + coalesce(idx_scan, 0))::int as scans from pg_stat_user_tables where relname = 'item'",
    );
    return rows[0]!.scans;
  }

  it('is evaluated once for each row of a first pull and of a delta', async () => {
    const start = await evaluations();
    const { cookie } = await server.pull(null);
    const afterAll = await evaluations();
    expect(afterAll - start).toBe(todos);
    await pool.query(`update todo set title = 'another' where id = 1`);
    const { patch } = await server.pull(cookie);
    expect(patch.length).toBe(view.value ? 0 : 1);
    // A pull reads one row at both snapshots, or all rows if their key is not a column of a table.
    expect((await evaluations()) - afterAll).toBe(kind === 'a key' ? 2 * todos : 2);
  });

  it('is evaluated once for each row that is read as a list', async () => {
    const start = await evaluations();
    const result = await server.read({ part: { view: 'todo' }, format: 'rows', cookie: null });
    if (!('firstChunks' in result)) throw new Error(`It is ${result.kind}`);
    for await (const _ of linesIn(result));
    expect((await evaluations()) - start).toBe(todos);
  });
});
