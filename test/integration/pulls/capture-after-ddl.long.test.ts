/** DDL after which the capture of a table is still right: nothing happens to clients whose views do not read what it alters. */
import { describe, expect, it } from 'vitest';
import { defineView } from '../../../src/view/define.js';
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

describe('the capture outlives DDL', () => {
  it.each<[name: string, ddl: string, change: string, write?: string]>([
    [
      'a timestamptz column in a table that had none',
      integers,
      'alter table t add column at timestamptz not null default now()',
      // Two sessions write the same row, with other settings: what one leaves, the other finds.
      `set timezone to 'Asia/Kathmandu'; set datestyle to 'German'; update t set n = 11 where id = 1;
       reset timezone; reset datestyle; update t set n = 12 where id = 1`,
    ],
    ['a money column', integers, 'alter table t add column price money default 1'],
    ['an interval column', integers, `alter table t add column span interval default '1 day'`],
    ['a bytea column', integers, `alter table t add column bytes bytea default '\\xff'`],
    ['an array of floats', integers, `alter table t add column floats float8[] default '{0.1}'`],
    [
      'a cascading foreign key dropped',
      cascading,
      'alter table t drop constraint t_n_fkey, drop constraint t_heir_fkey',
    ],
    [
      'a foreign key that no longer cascades',
      cascading,
      'alter table t drop constraint t_heir_fkey; alter table t add foreign key (heir) references owner',
    ],
    ['the column of a cascading foreign key dropped', cascading, 'alter table t drop column heir'],
    ['the table dropped that a cascading foreign key refers to', cascading, 'drop table owner cascade'],
    [
      'foreign keys that change a row twice in one statement',
      owned(''),
      `alter table t drop constraint t_n_fkey, drop constraint t_heir_fkey,
         add foreign key (n) references owner on delete set null, add foreign key (heir) references owner on delete set null;
       update t set heir = 3 - n`,
      'delete from owner where id < 3',
    ],
    [
      'a key that becomes deferrable',
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
