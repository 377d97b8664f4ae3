/** A query that changes without a write is refused in any form. A query that does not is accepted. */
import { describe, expect, it } from 'vitest';
import { analyze } from '../../../packages/tidemark/src/view/analyze.js';
import { ClientViews } from '../../../packages/tidemark/src/view/client-views.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { useDatabase } from './opened.js';

/** A type that is sorted by operators of its own. */
const sorted = (type: string, { equal, more }: { readonly equal: string; readonly more: string }) => `
    create type ${type} as (cents int);
    create function ${type}_equal(${type}, ${type}) returns boolean language sql ${equal} as 'select $1.cents = $2.cents';
    create function ${type}_less(${type}, ${type}) returns boolean language sql immutable as 'select $1.cents < $2.cents';
    create function ${type}_more(${type}, ${type}) returns boolean language sql ${more} as 'select $1.cents > $2.cents';
    create function ${type}_order(${type}, ${type}) returns int language sql immutable as 'select $1.cents - $2.cents';
    create operator === (leftarg = ${type}, rightarg = ${type}, function = ${type}_equal);
    create operator <<< (leftarg = ${type}, rightarg = ${type}, function = ${type}_less);
    create operator >>> (leftarg = ${type}, rightarg = ${type}, function = ${type}_more);
    create operator class ${type}_class default for type ${type} using btree
      as operator 1 <<<, operator 3 ===, operator 5 >>>, function 1 ${type}_order(${type}, ${type});`;

const opened = useDatabase(`
    create table rate (currency text primary key, rate numeric);
    create table t (id int primary key, s text, at timestamptz, day date, price int, doc jsonb, during tstzrange);
    create function in_eur(t) returns numeric language sql stable as 'select $1.price * rate from rate limit 1';
    create type money_eur as (cents int);
    create function to_eur(int) returns money_eur language plpgsql stable as 'begin return row($1)::money_eur; end';
    create cast (int as money_eur) with function to_eur(int);
    create function near(int, int) returns boolean language plpgsql stable as 'begin return $1 = $2; end';
    create operator ~~~ (leftarg = int, rightarg = int, function = near);
    create function step(int, int) returns int language plpgsql volatile as 'begin return $1 + $2; end';
    create domain configured as regconfig;
    create type typed as (a int, b regtype);
    create table named (id int primary key, c regclass);
    create table named_array (id int primary key, c regprocedure[]);
    create table named_domain (id int primary key, c configured);
    create table named_row (id int primary key, c typed[]);
    create table named_acl (id int primary key, c aclitem[]);
    create aggregate total (int) (sfunc = step, stype = int, initcond = '0');
    create function allowed(int) returns boolean language plpgsql stable as 'begin return true; end';
    create domain checked as int check (allowed(value));
    create function rates() returns int language sql stable as 'select count(*)::int from rate';
    create function plus(int, int default rates(), int default 0) returns int language sql immutable as 'select $1 + $2';
    create function dated(int, date default ('to' || 'day')::date) returns date language sql immutable as 'select $2';
    ${sorted('money_usd', { equal: 'stable', more: 'immutable' })}
    ${sorted('money_gbp', { equal: 'immutable', more: 'stable' })}
    create table sum (id int primary key, usd money_usd, gbp money_gbp);
    create type chance;
    create function chance_in(cstring) returns chance language internal volatile strict as 'textin';
    create function chance_out(chance) returns cstring language internal immutable strict as 'textout';
    create type chance (input = chance_in, output = chance_out, like = text);
    create type word;
    create function word_in(cstring) returns word language internal immutable strict as 'textin';
    create function word_out(word) returns cstring language internal immutable strict as 'textout';
    create type word (input = word_in, output = word_out, like = text);
    create function same(int) returns int language sql immutable as 'select $1';`);

