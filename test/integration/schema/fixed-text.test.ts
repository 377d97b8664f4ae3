/** Rows have the same text in the change log whatever the settings of the session that writes them, even after DDL. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { createEmptyDatabase, createPool, type TestDatabase, untilWaiting } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { wholeTable } from '../../support/synced.js';

let database: TestDatabase;
let pool: pg.Pool;
let writer: pg.Client;
beforeAll(async () => {
  database = await createEmptyDatabase();
  pool = createPool(database.url, 2);
  writer = new pg.Client({ connectionString: database.url });
  await writer.connect();
  await writer.query(`set timezone to 'Asia/Kathmandu'; set datestyle to 'German'; set extra_float_digits = -3;
    set intervalstyle to 'postgres_verbose'; set bytea_output to 'escape'`);
});
afterAll(async () => {
  await writer.end();
  await pool.end();
  await database.drop();
});

let tables = 0;

/** Creates a captured table with these columns. */
async function capture(columns: string, kind: 'ordinary' | 'partitioned' = 'ordinary'): Promise<string> {
  const table = `t${++tables}`;
  const scope = kind === 'ordinary' ? '' : ' partition by range (id)';
  await pool.query(`create table ${table} (id int primary key, ${columns})${scope}`);
  if (kind === 'partitioned') {
    // The second partition has its columns in another order.
    await pool.query(`create table ${table}_low partition of ${table} for values from (minvalue) to (3);
      create table ${table}_high (${columns.split(',').reverse().join(',')}, id int not null);
      alter table ${table} attach partition ${table}_high for values from (3) to (maxvalue)`);
  }
  await install(table);
  return table;
}

const install = (table: string) => migrate({ database: pool, views: wholeTable(table, ['id']), log: silent });

/** True if a table's capture function has the settings that determine how rows are written as text. */
async function hasSettings(table: string): Promise<boolean> {
  const { rows } = await pool.query<{ config: string[] }>(
    `select proconfig as config from pg_proc where proname = 'capture_' || (
       select id from tidemark.synced_table where relation = $1::regclass)`,
    [table],
  );
  return rows[0]!.config.some((setting) => setting.startsWith('TimeZone='));
}

/** The old rows in the change log. */
async function oldTexts(table: string): Promise<string[]> {
  const { rows } = await pool.query<{ old: string }>(
    `select old from tidemark.change join tidemark.synced_table on id = table_id
     where relation = $1::regclass and old is not null order by xid, old`,
    [table],
  );
  return rows.map(({ old }) => old);
}

/** The hashes of new rows in the log that belong neither to a present row nor to an old row. */
async function strayHashes(table: string): Promise<string[]> {
  const partitions = await pool.query<{ name: string }>(
    'select relid::regclass::text as name from pg_partition_tree($1) where isleaf',
    [table],
  );
  const texts = [{ name: table }, ...partitions.rows].map(
    ({ name }) => `select tidemark.fixed_text(t.*) from ${name} t`,
  );
  const { rows } = await pool.query<{ hash: string }>(
    `select new_hash::text as hash from tidemark.change join tidemark.synced_table on id = table_id
     where relation = $1::regclass and new_hash is not null
       and new_hash <> all (array(select hashtextextended(text, 0) from (${texts.join(' union all ')}) r (text)))
       and new_hash <> all (array(select hashtextextended(old, 0) from tidemark.change where old is not null))`,
    [table],
  );
  return rows.map(({ hash }) => hash);
}

