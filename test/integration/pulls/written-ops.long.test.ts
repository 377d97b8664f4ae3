/** The ops of full pulls, which the server writes from columns, equal those that Postgres writes, byte for byte. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import {
  openFullPatch,
  openPatch,
  type PatchStream,
  type TooManyRows,
} from '../../../packages/tidemark/src/pulls/reads/patch-stream.js';
import { fullPatch } from '../../../packages/tidemark/src/store/patches/full-patch.js';
import { fullPatchWithChecksums } from '../../../packages/tidemark/src/store/patches/patch-sql.js';
import { literalObservation } from '../../../packages/tidemark/src/store/polls/poll.js';
import { ClientViews } from '../../../packages/tidemark/src/view/client-views.js';
import type { Views } from '../../../packages/tidemark/src/view/define.js';
import { Random } from '../../stress/oracle/random.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type Context, tableView } from '../../support/synced.js';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openPool(database.url, { max: 2 });
  await database.pool.query(`
    create extension citext; create extension hstore;
    create type mood as enum ('so "so"', 'a\\b', '');
    create type pair as (a text, j json, at timestamptz);
    create type told as enum ('x');
    create function to_json_of(told) returns json language sql immutable as $$ select '{ "told" : 1}'::json $$;
    create cast (told as json) with function to_json_of(told);`);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

/** A database whose COPY output arrives in pieces of this many bytes. */
const inPieces = (size: () => number): Database => ({
  ...db,
  async *copy(text) {
    for await (const chunk of db.copy(text)) {
      for (let at = 0, length = 0; at < chunk.length; at += length) {
        length = size();
        yield chunk.subarray(at, at + length);
      }
    }
  },
});

async function textOf(patch: Promise<PatchStream | TooManyRows>): Promise<string> {
  const stream = await patch;
  if (!stream.observation) throw new Error('There are too many rows');
  const { ops } = stream;
  const chunks: Uint8Array[] = [];
  for (let next = await ops.next(); !next.done; next = await ops.next()) chunks.push(next.value);
  return Buffer.concat(chunks).toString('latin1');
}

const observation = literalObservation({ base: undefined, tables: [], groupIDs: [`"q\\`] }, []);

/** The ops of a full pull, as the server and as Postgres write them. */
async function bothOf(views: Views<Context>, through = db): Promise<{ here: string; there: string }> {
  const resolved = await new ClientViews<Context>(db, views).resolve(
    { ctx: { userID: 'ada' }, profileID: '', schemaVersion: '' },
    '',
  );
  const here = await textOf(openFullPatch(through, fullPatch(observation, resolved)));
  const there = await textOf(openPatch(db, fullPatchWithChecksums(observation, resolved), true));
  return { here, there };
}

const rowsOf = (ops: string): { key: string; value: Record<string, unknown> }[] => JSON.parse(`[${ops}]`);

const quoted = (value: string) => `'${value.replaceAll("'", "''")}'`;
const all = Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code)).slice(1);
const awkward = ['', 'null', '\\N', '\\.', 'a\tb\nc\rd\\n"e"\\', '  padded  ', '👩‍👩‍👧 größe \u2028', all.join('')].map(
  quoted,
);
const json = ["'null'", `'{ "a" :1,\n\t"a": "\\\\ \\n \\u0000\\ud800",\r "n": [1.00, "" ] }'`, '\'"x"\''];
const ranges = (low: string, high: string) => ["'empty'", "'(,)'", `'[${low},${high})'`];