describe('a query that can change without a write', () => {
  it.each([
    ['select id, t.in_eur from t', 'the function in_eur()'],
    ['select id, (t).in_eur from t', 'the function in_eur()'],
    ['select id, in_eur(t) as e from t', 'it uses the function in_eur(), which is not declared IMMUTABLE'],
    ['select id, (price::money_eur).cents as c from t', 'the function to_eur()'],
    ['select id from t where price ~~~ 3', 'the operator ~~~'],
    ['select id from t where price operator(public.~~~) any (array[1])', 'the operator ~~~'],
    ['select s as id, total(price) as n from t group by s', 'the function total()'],
    ['select id, sum(id) over (order by id), total(price) over (order by id) as n from t', 'the function total()'],
    ['select id, price::checked as c from t', 'the function allowed()'],
    ['select id, plus(price) as p from t', 'the function rates()'],
    ['select id, plus(price, 1, 2) as p, plus(price) as q from t', 'the function rates()'],
    ['select id, plus(price) as p, plus(price, 1, 2) as q from t', 'the function rates()'],
    ['select distinct usd as id from sum', 'the operator ===, and so the function money_usd_equal()'],
    ['select id from sum order by gbp using >>> limit 1', 'the operator >>>, and so the function money_gbp_more()'],
    ['select id from sum where (gbp, gbp) >>> (gbp, gbp)', 'the operator >>>, and so the function money_gbp_more()'],
    [
      'select id, s::chance as c from t',
      'it converts the type chance to or from text with a function that is declared VOLATILE',
    ],
    ["select id, string_to_array(s, ',')::date[] as d from t", 'reads a date from text'],
    ["select id, j.d from t, xmltable('/r' passing xmlelement(name r, s) columns d date) j", 'reads a date from text'],
    ['select id, dated(price) as p from t', 'reads a date from text'],
    ["select id from t where at > 'now'", "'now' as a timestamptz"],
    ["select id from t where at > ' Tomorrow '", 'as a timestamptz'],
    ["select id from t where day = 'today'", 'as a date'],
    ["select id from t where during && '[now,)'", 'as a timestamptz'],
    ["select id from t where at <@ '[yesterday,)'::tstzrange", 'as a timestamptz'],
    ["select id from t where at = any ('{now,tomorrow}')", 'as a timestamptz'],
    ["select id from t where at = any ('{now}'::timestamptz[])", 'as a timestamptz'],
    ['select id, s::timetz as at from t', 'reads a timetz from text'],
    ['select id, date(s) as at from t', 'reads a date from text'],
    ['select id, array[s]::date[] as at from t', 'reads a date from text'],
    ['select id, j.d from t, jsonb_to_record(doc) j (d date)', 'reads a date from text'],
    ['select id, jsonb_populate_record(null::t, doc) as j from t', 'reads a timestamptz from text'],
    ["select id, 'pg_class'::regclass::text as c from t", 'regclass'],
    ['select id, s::regclass::int as c from t', 'regclass'],
    ['select id, id::oid::regclass as c from t', 'it reads a value of the type regclass'],
    ['select id, array[id::oid::regrole] as c from t', 'it reads a value of the type regrole'],
    ['select id, to_json(id::oid::regtype) as c from t', 'it reads a value of the type regtype'],
    ['select id, concat(s, id::oid::regproc) as c from t', 'it reads a value of the type regproc'],
    ['select id, row(id::oid::regnamespace) as c from t', 'it reads a value of the type regnamespace'],
    ["select id, makeaclitem(id::oid, id::oid, 'SELECT', false) as c from t", 'it reads a value of the type aclitem'],
    ["select id, 'simple'::regconfig as c from t", 'it reads a value of the type regconfig'],
    ["select id, concat('simple'::regconfig) as c from t", 'it reads a value of the type regconfig'],
    ['select id, to_tsvector(s::regconfig, s) as c from t', 'regconfig'],
    ["select id from t where id::oid = 't'::regclass", 'it reads a value of the type regclass'],
    ['select id from named', 'whose column c has the type regclass'],
    ['select id from named_array', 'whose column c has the type regprocedure'],
    ['select id from named_domain', 'whose column c has the type regconfig'],
    ['select id from named_row', 'whose column c has the type regtype'],
    ['select id from named_acl', 'whose column c has the type aclitem'],
    ['select id, (at::time)::timetz as x from t', 'timetz()'],
    ['select id, ctid::text as x from t', 'system column'],
    ['select id, tableoid as x from t', 'system column'],
  ])('is refused: %s', async (text, message) => {
    await expect(analyze(opened.db, text, ['id'])).rejects.toThrow(message);
  });
});

