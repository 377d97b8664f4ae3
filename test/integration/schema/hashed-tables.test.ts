/** Describing all tables takes as many statements as describing one, and describes each as if it were read alone. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findTables } from '../../../packages/tidemark/src/catalog/tables.js';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { readHashedTables } from '../../../packages/tidemark/src/schema/hashed-tables.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced } from '../../support/synced.js';

/** Each table is related to another: as the type of a column, a partition's parent, a child's parent, or by a name. */
const schema = `
  create schema other;
  create table plain (id int primary key, title text);
  create table other.plain (id int primary key, mood text);
  create type mood as enum ('fine', 'sad');
  create table typed (id int primary key, whole plain, moods mood[]);
  create table split (id int primary key, note text) partition by range (id);
  create table split_low partition of split for values from (0) to (10);
  create table split_high partition of split for values from (10) to (20) partition by list (id);
  create table split_ten partition of split_high for values in (10);
  create table parent (id int primary key);
  create table child (extra int) inherits (parent);
  create table fresh (id int primary key, parent_id int references parent on delete set null);
  create function nothing() returns trigger language plpgsql as $$ begin return null; end $$;
  create trigger tidemark_one after insert on plain execute function nothing();
  create trigger tidemark_two after insert on split_low execute function nothing();`;
const names = ['plain', 'other.plain', 'typed', 'split', 'split_low', 'parent', 'child', 'fresh'];

let database: TestDatabase;
let db: Database;
let statements = 0;

beforeAll(async () => {
  database = await createSynced(schema, {});
  const opened = openPool(database.pool);
  db = {
    ...opened,
    query: (statement) => {
      statements++;
      return opened.query(statement);
    },
  };
});
afterAll(() => database.drop());

async function tables(some: readonly string[] = names) {
  return (await findTables(db, some)).map((table) => table!);
}

async function schemaHashes(some?: readonly string[]) {
  const read = await readHashedTables(db, await tables(some));
  return new Map([...read.values()].map(({ schema: of, name, schemaHash }) => [`${of}.${name}`, schemaHash]));
}

it('a table is described the same whether it is read alone or with others', async () => {
  const all = await readHashedTables(db, await tables());
  expect(all.size).toBe(names.length);
  for (const table of await tables()) {
    const alone = await readHashedTables(db, [table]);
    expect(alone).toEqual(new Map([[table.oid, all.get(table.oid)]]));
  }
});

it('reading many tables takes as many statements as reading one', async () => {
  const count = async (some: readonly string[]) => {
    const found = await tables(some);
    statements = 0;
    await readHashedTables(db, found);
    return statements;
  };
  expect(await count(names)).toBe(await count(['plain']));
});

it.each([
  ['a table that is the type of a column', 'alter table plain add column more int', ['public.plain', 'public.typed']],
  ['an enum’s labels', `alter type mood add value 'wild'`, ['public.typed']],
  ['a trigger', 'alter table split_low disable trigger tidemark_two', ['public.split', 'public.split_low']],
  ['a partition of a partition', 'drop table split_ten', ['public.split']],
  ['a parent table', 'alter table child no inherit parent', ['public.child', 'public.parent']],
  ['a primary key', 'alter table other.plain drop constraint plain_pkey', ['other.plain']],
])('a change of %s changes the schema hashes of only the tables concerned', async (_, ddl, concerned) => {
  const before = await schemaHashes();
  await database.pool.query(ddl);
  const after = await schemaHashes();
  expect([...after.keys()].filter((name) => after.get(name) !== before.get(name)).sort()).toEqual(concerned);
});

it('a dropped table keeps its entry until another table has its name', async () => {
  const before = await tables(['fresh', 'plain']);
  await database.pool.query('drop table fresh');
  expect([...(await readHashedTables(db, before)).keys()]).toEqual(before.map(({ oid }) => oid));
  await database.pool.query('create table fresh (id int primary key)');
  const [created] = await tables(['fresh']);
  expect([...(await readHashedTables(db, before)).keys()]).toEqual([created!.oid, before[1]!.oid]);
});
