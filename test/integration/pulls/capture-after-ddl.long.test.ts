/** DDL that leaves the capture of a table correct. Clients whose views do not read what it alters are unaffected. */
import { describe, expect, it } from 'vitest';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { useAltered } from './altered.js';

const altered = useAltered();

const narrow = {
  narrow: defineView<{ id: number; n: number | null }>({
    key: 'id',
    query: () => ({ text: 'select id, n from t', values: [] }),
  }),
};

const integers = 'create table t (id int primary key, n int); insert into t values (1, 10), (2, 20)';
const owned = (action: string) => `
  create table owner (id int primary key); insert into owner values (1), (2), (3), (4);
  create table t (id int primary key, n int references owner ${action}, heir int references owner ${action});
  insert into t (id, n) values (1, 1), (2, 2)`;
const cascading = owned('on update cascade on delete set null');

const write = 'update t set n = 3 where id = 1; insert into t (id, n) values (3, 4); delete from t where id = 2';

describe('capture', () => {
  it.each<[name: string, ddl: string, change: string, write?: string]>([
    [
      'continues after a table gets its first timestamptz column',
      integers,
      'alter table t add column at timestamptz not null default now()',
      // Two sessions with different settings write the same row: each finds what the other has left.
      `set timezone to 'Asia/Kathmandu'; set datestyle to 'German'; update t set n = 11 where id = 1;
       reset timezone; reset datestyle; update t set n = 12 where id = 1`,
    ],
    ['continues after a money column is added', integers, 'alter table t add column price money default 1'],
    ['continues after an interval column is added', integers, `alter table t add column span interval default '1 day'`],
    ['continues after a bytea column is added', integers, `alter table t add column bytes bytea default '\\xff'`],
    [
      'continues after an array of floats is added',
      integers,
      `alter table t add column floats float8[] default '{0.1}'`,
    ],
    [
      'continues after a cascading foreign key is dropped',
      cascading,
      'alter table t drop constraint t_n_fkey, drop constraint t_heir_fkey',
    ],
    [
      'continues after a foreign key stops cascading',
      cascading,
      'alter table t drop constraint t_heir_fkey; alter table t add foreign key (heir) references owner',
    ],
    ['continues after the column of a cascading foreign key is dropped', cascading, 'alter table t drop column heir'],
    [
      'continues after the table is dropped that a cascading foreign key references',
      cascading,
      'drop table owner cascade',
    ],
    [
      'continues after foreign keys are added that change a row twice in one statement',
      owned(''),
      `alter table t drop constraint t_n_fkey, drop constraint t_heir_fkey,
         add foreign key (n) references owner on delete set null, add foreign key (heir) references owner on delete set null;
       update t set heir = 3 - n`,
      'delete from owner where id < 3',
    ],
    [
      'continues after the primary key becomes deferrable',
      integers,
      'alter table t drop constraint t_pkey, add primary key (id) deferrable initially deferred',
      'update t set id = 3; update t set id = 4 where n = 10; update t set id = 1 where n = 20',
    ],
  ])('%s', async (_, ddl, change, written = write) => {
    const { run, client, elsewhere, migrate, passASecond, truth } = await altered.start(ddl, { views: narrow });
    await run(change);
    passASecond();
    const patches = [await client.pull()];
    await run(written);
    patches.push(await client.pull());
    expect(client.held()).toEqual(await truth());
    // A server that starts now serves, and `migrate` finds nothing to do.
    const { cookie } = client;
    const late = elsewhere();
    await late.pull();
    expect(late.held()).toEqual(client.held());
    await migrate();
    passASecond();
    patches.push(await client.pull());
    expect(patches.flatMap(({ patch }) => patch).filter(({ op }) => op === 'clear')).toEqual([]);
    expect(client.cookie).toEqual(cookie);
  });
});