describe('a query that changes only after writes', () => {
  it.each([
    "select id from t where to_tsvector('english', s) @@ websearch_to_tsquery('english', $1)",
    "select id, ts_headline('english', s, to_tsquery('simple', 'x')) as h from t",
    "select id from t where s = 'now'",
    'select id, s::word as w, s::word::text as s from t',
    'select id from t where id::oid::regclass = 1::oid::regclass',
    'select id from sum where usd <<< row(3)::money_usd',
    'select id, plus(price, 1, 2) as p, dated(id, day) as d from t',
    "select id, s || 'today' as x from t",
    "select id, at + interval '1 day' as x, at::date as d, day::timestamptz as e from t",
    "select id, to_timestamp(s, 'YYYY') as x, date_trunc('day', at) as y, at at time zone 'UTC' as z from t",
    'select id, same(price) as x, price::text as y, at::text as z, day::text as d, doc::text as j from t',
    "select id, extract(epoch from at) as x, to_char(at, 'YYYY') as y, format('%s', at) as z from t",
    'select id, j.d from t, jsonb_to_record(doc) j (d int)',
    "select id, doc->>'x' as x, (doc->>'n')::int as n, concat(at, day) as y, to_jsonb(at) as z from t",
    "select id from t where at > '2026-01-01' and during && '[2026-01-01,)'",
    'select id from t where at > $1 and day = any ($2)',
    "select id, (doc ->> 'due')::date as due, cast(s as timestamptz) as at from t",
  ])('is accepted: %s', async (text) => {
    await analyze(opened.db, text, ['id']);
  });
});

it.each(['select id, at::date as x, day::timestamptz as y from t', 'select id, s as x from t where at > $1'])(
  'a query that reads no date from text stays as it is: %s',
  async (text) => {
    expect((await analyze(opened.db, text, ['id'])).text).toBe(text);
  },
);

it.each([
  "select (doc ->> 'due')::date as id from t",
  "select (doc ->> 'due')::date as id from t group by (doc ->> 'due')::date",
  'select cast(s as timestamptz) as id from t where id = 1 order by cast(s as timestamptz) limit 1',
])('a query fails if it reads a text that means a different time on each read: %s', async (text) => {
  const { text: served } = await analyze(opened.db, text, ['id']);
  await opened.database.pool.query('truncate t');
  await opened.database.pool.query(`insert into t (id, s, doc) values (1, '2026-01-01', '{"due": "2026-01-01"}')`);
  expect((await opened.database.pool.query(served)).rows).toHaveLength(1);
  await opened.database.pool.query(`update t set s = 'now', doc = '{"due": "today"}'`);
  await expect(opened.database.pool.query(served)).rejects.toThrow('a view cannot read text such as "now" as a date');
});

// Older versions of Postgres do not support it.
it('a date that JSON_VALUE reads is refused where Postgres supports it', async () => {
  const text = "select id, json_value(doc, '$.due' returning date) as due from t";
  await expect(analyze(opened.db, text, ['id'])).rejects.toThrow(/reads a date from text|syntax error/);
});

describe('a parameter that means a different time on each read', () => {
  // Postgres numbers values passed to a subquery like parameters. Here, the second one is a date/time value.
  const at = 'select id from t where at > $1 and s <> $2 and (id, at) = (select id, at from t order by id limit 1)';
  const resolve = (text: string, value: unknown) =>
    new ClientViews(opened.db, {
      t: defineView({ query: () => ({ text, values: [value, 'now'] }), key: 'id' }),
    }).resolve({ ctx: { userID: 'ann' }, profileID: '', schemaVersion: '' }, '');

  it.each<[text: string, fixed: unknown, moving: unknown]>([
    [at, '2026-01-01', 'now'],
    ['select id from t where at = any ($1) and s <> $2', '{2026-01-01}', '{2026-01-01,now}'],
    ['select id from t where at = any ($1) and s <> $2', ['2026-01-01'], ['2026-01-01', 'now']],
  ])('is refused in %s, and %j is not', async (text, fixed, moving) => {
    await resolve(text, fixed);
    await expect(resolve(text, moving)).rejects.toThrow(`parameter $1 is '${String(moving)}'`);
  });
});
