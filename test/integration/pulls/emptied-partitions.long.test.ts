/** Removed partitions without rows reset no client. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import { recordEmptyPartitions } from '../../../packages/tidemark/src/store/row-formats/empty-partitions.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { useAltered } from './altered.js';

const altered = useAltered();

const views = {
  rows: defineView<Record<string, unknown>>({
    key: 'id',
    query: () => ({ text: 'select id, n from t', values: [] }),
  }),
};
const ddl = `create table t (id int primary key, n int, a text) partition by range (id);
  create table low partition of t for values from (0) to (100); create table rest partition of t default;
  create table high (a text, gone int, n int, id int primary key); alter table high drop column gone;
  insert into high (id, n) values (150, 5), (151, 6); insert into t (id, n) values (1, 10), (2, 20)`;
const attach = 'alter table t attach partition high for values from (100) to (200)';
const empty = 'delete from t where id between 100 and 199';
const drop = 'drop table high';

const ops = ({ patch }: { patch: readonly { op: string; key?: string }[] }) =>
  patch.map(({ op, key }) => (key === undefined ? op : `${op} ${key.split('/')[1]}`)).sort();

async function start() {
  const tables = await altered.start(`${ddl}; ${attach}`, { views });
  const db = openPool(tables.url);
  onTestFinished(() => db.close());
  await tables.client.pull();
  return { ...tables, db, record: () => recordEmptyPartitions(db) };
}

describe('an emptied partition', () => {
  it.each<[name: string, change: string]>([
    ['is dropped', drop],
    ['is detached', 'alter table t detach partition high'],
    ['is truncated', 'truncate high'],
    ['is rewritten', 'alter table high set (autovacuum_enabled = off); vacuum full high'],
  ])('resets no client when it %s', async (_, change) => {
    const { client, newcomer, run, runAlone, record, passASecond, truth } = await start();
    const late = newcomer();
    await late.pull();
    await run(`${empty}; update t set n = 11 where id = 1`);
    await record();
    await client.pull();
    for (const one of change.split('; ')) await runAlone(one);
    passASecond();
    expect(ops(await client.pull())).toEqual([]);
    await run('update t set n = n + 1 where id = 2; insert into t (id, n) values (170, 1)');
    expect(ops(await late.pull())).toEqual(expect.arrayContaining(['del 150', 'del 151', 'put 1']));
    await client.pull();
    for (const one of [client, late]) expect(one.held()).toEqual(await truth());
  });

  it.each<[name: string, between: string]>([
    ['receives a row', 'insert into t (id, n) values (160, 1)'],
    ['receives and loses a row', 'insert into t (id, n) values (160, 1); delete from t where id = 160'],
  ])('resets clients when it is dropped if it %s after it was recorded', async (_, between) => {
    const { client, run, record, passASecond, truth } = await start();
    await run(empty);
    await record();
    await client.pull();
    await run(between);
    await run(drop);
    passASecond();
    expect(ops(await client.pull())).toContain('clear');
    expect(client.held()).toEqual(await truth());
  });

  it('resets clients when it is dropped if it was filled while it was detached', async () => {
    const { client, newcomer, run, record, passASecond, truth } = await start();
    await run(empty);
    await record();
    await client.pull();
    await run(`alter table t detach partition high; insert into high (id) values (160); ${attach}`);
    passASecond();
    const late = newcomer();
    await late.pull();
    expect(late.held()).toHaveProperty('rows/160');
    await run(drop);
    passASecond();
    for (const one of [client, late]) {
      expect(ops(await one.pull())).toContain('clear');
      expect(one.held()).toEqual(await truth());
    }
  });

  it('is recorded again after it had rows', async () => {
    const { client, run, record, passASecond, truth } = await start();
    await run(empty);
    await record();
    await run('insert into t (id, n) values (160, 1)');
    await record();
    await run(empty);
    await record();
    await run(drop);
    passASecond();
    expect(ops(await client.pull())).toEqual(['del 150', 'del 151']);
    expect(client.held()).toEqual(await truth());
  });

  it('is recorded again before the horizon passes the first record', async () => {
    const { client, run, db, record, passASecond, truth } = await start();
    await run(empty);
    await record();
    await client.pull();
    for (let i = 0; i < 3; i++) await prune(db, 0);
    await client.pull();
    await record();
    await run(drop);
    passASecond();
    expect(ops(await client.pull())).toEqual([]);
    expect(client.held()).toEqual(await truth());
  });

  it('is not recorded while a transaction that has written to it is open', async () => {
    const { client, run, runAlone, record, passASecond, truth } = await start();
    const { database } = altered;
    const other = await database.pool.connect();
    try {
      await run(empty);
      const { rows } = await database.pool.query<{ schema: string }>(
        `select relnamespace::regnamespace::text as schema from pg_class where relname = 'high' order by oid desc limit 1`,
      );
      await other.query(`begin; insert into ${rows[0]!.schema}.t (id, n) values (170, 1)`);
      await record();
      await other.query('commit');
      await client.pull();
      await runAlone(drop);
      passASecond();
      expect(ops(await client.pull())).toContain('clear');
      expect(client.held()).toEqual(await truth());
    } finally {
      other.release();
    }
  });
});