describe('tidemark.has_fixed_text', () => {
  it.each<[type: string, isFixed: boolean, ddl?: string]>([
    ...[
      'int2',
      'int4',
      'int8',
      'numeric',
      'numeric(5,2)',
      'bool',
      'text',
      'varchar',
      'varchar(9)',
      'char(3)',
      'uuid',
    ].map((type): [string, boolean] => [type, true]),
    ...['json', 'jsonb', 'inet', 'bool[]', 'int4[]', 'int8[]', 'numeric[]', 'text[]', 'varchar(9)[]', 'uuid[]'].map(
      (type): [string, boolean] => [type, true],
    ),
    ...['timestamptz', 'timestamp', 'date', 'time', 'timetz', 'interval', 'float4', 'float8', 'bytea', 'money'].map(
      (type): [string, boolean] => [type, false],
    ),
    ...['float8[]', 'timestamptz[]', 'tstzrange', 'point', 'xml', 'cidr', 'name', '"char"', 'tsvector', 'oid'].map(
      (type): [string, boolean] => [type, false],
    ),
    ['moment', false, 'create domain moment as timestamptz'],
    ['number', false, 'create domain number as int'],
    ['mood', true, `create type mood as enum ('a')`],
    ['mood[]', false],
    ['"Mood_2"', true, `create type "Mood_2" as enum ('a')`],
    ['"what mood"', false, `create type "what mood" as enum ('a')`],
    ['"order".mood', true, `create schema "order"; create type "order".mood as enum ('a')`],
    ['"no mood"', false, `create type "no mood" as (at timestamptz); create type "no_x0020_mood" as enum ('a')`],
    ['"pg.catalog".text', false, 'create schema "pg.catalog"; create type "pg.catalog".text as (at timestamptz)'],
    ['"UDT.x.pg_catalog.text"', false, 'create type "UDT.x.pg_catalog.text" as (at timestamptz)'],
    ['"INTEGER"', false, 'create domain "INTEGER" as timestamptz'],
  ])('for the type %s returns %s', async (type, isFixed, ddl = '') => {
    await pool.query(ddl);
    const table = await capture(`"type=""INTEGER"" <v>" ${type}`);
    expect(await hasSettings(table)).toBe(!isFixed);
    const { rows } = await pool.query(
      'select tidemark.has_fixed_text(id) as is from tidemark.synced_table where relation = $1::regclass',
      [table],
    );
    expect(rows).toEqual([{ is: isFixed }]);
  });
});

