/** The effects of mutators' statements, as Postgres's own parser reads them. */
import { beforeAll, describe, expect, it } from 'vitest';
import { parserLoaded } from '../../view/parse/syntax.js';
import { effectOf } from './effects.js';

beforeAll(() => parserLoaded);

describe('a transaction statement', () => {
  it.each([
    ['begin', 'begin'],
    ['BEGIN;', 'begin'],
    ['begin transaction', 'begin'],
    ['begin work isolation level read committed, read write', 'begin'],
    ['start transaction isolation level repeatable read, not deferrable', 'begin'],
    ['/* traced */ begin', 'begin'],
    ['-- now\nbegin', 'begin'],
    ['commit', 'commit'],
    ['COMMIT WORK', 'commit'],
    ['end', 'commit'],
    ['commit and no chain', 'commit'],
    ['rollback', 'rollback'],
    ['abort transaction', 'rollback'],
  ])('is recognized: %s', (text, kind) => expect(effectOf(text)).toEqual({ kind }));
});

it.each([
  'set transaction isolation level read committed',
  'set transaction isolation level repeatable read, read write',
])('the statement %s requests permitted characteristics', (text) =>
  expect(effectOf(text)).toEqual({ kind: 'characteristics' }),
);

describe('a forbidden statement', () => {
  it.each([
    ['begin isolation level serializable', 'SERIALIZABLE'],
    ['start transaction read only', 'READ ONLY'],
    ['set transaction isolation level serializable', 'SERIALIZABLE'],
    ['set transaction read only', 'READ ONLY'],
    ['select 1; set transaction read only', 'READ ONLY'],
    ['commit and chain', 'chain'],
    ['rollback and chain', 'chain'],
    [`prepare transaction 'x'`, 'prepare'],
    [`commit prepared 'x'`, 'prepare'],
    [`rollback prepared 'x'`, 'prepare'],
    ['begin; insert into t values (1); commit', 'of their own'],
    ['insert into t values (1); commit', 'of their own'],
    ['select 1; /* commit */ end', 'of their own'],
    ['commit; begin', 'of their own'],
    ['select 1; commit and chain', 'chain'],
  ])('is recognized: %s', (text, reason) =>
    expect(effectOf(text)).toEqual({ kind: 'forbidden', reason: expect.stringContaining(reason) }),
  );
});

describe('a statement without a lasting effect', () => {
  it.each([
    'savepoint a',
    'release a',
    'rollback to savepoint a',
    'savepoint a; select 1; release a',
    'set local role other',
    `set local request.jwt.claims = '{"sub": "ann"}'`,
    'set local session authorization other',
    `select set_config('app.user', $1, true)`,
    `select pg_catalog.set_config('app.user', 'ann', true); set local role other`,
    'set constraints all deferred',
    `/* hint */ select 'commit'`,
    'lock table t',
    'truncate t',
    'copy t from stdin',
    'notify channel',
    'show search_path',
    'create temp table x (id int) on commit drop',
    'select pg_advisory_xact_lock(1); select 1',
  ])('is recognized: %s', (text) => expect(effectOf(text)).toEqual({ kind: 'other', mayLast: false }));
});

describe('a statement with a possible lasting effect', () => {
  it.each([
    'set role other',
    'set session role other',
    'reset role',
    'reset all',
    'set search_path to evil',
    'set session authorization other',
    'set session characteristics as transaction read only',
    `select set_config('app.user', 'ann', false)`,
    `select set_config('app.user', 'ann', $1)`,
    `select set_config('app.user', 'ann', is_local => true)`,
    `with x as (select pg_catalog.set_config('app.user', 'ann', false) as y) select * from x`,
    'select 1; set role other',
    'select pg_advisory_lock(1)',
    'select pg_catalog.pg_try_advisory_lock_shared(1, 2)',
    'create temp table x (id int)',
    'create temp table x as select 1',
    'select 1 as n into temp x',
    'create temp view x as select 1',
    'listen channel',
    'prepare x as select 1',
    'declare x cursor with hold for select 1',
    'discard temp',
    `load 'plpgsql'`,
    'do $$ begin end $$',
    'call p()',
    'explain analyze execute x',
    'this is not SQL',
    '',
    undefined,
  ])('is recognized: %s', (text) => expect(effectOf(text)).toEqual({ kind: 'other', mayLast: true }));
});