/** Values of every type that a column can have. */
const samples: Readonly<Record<string, readonly string[]>> = {
  bool: ['true', 'false'],
  int2: ['-32768', '0'],
  int4: ['-2147483648', '7'],
  int8: ['9007199254740991', '-9007199254740991', '9007199254740992', '-9007199254740992', '-9223372036854775808', '0'],
  numeric: [
    ...["'NaN'", "'Infinity'", "'-Infinity'", '0', '0.00', '1.000', '-1e-30', '100000000000000', '1000000000000000'],
    ...['123456789012345.000', '1234567890123456', '-0.123456789012345', '0.1234567890123456', '1e400'],
  ],
  float4: ["'NaN'", "'-0'", '0.1', '3.4e38', "'-Infinity'"],
  float8: ["'NaN'", "'-0'", '1e-300', '0.1::float8 + 0.2', '1.7976931348623157e308', '5e-324', "'Infinity'"],
  text: awkward,
  varchar: awkward,
  name: awkward.map((value) => `${value}::text::name`),
  bpchar: ["'ab  '", "''", "'\"\\'"],
  char: ["'a'", "''", "'\\200'", "'\"'", "'\\'", "e'\\t'"],
  bytea: ["''", "'\\x00ff5c27'"],
  json,
  jsonb: ["'null'", `'{"b": 1.00, "a\\n": [null, "\\"\\\\", 1e3, true]}'`],
  jsonpath: [`'$."a\\tb" ? (@ > 1)'`],
  xml: [`'<a b="&lt;">\n</a>'`],
  uuid: ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"],
  date: ["'infinity'", "'-infinity'", "'0044-03-15 BC'", "'2026-12-11'", "'12026-12-11'"],
  timestamp: ["'infinity'", "'-infinity'", "'2026-02-03 04:05:06.000001'", "'0044-03-15 04:05 BC'"],
  timestamptz: ["'infinity'", "'-infinity'", "'2026-02-03 04:05:06.7+13:45'", "'1880-01-01 00:00+00:53:28'"],
  time: ["'24:00:00'", "'04:05:06.789'"],
  timetz: ["'04:05:06.789+13:45'"],
  interval: ["'-1 year +2 mons -3 days 04:05:06.789'"],
  money: ["'-1234.56'"],
  bit: ["B'1'"],
  varbit: ["B''", "B'101'"],
  inet: ["'10.0.0.1/8'", "'::1'"],
  cidr: ["'10.0.0.0/8'"],
  macaddr: ["'08:00:2b:01:02:03'"],
  macaddr8: ["'08:00:2b:01:02:03:04:05'"],
  point: ["'(0.1,-0)'"],
  line: ["'{1,2,3}'"],
  lseg: ["'[(0,0),(1,1)]'"],
  box: ["'(1,1),(0,0)'"],
  path: ["'[(0,0),(1,1)]'"],
  polygon: ["'((0,0),(1,1),(1,0))'"],
  circle: ["'<(0,0),1>'"],
  tsvector: [`'''a \\\\ "b'':1A,3 c:2'`],
  tsquery: [`'''a"'' & !b <-> c:*'`],
  oid: ['4294967295'],
  tid: ["'(1,2)'"],
  xid: ["'7'"],
  xid8: ["'18446744073709551615'"],
  cid: ["'7'"],
  pg_lsn: ["'16/B374D848'"],
  pg_snapshot: ["'10:20:10,14'"],
  txid_snapshot: ["'10:20:10,14'"],
  refcursor: ["'a\"b'"],
  int4range: ranges('1', '5'),
  int8range: ranges('1', '9007199254740993'),
  numrange: ranges('1', '5.0'),
  daterange: ranges('2026-01-01', '2026-02-02'),
  tsrange: ranges('2026-01-01', '2026-02-02'),
  tstzrange: ranges('2026-01-01', '2026-02-02'),
  ...Object.fromEntries(
    ['int4', 'int8', 'num', 'date', 'ts', 'tstz'].map((name) => [`${name}multirange`, ["'{}'", "'{(,)}'"]]),
  ),
  mood: ['\'so "so"\'', "'a\\b'", "''"],
  told: ["'x'"],
  citext: awkward,
  hstore: [`'a=>"", "b \\" c"=>NULL'`],
  pair: [`row(e'a"\\n', '{ "a" :1}', '2026-02-03')`, "row(null, 'null', null)"],
};

/** Types that no column can have, or only with contents that change without a write. */
const others = /^(reg.*|aclitem|gtsvector|pg_(brin_.*|dependencies|mcv_list|ndistinct|node_tree))$/;

let tables = 0;

