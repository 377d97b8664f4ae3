/** The schemas of rows: what they state for each type, and that the rows sent conform to them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import type { OpenAPIDocument, SchemaObject } from '../../../packages/tidemark/src/openapi/types.js';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog, silent } from '../../support/log.js';
import type { Context } from '../../support/synced.js';

const ddl = `
  create type mood as enum ('happy', 'so "so"');
  create type pair as (a int, b text);
  create domain price as numeric check (value >= 0);
  create table sample (
    id int primary key, i2 int2, i8 int8, num numeric, f4 float4, f8 float8 not null default 'NaN', b bool,
    t text not null default '', u uuid, d date, ts timestamp, tz timestamptz, tm time, j json, jb jsonb, m mood, p pair,
    pr price, r int4range, by bytea, c char(3), iv interval, ai int8[], am mood[], aj json[], ap price[]);
  insert into sample (id) values (1);
  insert into sample values (2, 7, 9007199254740993, 123456789012345678, 'Infinity', 1.5, true, 't',
    'c0ffee00-0000-4000-8000-000000000000', '2026-01-31', '2026-01-31 12:00', '2026-01-31 12:00Z', '12:00',
    '{"a":1}', '[1]', 'so "so"', (1, 'b'), 1.5, '[1,2)', '\\x00', 'c', '1 day',
    '{1,null}', '{happy}', '{"{\\"a\\":1}"}', '{1.5}');
  create table other (id int primary key, n int not null);
  create table extreme (id int primary key, d date, tz timestamptz, ds date[], ai int8[], am mood[], ap price[], aj jsonb[]);
  insert into extreme values
    (1, 'infinity', '-infinity', '{{infinity},{2026-01-31}}', '{{1,2},{3,null}}', '{{happy}}', '{{{1.5}}}', '{{1},{2}}'),
    (2, '0044-03-15 BC', '0044-03-15 12:00Z BC', '{0044-03-15 BC}', '{}', null, '{NaN}', null),
    (3, '12026-01-31', '12026-01-31 12:00Z', '{{12026-01-31}}', null, null, null, null),
    (4, '1800-01-01', '1800-01-01', null, null, null, null, null);
  create table unchecked (id int primary key, n int);
  insert into unchecked values (1, null);
  do $$ begin
    if current_setting('server_version_num')::int >= 180000 then
      execute 'alter table unchecked add constraint known not null n not valid';
    end if;
  end $$`;

const views: Views<Context> = {
  sample: defineView<{ id: number }>({ query: () => sql`select * from sample`, key: 'id' }),
  extreme: defineView<{ id: number }>({ query: () => sql`select * from extreme`, key: 'id' }),
  extremeInUTC: defineView({
    query: () => sql<{ id: number }>`select * from extreme`,
    key: 'in UTC/{id}',
    timestamps: 'UTC',
    nulls: 'omit',
  }),
  unchecked: defineView<{ id: number }>({ query: () => sql`select * from unchecked`, key: 'id' }),
  uncheckedOmitted: defineView({
    query: () => sql<{ id: number; n: number }>`select * from unchecked`,
    key: 'omitted/{id}',
    nulls: 'omit',
  }),
  outer: defineView<{ id: number }>({
    query: () => sql`select s.id, o.n, s.t from sample s left join other o on o.id = s.id`,
    key: 'id',
  }),
  expression: defineView<{ double: number }>({
    query: () => sql`select id * 2 as double, t || '' as t from sample`,
    key: 'double',
  }),
  declared: defineView<{ id: number }>({
    query: () => sql`select id, j from sample`,
    key: 'id',
    row: z.object({ id: z.number(), j: z.object({ a: z.number() }).nullable() }),
  }),
  shaped: defineView({
    query: () =>
      sql<{
        id: number;
        user_id: string;
      }>`select id, t as user_id, u, coalesce(tz, 'epoch') as tz, j, f8 as my_f8 from sample`,
    key: 'list/{id}/{tz}',
    columns: 'camelCase',
    nulls: 'omit',
    timestamps: 'UTC',
    prefix: ({ ctx }) => `of ${ctx.userID}/`,
  }),
  time: defineView({
    query: () => sql<{ id: number; tz: string }>`select id, tz from sample where tz is not null`,
    key: 'time of/{id}',
    value: 'tz',
    timestamps: 'UTC',
  }),
  number: defineView({
    query: () => sql<{ id: number; i8: string }>`select id, i8 from sample`,
    key: 'id',
    value: 'i8',
  }),
};

let database: TestDatabase;
let sync: Sync;
let document: OpenAPIDocument;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query(ddl);
  await migrate({ database: database.url, views, log: silent });
  const { log } = memoryLog();
  sync = await createSync({ database: database.url, views, authenticate: () => ({ userID: 'ann' }), log });
  document = (await get('/api/openapi.json')) as OpenAPIDocument;
});
afterAll(async () => {
  await sync?.close();
  await database?.drop();
});

const get = async (path: string): Promise<unknown> => (await sync.fetch(new Request(`http://localhost${path}`))).json();

const schemaOf = (component: string) => document.components.schemas[component] as SchemaObject;
const columnsOf = (component: string) => schemaOf(component).properties as Readonly<Record<string, SchemaObject>>;

/** The formats of RFC 3339. */
const formats: Readonly<Record<string, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
};

