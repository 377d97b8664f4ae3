/** Tables for queries that are made deterministic, in a database of the test file's own. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { type Analysis, analyze } from '../../../packages/tidemark/src/view/analyze.js';
import { deparseSelect, parserLoaded, parseSelect } from '../../../packages/tidemark/src/view/parse/syntax.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';

const tables = `
  create schema o;
  create table t (id int primary key, x int, s text, p numeric, q numeric(9, 2), f float8, doc jsonb, raw json);
  create table o.t (id int primary key, x int);
  create table u (a int, b int, t_id int, primary key (a, b));
  create table price (a int, b int, p numeric, primary key (a, b));
  create type pair as (a int, b int);
  create table tag (tag text primary key, s text);
  create table tidemark_header (id int primary key);
  create table no_tidemark_header (id int primary key);
  create table o.wide ("two words" int primary key, ${Array.from({ length: 30 }, (_, i) => `"a name ${i}" int`)});
  create function twice(t) returns int language sql immutable as 'select $1.x * 2';
  create function named(t) returns text language sql immutable as 'select $1.s';
  create aggregate product (int) (sfunc = int4mul, stype = int, initcond = '1');`;

/** @returns a function that analyzes a query whose rows are identified by their `id` */
export function useTables(): (text: string) => Promise<Analysis> {
  let database: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    await parserLoaded;
    database = await createEmptyDatabase();
    db = openPool(database.url);
    await database.pool.query(tables);
  });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });
  return (text) => analyze(db, text, ['id']);
}

/** The reason why a query is refused. */
export async function refusalOf(analysis: Promise<Analysis>): Promise<string> {
  const error = await analysis.then(
    ({ text }) => expect.fail(`it is served: ${text}`),
    (reason: unknown) => reason,
  );
  return (error as Error).message;
}

/** The text of a query as the deparser writes it, like the texts of deterministic queries. */
export function written(text: string): string {
  return deparseSelect(parseSelect(text));
}

/** The text of a value, which distinguishes equal values that are written differently. */
export function bytes(value: string): string {
  return `pg_catalog.textcat(cast(${value} as text), '') collate pg_catalog."C"`;
}