describe.each(['ordinary', 'partitioned'] as const)('a session with cached plans for a table (%s)', (kind) => {
  /** A table of numbers that the writer's session has written to. */
  async function createWrittenTable(): Promise<string> {
    const table = await capture('n bigint, o int, old_rows int', kind);
    await writer.query(`insert into ${table} values (1, 10), (2, 20), (3, 30)`);
    await writer.query(`update ${table} set n = n + 1 where id = 1`);
    await writer.query(`update ${table} set n = n + 1`);
    expect(await oldTexts(table)).toHaveLength(4);
    await pool.query('truncate tidemark.change');
    return table;
  }

  const at = `at timestamptz not null default '2026-01-02 03:04:05Z'`;

  /** Runs each kind of write after another session's DDL. */
  async function writeAll(table: string): Promise<void> {
    await writer.query(`update ${table} set o = 1 where id = 1`);
    await writer.query(`update ${table} set o = 2`);
    await writer.query(`update ${table} set id = 4 where id = 3`);
    await writer.query(`insert into ${table} (id) values (5)`);
    await writer.query(`delete from ${table} where id = 2`);
  }

  it.each<[string, string]>([
    ['adds a column', `add column ${at}`],
    ['adds a date', `add column on_day date not null default '2026-01-02'`],
    ['adds an interval', `add column span interval not null default 'P1Y2M3DT4H'`],
    ['adds bytes', `add column bytes bytea not null default '\\xc0ffee'`],
    ['adds an array', `add column ats timestamptz[] not null default '{2026-01-02 03:04:05Z}'`],
    ['replaces a column', `drop column n, add column ${at}`],
    ['changes a type', `alter column n type timestamptz using '2026-01-02 03:04:05Z'`],
    ['changes a type to float8', 'alter column n type float8 using n / 13.0'],
  ])('writes the same text after DDL that %s', async (_, action) => {
    const table = await createWrittenTable();
    await pool.query(`alter table ${table} ${action}`);
    await writeAll(table);
    expect(await strayHashes(table)).toEqual([]);
    const olds = await oldTexts(table);
    expect(olds).toHaveLength(6);
    for (const old of olds) expect(old).toMatch(/2026-01-02|P1Y2M3DT4H|\\xc0ffee|\d\.\d{14,}/);
  });

  it.each(['repeatable read', 'serializable'])(
    'writes the same text in a %s snapshot that is older than the DDL',
    async (level) => {
      const table = await createWrittenTable();
      await writer.query(`begin isolation level ${level}; select count(*) from pg_class`);
      await pool.query(`alter table ${table} add column ${at}`);
      await writeAll(table);
      await writer.query('commit');
      expect(await strayHashes(table)).toEqual([]);
      expect((await oldTexts(table)).filter((old) => !old.includes('2026-01-02 03:04:05+00'))).toEqual([]);
    },
  );

  it('writes the same text after it has waited for the DDL', async () => {
    const table = await createWrittenTable();
    const altering = await pool.connect();
    try {
      await altering.query(`begin; alter table ${table} add column ${at}`);
      // This statement takes its snapshot before it gets the lock.
      const writing = writer.query(`do $$begin
        insert into ${table} (id) values (6); update ${table} set o = 3; delete from ${table} where id < 3;
      end$$`);
      await untilWaiting(pool);
      await altering.query('commit');
      await writing;
    } finally {
      altering.release();
    }
    expect(await strayHashes(table)).toEqual([]);
    expect((await oldTexts(table)).filter((old) => !old.includes('2026-01-02 03:04:05+00'))).toEqual([]);
  });

  it('writes the same text on a Postgres built without libxml', async () => {
    const { rows } = await pool.query(`select pg_get_functiondef('tidemark.has_fixed_text'::regproc) as definition`);
    const { definition } = rows[0];
    await pool.query(`create or replace function public.no_schema(regclass, boolean, boolean, text) returns text language plpgsql as $$begin
      raise feature_not_supported using message = 'unsupported XML feature';
    end$$`);
    await pool.query(definition.replace('table_to_xmlschema(', 'public.no_schema('));
    try {
      const table = await createWrittenTable();
      await pool.query(`alter table ${table} add column ${at}`);
      await writeAll(table);
      expect(await strayHashes(table)).toEqual([]);
    } finally {
      await pool.query(definition);
    }
  });

  it('writes the same text after its own DDL in the same transaction', async () => {
    const table = await createWrittenTable();
    await writer.query(`begin; alter table ${table} add column ${at}`);
    await writeAll(table);
    await writer.query('commit');
    expect(await strayHashes(table)).toEqual([]);
  });

  it('writes with fixed settings after `migrate`, and without them once the column is dropped', async () => {
    const table = await createWrittenTable();
    expect(await hasSettings(table)).toBe(false);
    await pool.query(`alter table ${table} add column ${at}`);
    await install(table);
    expect(await hasSettings(table)).toBe(true);
    await writeAll(table);
    expect(await strayHashes(table)).toEqual([]);
    await pool.query(`alter table ${table} drop column at`);
    await install(table);
    expect(await hasSettings(table)).toBe(false);
  });
});

describe('a session that names a partition', () => {
  it('writes the same text after DDL on the table', async () => {
    const table = await capture('n bigint', 'partitioned');
    await writer.query(`insert into ${table}_low values (1, 10), (2, 20)`);
    await writer.query(`update ${table}_low set n = n + 1`);
    await pool.query(`truncate tidemark.change; alter table ${table} add column at timestamptz default '2026-01-02'`);
    await writer.query(`delete from ${table}_low`);
    expect(await oldTexts(table)).toEqual(['(1,11,"2026-01-02 00:00:00+00")', '(2,21,"2026-01-02 00:00:00+00")']);
  });

  it('does not wait for DDL that waits for it', async () => {
    const table = await capture('n bigint', 'partitioned');
    await writer.query(`insert into ${table} values (1, 10)`);
    const altering = await pool.connect();
    const fresh = new pg.Client({ connectionString: database.url });
    try {
      await altering.query(`begin; lock table only ${table} in access exclusive mode`);
      await fresh.connect();
      await fresh.query(`set statement_timeout = '10s'; begin; delete from ${table}_low`);
      const waiting = altering.query(`alter table ${table} add column at timestamptz`);
      await untilWaiting(pool);
      await fresh.query('commit');
      await waiting;
      await altering.query('commit');
    } finally {
      await fresh.end();
      altering.release();
    }
    expect(await oldTexts(table)).toEqual(['(1,10)']);
  });
});