/** True if a value conforms to a schema, for the few keywords that schemas of rows use. */
function accepts(schema: SchemaObject, value: unknown): boolean {
  const { type, format, anyOf, enum: values, items, properties, required } = schema as {
    type?: string | string[]; format?: string; anyOf?: SchemaObject[]; enum?: unknown[]; items?: SchemaObject;
    properties?: Record<string, SchemaObject>; required?: string[];
  }; // biome-ignore format: short
  if (typeof value === 'string' && format !== undefined && formats[format]?.test(value) === false) return false;
  if (anyOf && !anyOf.some((one) => accepts(one, value))) return false;
  if (values && !values.includes(value)) return false;
  if (type !== undefined && ![type].flat().some((one) => isOf(one, value))) return false;
  if (items && Array.isArray(value) && !value.every((item) => accepts(items, item))) return false;
  if (required && !required.every((name) => name in (value as object))) return false;
  if (!properties) return true;
  return Object.entries(value as object).every(
    ([name, item]) => name in properties && accepts(properties[name]!, item),
  );
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  return typeof value === type && value !== null;
}

const float = { anyOf: [{ type: 'number' }, { type: 'string', enum: ['NaN', 'Infinity', '-Infinity'] }] };
const orNull = (type: string, more = {}) => ({ type: [type, 'null'], ...more });
const described = { description: expect.stringContaining('infinity') };
const arrayOrNull = (element: object) => {
  const nested = { type: 'array', items: {}, description: expect.any(String) };
  return orNull('array', { items: { anyOf: [element, nested, { type: 'null' }] } });
};