/** Creates a table with a text key, a column of each type, and a row for each of the values. */
async function tableOf(columns: readonly (readonly [type: string, values: readonly string[]])[]): Promise<string> {
  const table = `t${++tables}`;
  const names = columns.map((_, i) => `"c ${i} ""\\é"`);
  const typed = columns.map(([type], i) => `${names[i]} ${type}`);
  const height = Math.max(1, ...columns.map(([, values]) => values.length));
  const rows = Array.from({ length: height }, (_, n) => {
    const values = columns.map(([type, list]) => (list[n] === undefined ? 'null' : `(${list[n]})::${type}`));
    return `(${[`'k"\\${n}\t'`, ...values].join(', ')})`;
  });
  await database.pool.query(
    `create table ${table} (${['id text primary key', ...typed].join(', ')}); insert into ${table} values ${rows.join(', ')}`,
  );
  return table;
}

const named = (type: string) => (['char', 'bit'].includes(type) ? `pg_catalog."${type}"` : type);

describe('the server writes the same ops as Postgres', () => {
  it.each(Object.entries(samples))('for rows with columns of type %s', async (type, values) => {
    const domain = `domain_of_${type}`;
    await database.pool.query(`create domain ${domain} as ${named(type)}`);
    const present = [...values, 'null'];
    const array = `array[${values.map((value) => `(${value})::${named(type)}`).join(', ')}, null]`;
    const nested = `row((${values[0]})::${named(type)}, 1)`;
    await database.pool.query(`create type around_${type} as (v ${named(type)}, n int8)`);
    const table = await tableOf([
      [named(type), present],
      [domain, present],
      [`${named(type)}[]`, [array]],
      [`${domain}[]`, [`array[(${values[0]})::${domain}]`]],
      [`around_${type}`, [nested, 'null']],
      ['text', ["'last'"]],
    ]);
    const { here, there } = await bothOf({ one: tableView(table, 'id', 'one/"') });
    expect(here).toBe(there);
    expect(rowsOf(here)).toHaveLength(present.length);
  });

  it.each(Object.entries(samples))('for views whose value is a column of type %s', async (type, values) => {
    const present = [...values, 'null'];
    const table = await tableOf([
      [named(type), present],
      [`${named(type)}[]`, [`array[(${values[0]})::${named(type)}, null]`]],
    ]);
    const rows = tableView(table, 'id', 'rows/');
    const { here, there } = await bothOf({
      rows,
      one: { ...rows, prefix: 'one/', value: 'c 0 "\\é' },
      array: { ...rows, prefix: 'array/', value: 'c 1 "\\é' },
      key: { ...rows, prefix: 'key/', value: 'id' },
      full: { ...rows, prefix: 'full/', columns: { id: 'the "id\\' }, timestamps: 'UTC' },
      least: { ...rows, prefix: 'least/', nulls: 'omit', timestamps: 'UTC' },
    });
    expect(here).toBe(there);
    // Only the last row has nothing but its key.
    const least = rowsOf(here).filter(({ key, value }) => key.startsWith('least/') && Object.keys(value).length === 1);
    expect(least.map(({ value }) => Object.keys(value))).toEqual([['id']]);
    const found = new Map(rowsOf(here).map(({ key, value }) => [key, value as unknown]));
    expect(found.size).toBe(6 * present.length);
    for (const [key, value] of found) {
      if (!key.startsWith('rows/')) continue;
      const { id, ...columns } = value as Record<string, unknown>;
      const others = ['one', 'array', 'key'].map((name) => found.get(key.replace('rows', name)));
      expect(others).toStrictEqual([...Object.values(columns), id]);
    }
  });

  it('for every built-in type of Postgres', async () => {
    const { rows } = await database.pool.query<{ typname: string }>(
      `select typname from pg_type where typnamespace = 'pg_catalog'::regnamespace and typcategory <> 'A' and typtype in ('b', 'r', 'm')`,
    );
    expect(rows.map(({ typname }) => typname).filter((name) => !samples[name] && !others.test(name))).toEqual([]);
  });

  it('for types with a length', async () => {
    const table = await tableOf([
      ['char(5)', ["'ab'", "''"]],
      ['varchar(5)', ["'ab   '"]],
      ['numeric(6,2)', ['-9999.99', '1']],
      ['bit(3)', ["B'101'"]],
      ['timestamptz(0)', ["'2026-02-03 04:05:06.7'"]],
      ['text', ["repeat('x\"', 300000)"]],
    ]);
    const { here, there } = await bothOf({ one: tableView(table) });
    expect(here).toBe(there);
  });

  it.each([
    ['a date style and a time zone', "set datestyle = 'SQL, DMY'", "set timezone = 'Asia/Kathmandu'"],
    ['few digits of floats', 'set extra_float_digits = -5', "set bytea_output = 'escape'"],
  ])('in a session with %s', async (_, ...settings) => {
    const table = await tableOf(
      ['date', 'timestamp', 'timestamptz', 'interval', 'float8', 'bytea'].map((type) => [type, samples[type]!]),
    );
    const [one, two] = settings.map((setting) => setting.replace('set ', ''));
    await database.pool.query(
      `do $$ begin execute format('alter database %I set ${one!.replaceAll("'", "''")}', current_database());
        execute format('alter database %I set ${two!.replaceAll("'", "''")}', current_database()); end $$`,
    );
    const original = db;
    db = openPool(database.url, { max: 1 });
    try {
      const { here, there } = await bothOf({ one: tableView(table) });
      expect(here).toBe(there);
    } finally {
      await db.close();
      db = original;
      await database.pool.query(
        `do $$ begin execute format('alter database %I reset all', current_database()); end $$`,
      );
    }
  });
});

