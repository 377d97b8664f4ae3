/**
 * The server refuses what it cannot follow while that lasts, not only at the start. After it is undone, no change has
 * been missed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../../../packages/tidemark/src/errors.js';
import { expectForgotten, type Setting, useAltered } from './altered.js';

const altered = useAltered();

beforeAll(() => altered.database.pool.query(`create role obstacle_reader login password 'x'`));
afterAll(() => altered.database.pool.query('drop owned by obstacle_reader; drop role obstacle_reader'));

const plain = 'create table t (id int primary key, n int); insert into t values (1, 10), (2, 20)';
const partitioned = `create table t (id int primary key, n int) partition by range (id);
  create table low partition of t for values from (0) to (100);
  insert into t values (1, 10), (2, 20)`;

interface Obstacle {
  readonly name: string;
  readonly ddl?: string;
  readonly setting?: Setting;
  readonly change: string;
  /** A part of the logged message. */
  readonly reason: string;
  readonly undo: string;
  /** True if rows may have changed without a log entry. */
  readonly isUnseen: boolean;
}

const elder = `create table elder (n int); ${plain}`;
const heir = `${plain}; create table heir (like t); insert into heir values (2, 22), (7, 70)`;

const obstacles: readonly Obstacle[] = [
  {
    name: 'a table that becomes the child of another',
    ddl: elder,
    change: 'alter table t inherit elder; update elder set n = n + 1',
    reason: 'which inherits from another table',
    undo: 'alter table t no inherit elder',
    isUnseen: true,
  },
  {
    name: 'a table that becomes the parent of a new one',
    change: 'create table heir () inherits (t); insert into heir values (7, 70); update t set n = n + 1',
    reason: 'which has INHERITS children',
    undo: 'drop table heir',
    isUnseen: true,
  },
  {
    name: 'a table that becomes the parent of one with rows',
    ddl: heir,
    change: 'alter table heir inherit t; update t set n = n + 1; delete from heir where id = 7',
    reason: 'which has INHERITS children',
    undo: 'alter table heir no inherit t',
    isUnseen: true,
  },
  {
    name: 'a table that becomes a partition',
    ddl: `${plain}; create table whole (like t) partition by range (id)`,
    change: `alter table whole attach partition t for values from (0) to (100);
      update whole set n = n + 1; insert into whole select max(id) + 1, 5 from whole`,
    reason: 'which is a partition',
    undo: 'alter table whole detach partition t',
    isUnseen: true,
  },
  {
    name: 'an unlogged table',
    change: 'alter table t set unlogged; update t set n = n + 1',
    reason: 'which is UNLOGGED',
    undo: 'alter table t set logged',
    isUnseen: false,
  },
  {
    name: 'an unlogged partition',
    ddl: partitioned,
    change: 'create unlogged table high partition of t for values from (100) to (200); insert into t values (150, 5)',
    reason: 'whose partition high is UNLOGGED',
    undo: 'alter table high set logged',
    isUnseen: false,
  },
  {
    name: 'a table that loses its primary key',
    change: 'alter table t drop constraint t_pkey; update t set n = n + 1',
    reason: 'which has no primary key',
    undo: 'alter table t add primary key (id)',
    isUnseen: false,
  },
  {
    name: 'a view in place of a table',
    change: 'alter table t rename to t_rows; create view t as select * from t_rows; update t set n = n + 1',
    reason: 'which is an SQL view',
    undo: 'drop view t; alter table t_rows rename to t',
    isUnseen: false,
  },
  {
    name: 'a materialized view in place of a table',
    change:
      'alter table t rename to t_rows; create materialized view t as select * from t_rows; update t_rows set n = 5',
    reason: 'which is not an ordinary table',
    undo: 'drop materialized view t; alter table t_rows rename to t',
    isUnseen: false,
  },
  {
    name: 'row-level security',
    setting: { role: 'obstacle_reader' },
    change:
      'create policy odd on t using (id % 2 = 1); alter table t enable row level security; update t set n = n + 1',
    reason: 'which has row-level security',
    undo: 'alter table t disable row level security',
    isUnseen: false,
  },
];

describe('on a running server', () => {
  it.each(obstacles)(
    '$name is refused a second later, and served again once undone',
    async ({ ddl = plain, setting, change, reason, undo, isUnseen }) => {
      const { run, client, passASecond, truth } = await altered.start(ddl, setting);
      // In the second round, the catalogs may hold traces of the first.
      for (const time of [1, 2]) {
        await run(change.replaceAll('create policy odd', time === 1 ? 'create policy odd' : 'create policy odd_too'));
        passASecond();
        const refusal = await client.pull().catch((error: unknown) => error);
        expect(refusal).toMatchObject({ code: 'unavailable', status: 503 });
        expect(((refusal as Problem).cause as Error).message).toContain(reason);

        await run(undo);
        passASecond();
        const { patch } = await client.pull();
        if (isUnseen && time === 1) expect(patch[0]).toEqual({ op: 'clear' });
        expect(client.held()).toEqual(await truth());

        await run('update t set n = n + 1 where id = 1; insert into t values (9, 9); delete from t where id = 9');
        const delta = await client.pull();
        expect(delta.patch).toHaveLength(1);
        expect(client.held()).toEqual(await truth());
        if (change.includes('partition of')) return;
      }
    },
  );
});

describe('before a server detects it', () => {
  it.each(obstacles)(
    '$name leaves no rows with clients once undone',
    async ({ ddl = plain, setting, change, undo }) => {
      await expectForgotten(await altered.start(ddl, setting), change, undo);
    },
  );
});
