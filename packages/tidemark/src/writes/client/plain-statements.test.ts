import { describe, expect, it } from 'vitest';
import { isPlain } from './plain-statements.js';

describe('a plain statement', () => {
  it.each([
    'select 1',
    ' SELECT 1;\n',
    'insert into t values (1)',
    'update t set a = 1',
    'delete from t',
    'with x as (select 1) insert into t select * from x',
    'merge into t using s on true when matched then do nothing',
    'values (1)',
    'insert into t select * from u',
    'INSERT\n  INTO t values (1)',
    'merge into t using s on true when not matched then insert values (1)',
    'select pg_advisory_xact_lock(1)',
    'select intos from t',
    { text: 'select $1', values: [1] },
  ])('is recognized: %s', (statement) => expect(isPlain(statement)).toBe(true));
});

describe('any other statement', () => {
  it.each([
    'commit',
    'END',
    ' rollback',
    'abort',
    "prepare transaction 'x'",
    'begin',
    'savepoint a',
    'set local role other',
    'set constraints all deferred',
    'reset all',
    "select set_config('app.user', 'a', true)",
    `select pg_catalog."set_config"('app.user', 'a', true)`,
    'select 1; commit',
    'insert into t values (1); set local role other;',
    '/* hint */ commit',
    '-- select\ncommit',
    'select 1 as n into temp x',
    'with x as (select 1) select * into y from x',
    'select pg_advisory_lock(1)',
    'select pg_try_advisory_lock_shared(1)',
    'create temp table x (id int) on commit drop',
    'do $$ begin end $$',
    'call p()',
    'lock table t',
    'declare c cursor for select 1',
    'copy t from stdin',
    'selective',
    '',
    { name: 'prepared before' },
    { text: 'set local role other' },
    { text: 'select 1', submit: () => {} },
    null,
    undefined,
    7,
  ])('is not plain: %s', (statement) => expect(isPlain(statement)).toBe(false));
});
