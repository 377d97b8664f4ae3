/** Servers record the layouts of tables, and migrations do. */
import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { openPool } from '../../../src/db/pg.js';
import { recordLayouts } from '../../../src/store/layouts/layouts-table.js';
import { prune } from '../../../src/store/retention.js';
import { defineView, type View } from '../../../src/view/define.js';
import { type Context, PullServer } from '../../support/synced.js';
import { type Altered, useAltered } from './altered.js';

const altered = useAltered();

const view = (text: string): View<Context> =>
  defineView<Record<string, unknown>>({ key: 'id', query: () => ({ text, values: [] }) });

const isReset = ({ patch }: { patch: readonly { op: string }[] }) => patch[0]?.op === 'clear';

const layoutsOf = async ({ run }: Altered) => {
  const found = (await run(`select shape, before is null as "isFirst" from tidemark.layout
    where table_id = (select id from tidemark.synced_table where relation = to_regclass('t')) order by number`)) as unknown as pg.QueryResult[];
  return found[1]!.rows as { shape: string; isFirst: boolean }[];
};

describe('a layout', () => {
  const ddl = 'create table t (id int primary key, n int, a text)';
  const views = { all: view('select id, n from t') };

  it('is recorded once, by whoever sees it first', async () => {
    const tables = await altered.start(ddl, { views });
    const { run, passASecond, client, elsewhere } = tables;
    const other = elsewhere();
    await other.pull();
    expect(await layoutsOf(tables)).toHaveLength(1);
    await run('alter table t add column b text');
    passASecond();
    await Promise.all([client.pull(), other.pull()]);
    const [first, second, ...more] = await layoutsOf(tables);
    expect([first!.isFirst, second!.isFirst, more]).toEqual([true, false, []]);
    await run('create table u (id int)');
    passASecond();
    await client.pull();
    expect(await layoutsOf(tables)).toHaveLength(2);
  });

  it('is recorded once by two servers that have both found it missing', async () => {
    const tables = await altered.start(ddl, { views });
    const { tables: found } = await tables.installation();
    const db = openPool(tables.url);
    try {
      const layout = { ...found[0]!, shape: 'other', members: [], before: null };
      for (const _ of [1, 2]) await db.query(recordLayouts([layout], ''));
      expect((await layoutsOf(tables)).map(({ shape }) => shape)).toEqual([expect.any(String), 'other']);
    } finally {
      await db.close();
    }
  });

  it('is recorded by a migration', async () => {
    const tables = await altered.start(ddl, { views });
    await tables.run('alter table t add column b text');
    await tables.migrate();
    expect(await layoutsOf(tables)).toHaveLength(2);
  });

  it('that cannot be recorded is a reset at most', async () => {
    const tables = await altered.start(ddl, { views });
    const { run, passASecond, client } = tables;
    await run(
      `insert into t values (1, 1); alter table t add column b text; alter function tidemark.hold_layouts rename to hold_none`,
    );
    passASecond();
    expect(isReset(await client.pull())).toBe(true);
    expect(client.held()).toEqual(await tables.truth());
    await run(
      `alter function tidemark.hold_none rename to hold_layouts; alter table t add column c text; insert into t values (2, 2)`,
    );
    passASecond();
    await client.pull();
    expect(await layoutsOf(tables)).toHaveLength(2);
  });

  it('that a server has not noticed yet, but a cookie of another one names, is read first: nobody is reset', async () => {
    const { url, run, client } = await altered.start(ddl, { views });
    const late = new PullServer(url, views);
    try {
      await client.pull(late);
      await run('alter table t add column b text; insert into t values (1, 1)');
      await client.pull();
      await run('insert into t values (2, 2)');
      expect(isReset(await client.pull(late))).toBe(false);
      expect(client.held()).toEqual({ 'all/1': { id: 1, n: 1 }, 'all/2': { id: 2, n: 2 } });
      expect(late.lines.lines.filter(({ fields }) => fields.reason !== undefined)).toEqual([]);
    } finally {
      await late.close();
    }
  });

  it('is forgotten once no cookie can need it', async () => {
    const tables = await altered.start(ddl, { views });
    const { run, passASecond, client, url } = tables;
    await run('alter table t add column b text');
    passASecond();
    await client.pull();
    const db = openPool(url);
    try {
      await prune(db, 1e9);
      expect(await layoutsOf(tables)).toHaveLength(2);
      await run(`update tidemark.tick set at = at - interval '1 hour'`);
      await prune(db, 60);
      const [left, ...others] = await layoutsOf(tables);
      expect([left!.isFirst, others]).toEqual([false, []]);
    } finally {
      await db.close();
    }
  });
});