describe('the schema of a row', () => {
  it('states the JSON type of each column, and whether it can be null', () => {
    const { i8, num, pr, ...others } = columnsOf('SampleRow');
    for (const [schema, type] of [[i8, 'integer'], [num, 'number'], [pr, 'number']] as const) {
      expect(schema).toMatchObject({ type: [type, 'string', 'null'] });
    } // biome-ignore format: short
    expect(others).toEqual({
      id: { type: 'integer', format: 'int32' },
      i2: orNull('integer'),
      f4: { anyOf: [...float.anyOf, { type: 'null' }] },
      f8: float,
      b: orNull('boolean'),
      t: { type: 'string' },
      u: orNull('string', { format: 'uuid' }),
      d: orNull('string', described),
      ts: orNull('string'),
      tz: orNull('string', described),
      tm: orNull('string'),
      j: {},
      jb: {},
      m: orNull('string', { enum: ['happy', 'so "so"', null] }),
      p: orNull('object'),
      r: orNull('string'),
      by: orNull('string'),
      c: orNull('string'),
      iv: orNull('string'),
      ai: arrayOrNull({ type: 'integer', format: 'int64' }),
      am: arrayOrNull({ type: 'string', enum: ['happy', 'so "so"'] }),
      aj: orNull('array', { items: {} }),
      ap: arrayOrNull(float),
    });
    expect(schemaOf('SampleRow').required).toHaveLength(26);
  });

  it('ignores NOT NULL in a query with an outer join, and for an expression', () => {
    expect(columnsOf('OuterRow')).toEqual({
      id: { type: 'integer', format: 'int32' },
      n: orNull('integer', { format: 'int32' }),
      t: orNull('string'),
    });
    expect(columnsOf('ExpressionRow')).toEqual({ double: { type: 'integer', format: 'int32' }, t: orNull('string') });
  });

  it('is the one that the view declares, if any', () => {
    expect(columnsOf('DeclaredRow').j).toMatchObject({ anyOf: [{ type: 'object' }, { type: 'null' }] });
  });

  it('has the names that clients see, and does not require fields that can be omitted', () => {
    expect(schemaOf('ShapedRow')).toEqual({
      type: 'object',
      required: ['id', 'userId', 'tz', 'myF8'],
      properties: {
        id: { type: 'integer', format: 'int32' },
        userId: { type: 'string' },
        u: { type: 'string', format: 'uuid' },
        tz: { type: 'string', description: expect.stringMatching(/UTC.*infinity/) },
        j: {},
        myF8: float,
      },
    });
  });

  it('is the schema of the column that the view uses as its value', async () => {
    expect(schemaOf('TimeRow')).toEqual(orNull('string', { description: expect.stringMatching(/UTC.*infinity/) }));
    expect(schemaOf('NumberRow')).toMatchObject({ type: ['integer', 'string', 'null'] });
    expect(await get('/api/views/time')).toEqual(['2026-01-31T12:00:00Z']);
    const numbers = (await get('/api/views/number')) as unknown[];
    expect(numbers).toEqual([null, '9007199254740993']);
    for (const number of numbers) expect(accepts(schemaOf('NumberRow'), number)).toBe(true);
    expect(accepts(schemaOf('NumberRow'), {})).toBe(false);
  });

  it('comes with the pattern of the keys', () => {
    const keyOf = (component: string) => JSON.stringify(schemaOf(component));
    expect(keyOf('ShapedPatch')).toContain('as `…list/{id}/{tz}`');
    expect(keyOf('TimePatch')).toContain('as `time of/{id}`');
    expect(keyOf('NumberPatch')).toContain('as `number/{id}`');
    expect(JSON.stringify(document.paths['/api/views/shaped/{key}'])).toContain('with a key: `list/{id}/{tz}`, with');
  });

  it.each([
    ['sample', 2],
    ['extreme', 4],
    ['extremeInUTC', 4],
    ['unchecked', 1],
    ['uncheckedOmitted', 1],
    ['outer', 2],
    ['expression', 2],
    ['declared', 2],
    ['shaped', 2],
  ])('accepts the rows that the view %s sends', async (view, count) => {
    const rows = (await get(`/api/views/${view}`)) as Readonly<Record<string, unknown>>[];
    expect(rows).toHaveLength(count);
    const schema = schemaOf(`${view.charAt(0).toUpperCase()}${view.slice(1)}Row`);
    for (const row of rows) {
      expect([row, accepts(schema, row)]).toEqual([row, true]);
      // Checks that `accepts` can also reject.
      expect(accepts(schema, { ...row, [Object.keys(row)[0]!]: [] })).toBe(false);
    }
  });
});

it('the document of a server without mutators has no calls', () => {
  expect(Object.keys(document.paths).filter((path) => path.includes('mutators'))).toEqual([]);
  expect(document.tags.map(({ name }) => name)).toEqual(['views']);
  expect(document.info.title).toBe('API');
});
