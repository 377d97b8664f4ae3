import { describe, expect, it } from 'vitest';
import { SetupError } from '../../../packages/tidemark/src/errors.js';
import { tableView, wholeTable } from '../../support/synced.js';
import { useAltered } from './altered.js';

const altered = useAltered();

const plain = `create type mood as enum ('glad', 'sad'); create type pair as (a int, b int);
  create table t (id int primary key, n int, mood mood default 'sad', pair pair[] default array[row(1, 2)::pair]);
  insert into t values (1, 10), (2, 20)`;
const partitioned = `create table t (id int primary key, n int) partition by range (id);
  create table low partition of t for values from (0) to (100);
  insert into t values (1, 10), (2, 20)`;

const unseen = 'update t set n = n + 1 where id = 1; insert into t values (3, 30); delete from t where id = 2';

describe('a pull', () => {
  it.each<[name: string, ddl: string, gap: string]>([
    ['a disabled trigger', plain, `alter table t disable trigger tidemark_update; ${unseen}`],
    ['disabled triggers', plain, `alter table t disable trigger all; ${unseen}`],
    ['a dropped trigger', plain, `drop trigger tidemark_delete on t; ${unseen}`],
    ['a dropped truncate trigger', plain, 'drop trigger tidemark_truncate on t; truncate t'],
    ['a trigger for replicas only', plain, `alter table t enable replica trigger tidemark_insert; ${unseen}`],
    [
      'a trigger that a replica role skips',
      plain,
      `alter table t enable trigger tidemark_update; set session_replication_role to replica; ${unseen}; reset session_replication_role`,
    ],
    [
      'a recreated table',
      plain,
      `drop table t; create table t (id int primary key, n int); insert into t values (1, 11), (5, 50)`,
    ],
    [
      'another table under the same name',
      plain,
      `create table t2 (id int primary key, n int); insert into t2 values (5, 50);
       alter table t rename to t_old; alter table t2 rename to t`,
    ],
    [
      'a new primary key',
      plain,
      `alter table t drop constraint t_pkey; alter table t add primary key (id, n); ${unseen}`,
    ],
    [
      'a disabled trigger of a partition',
      partitioned,
      'alter table low disable trigger all; insert into low values (7, 7)',
    ],
    ['a disabled trigger of the parent', partitioned, `alter table t disable trigger all; ${unseen}`],
  ])('is refused until a migration repairs %s', async (_, ddl, gap) => {
    const { run, client, passASecond, truth, ...synced } = await altered.start(ddl);
    await run(gap);

    const refusal = await synced.schemaState().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SetupError);
    expect((refusal as SetupError).message).toMatch(/gap_\d+\.t are not captured: .*Run `tidemark migrate`\.$/);

    passASecond();
    await expect(client.pull()).rejects.toMatchObject({ name: 'Problem', code: 'unavailable' });

    await synced.migrate();
    passASecond();
    const { patch } = await client.pull();
    expect(patch[0]).toEqual({ op: 'clear' });
    expect(client.held()).toEqual(await truth());

    await run('delete from t where id = 1; insert into t values (60, 60); update t set n = 0');
    const delta = await client.pull();
    expect(delta.patch[0]).not.toEqual({ op: 'clear' });
    expect(client.held()).toEqual(await truth());
  });
});