describe('a full pull', () => {
  it('writes the same ops as Postgres for views with different columns', async () => {
    const wide = await tableOf([
      ['int4', ['1', '2']],
      ['text', awkward],
      ['json', json],
      ['boolean', ['true']],
    ]);
    const narrow = await tableOf([['numeric', samples.numeric!]]);
    const alone = await tableOf([]);
    const views = {
      wide: tableView(wide, ['c 0 "\\é', 'id'], 'wide/'),
      narrow: tableView(narrow, 'id', 'narrow/'),
      alone: tableView(alone, 'id', 'alone/'),
      chosen: {
        ...tableView(wide, 'n', 'chosen/'),
        query: () => ({ text: `select 1 as n, "c 1 ""\\é" as "t\\" from ${wide}`, values: [] }),
      },
    };
    await database.pool.query(`delete from ${wide} where "c 0 ""\\é" is null`);
    const { here, there } = await bothOf(views);
    expect(here).toBe(there);
    expect(new Set(rowsOf(here).map(({ key }) => key.split('/')[0]))).toEqual(new Set(Object.keys(views)));
  });

  it('writes no ops for no rows and for no views', async () => {
    const table = await tableOf([['text', ["''"]]]);
    await database.pool.query(`delete from ${table}`);
    expect(await bothOf({ one: tableView(table, 'id', 'a'), two: tableView(table, 'id', 'b') })).toEqual({
      here: '',
      there: '',
    });
    expect(await bothOf({})).toEqual({ here: '', there: '' });
  });

  it('writes the same ops as Postgres for any texts, in pieces of any size', async () => {
    const seed = 20_261_123;
    const random = new Random(seed);
    const alphabet = ['\t', '\n', '\r', '\b', '\f', '\v', '\u0001', '\u001f', '\u007f', '"', '\\', 'N', 'ü', '👍', 'a'];
    const text = () => Array.from({ length: random.between(0, 9) }, () => random.pick(alphabet)).join('');
    const column = (make: () => string): string[] =>
      Array.from({ length: 300 }, () => (random.chance(0.2) ? 'null' : make()));
    const table = await tableOf([
      ['text', column(() => quoted(text()))],
      ['json', column(() => quoted(JSON.stringify({ [text()]: [text(), null] }, undefined, random.pick(['', '\t']))))],
      ['int8', column(() => `${random.between(-9, 9)}`)],
      ['text', column(() => quoted(text()))],
    ]);
    const views = { one: tableView(table, 'id', 'one/'), two: tableView(table, 'id', '"two\\/') };
    const { there } = await bothOf(views);
    expect(rowsOf(there)).toHaveLength(600);
    for (const maxBytes of [1, 2, 3, 11, 100, 5000]) {
      const { here } = await bothOf(
        views,
        inPieces(() => random.between(1, maxBytes)),
      );
      expect(here, `seed ${seed}, pieces up to ${maxBytes}`).toBe(there);
    }
  });
});
