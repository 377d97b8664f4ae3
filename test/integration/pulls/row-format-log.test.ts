/** Servers and migrations record the row formats of tables. */
import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import { recordRowFormats } from '../../../packages/tidemark/src/store/row-formats/row-format-table.js';
import { defineView, type View } from '../../../packages/tidemark/src/view/define.js';
import { type Context, PullServer } from '../../support/synced.js';
import { type Altered, useAltered } from './altered.js';

const altered = useAltered();

const view = (text: string): View<Context> =>
  defineView<Record<string, unknown>>({ key: 'id', query: () => ({ text, values: [] }) });

const isReset = ({ patch }: { patch: readonly { op: string }[] }) => patch[0]?.op === 'clear';

const rowFormatsOf = async ({ run }: Altered) => {
  const results = (await run(`select schema_hash as "schemaHash", before is null as "isFirst" from tidemark.row_format
    where table_id = (select id from tidemark.synced_table where relation = to_regclass('t')) order by number`)) as unknown as pg.QueryResult[];
  return results[1]!.rows as { schemaHash: string; isFirst: boolean }[];
};

describe('a row format', () => {
  const ddl = 'create table t (id int primary key, n int, a text)';
  const views = { all: view('select id, n from t') };

  it('is recorded once, by the server that detects it first', async () => {
    const tables = await altered.start(ddl, { views });
    const { run, passASecond, client, elsewhere } = tables;
    const other = elsewhere();
    await other.pull();
    expect(await rowFormatsOf(tables)).toHaveLength(1);
    await run('alter table t add column b text');
    passASecond();
    await Promise.all([client.pull(), other.pull()]);
    const [first, second, ...more] = await rowFormatsOf(tables);
    expect([first!.isFirst, second!.isFirst, more]).toEqual([true, false, []]);
    await run('create table u (id int)');
    passASecond();
    await client.pull();
    expect(await rowFormatsOf(tables)).toHaveLength(2);
  });

  it('is recorded once by two servers that both find it missing', async () => {
    const tables = await altered.start(ddl, { views });
    const { tables: syncedTables } = await tables.schemaState();
    const db = openPool(tables.url);
    try {
      const rowFormat = { ...syncedTables[0]!, schemaHash: 'other', relations: [], before: null };
      for (const _ of [1, 2]) await db.query(recordRowFormats([rowFormat], ''));
      expect((await rowFormatsOf(tables)).map(({ schemaHash }) => schemaHash)).toEqual([expect.any(String), 'other']);
    } finally {
      await db.close();
    }
  });

  it('is recorded by a migration', async () => {
    const tables = await altered.start(ddl, { views });
    await tables.run('alter table t add column b text');
    await tables.migrate();
    expect(await rowFormatsOf(tables)).toHaveLength(2);
  });

  it('that cannot be recorded causes a reset at most', async () => {
    const tables = await altered.start(ddl, { views });
    const { run, passASecond, client } = tables;
    await run(
      `insert into t values (1, 1); alter table t add column b text; alter function tidemark.lock_row_formats rename to hold_none`,
    );
    passASecond();
    expect(isReset(await client.pull())).toBe(true);
    expect(client.held()).toEqual(await tables.truth());
    await run(
      `alter function tidemark.hold_none rename to lock_row_formats; alter table t add column c text; insert into t values (2, 2)`,
    );
    passASecond();
    await client.pull();
    expect(await rowFormatsOf(tables)).toHaveLength(2);
  });

  it('that only the cookie of another server names is read first, without a reset', async () => {
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

  it('is deleted once no cookie can need it', async () => {
    const tables = await altered.start(ddl, { views });
    const { run, passASecond, client, url } = tables;
    await run('alter table t add column b text');
    passASecond();
    await client.pull();
    const db = openPool(url);
    try {
      await prune(db, 1e9);
      expect(await rowFormatsOf(tables)).toHaveLength(2);
      await run(`update tidemark.heartbeat set at = at - interval '1 hour'`);
      await prune(db, 60);
      const [left, ...others] = await rowFormatsOf(tables);
      expect([left!.isFirst, others]).toEqual([false, []]);
    } finally {
      await db.close();
    }
  });
});