describe('a client', () => {
  const cases: [name: string, ddl: string, change: string, sinceVersion?: number][] = [
    ['a column is added with a default', plain, 'alter table t add column x int default 7'],
    ['a column is renamed', plain, 'alter table t rename column n to m'],
    ['a column is dropped', plain, 'alter table t drop column n'],
    ['a type is changed', plain, `alter table t alter column n type text using n || '!'`],
    ['an enum label is renamed', plain, `alter type mood rename value 'sad' to 'sorry'`],
    ['an attribute of a composite type is renamed', plain, 'alter type pair rename attribute a to z'],
    [
      'a trigger is disabled for a while',
      plain,
      `alter table t disable trigger tidemark_update; update t set n = 0; alter table t enable always trigger tidemark_update`,
    ],
    [
      'all triggers are disabled for a while in one transaction',
      plain,
      `begin; alter table t disable trigger all; ${unseen}; alter table t enable always trigger tidemark_insert,
       enable always trigger tidemark_update, enable always trigger tidemark_delete, enable always trigger tidemark_truncate; commit`,
    ],
    ['a partition is truncated alone', partitioned, 'truncate low'],
    ['a partition is detached', partitioned, 'alter table t detach partition low'],
    ['a partition is dropped', partitioned, 'drop table low'],
    [
      'a partition is detached, changed and attached again',
      partitioned,
      `alter table t detach partition low; update low set n = 99; insert into low values (3, 3);
       alter table t attach partition low for values from (0) to (100)`,
    ],
    [
      'the expression of a stored generated column changes',
      `create table t (id int primary key, n int, s int generated always as (n * 2) stored); insert into t values (1, 10)`,
      'alter table t alter column s set expression as (n * 3)',
      17_00_00,
    ],
    [
      'the expression of a virtual generated column changes',
      `create table t (id int primary key, n int, s int generated always as (n * 2) virtual); insert into t values (1, 10)`,
      'alter table t alter column s set expression as (n * 3)',
      18_00_00,
    ],
  ];

  it.each(cases)('is reset after %s', async (_, ddl, change, sinceVersion = 0) => {
    // Older servers cannot parse the last statements. With them, recreating the column is the alternative.
    const supported = altered.version >= sinceVersion;
    const { run, client, passASecond, truth } = await altered.start(supported ? ddl : ddl.replace('virtual', 'stored'));
    const before = client.held();
    await run(supported ? change : 'alter table t drop column s, add column s int generated always as (n * 3) stored');
    passASecond();
    const { patch } = await client.pull();
    expect(patch[0]).toEqual({ op: 'clear' });
    expect(client.held()).toEqual(await truth());
    expect(client.held()).not.toEqual(before);
  });

  it('receives the right rows after two synced tables swap their names', async () => {
    const { run, client, passASecond, truth } = await altered.start(
      `${plain}; create table u (like t including all); insert into u values (1, 77)`,
      { views: { t: tableView('t', 'id', 't/'), u: tableView('u', 'id', 'u/') } },
    );
    await run('alter table t rename to v; alter table u rename to t; alter table v rename to u');
    passASecond();
    await client.pull();
    expect(client.held()).toEqual(await truth());
    await run('update t set n = 78');
    await client.pull();
    expect(client.held()).toEqual(await truth());
    expect(client.rows.get('t/1')).toMatchObject({ n: 78 });
  });

  it('is refused until a migration if an earlier schema gets a table of the same name', async () => {
    const { run, client, passASecond, ...synced } = await altered.start(
      'create table public.shadowed (id int primary key, n int); insert into public.shadowed values (1, 1)',
      { views: wholeTable('shadowed') },
    );
    await run('create table shadowed (id int primary key, n int); insert into shadowed values (2, 2)');
    passASecond();
    await expect(client.pull()).rejects.toMatchObject({ code: 'unavailable' });
    await synced.migrate();
    passASecond();
    await client.pull();
    expect(client.held()).toEqual({ 2: { id: 2, n: 2 } });
    await run('drop table public.shadowed');
  });
});

it('a renamed table is refused until it has its name back, and no change is lost', async () => {
  const { run, client, passASecond, truth } = await altered.start(plain);
  await run(`alter table t rename to s; ${unseen.replaceAll(/\bt\b/g, 's')}`);
  passASecond();
  await expect(client.pull()).rejects.toMatchObject({ code: 'unavailable' });
  await run('alter table s rename to t');
  passASecond();
  await client.pull();
  expect(client.held()).toEqual(await truth());
});

it('writes to a detached partition are not sent', async () => {
  const { run, client, passASecond, truth } = await altered.start(partitioned);
  await run('create table keep partition of t for values from (100) to (200)');
  await run('alter table t detach partition keep; drop table keep; alter table t detach partition low');
  passASecond();
  await client.pull();
  await run('update low set n = 0; delete from low');
  expect((await client.pull()).patch).toEqual([]);
  expect(client.held()).toEqual(await truth());
});

describe('keys that only Postgres considers equal', () => {
  it.each<[string, string, string, string?]>([
    ['numeric', '1', '1.0'],
    ['interval', `'1 mon'`, `'30 days'`],
    [
      'text collate any_case',
      `'Ada'`,
      `'ADA'`,
      `create collation any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
    ],
  ])('replace each other at the client if their type is %s', async (type, before, after, ddl = 'select 1') => {
    const { run, client, truth } = await altered.start(
      `${ddl}; create table t (id ${type} primary key, n int); insert into t values (${before}, 1)`,
    );
    await run(`update t set id = ${after}`);
    await client.pull();
    expect(client.held()).toEqual(await truth());
    await run('update t set n = 2');
    await run('update t set n = 3');
    await client.pull();
    expect(client.held()).toEqual(await truth());
  });
});
