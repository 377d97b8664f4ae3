/** What the catalogs say about the columns of a result, as far as their JSON depends on it. */
import type { Database, ResultColumn } from '../db/database.js';

/** A type, as far as its JSON depends on it. */
export interface ResultType {
  readonly name: string;
  /** Whether it comes with Postgres. */
  readonly builtin: boolean;
  /** `b` base, `c` composite, `d` domain, `e` enum, `r` range, `m` multirange. */
  readonly kind: string;
  /** The values of an enum, in order. */
  readonly labels: readonly string[];
  /** Whether a cast says what its JSON is. */
  readonly hasCast: boolean;
  /** The type of an array's elements, or that a domain restricts. */
  readonly inner?: ResultType | undefined;
}

/** A column of a result. */
export interface DescribedColumn {
  readonly name: string;
  readonly type: ResultType;
  /** Whether the table's column that it shows is NOT NULL, for all rows. */
  readonly isNotNull: boolean;
}

interface TypeRow extends Omit<ResultType, 'inner'> {
  readonly oid: number;
  readonly inner: number;
}

const typesSql = `
  with recursive part (oid) as (
    select unnest($1::oid[])
    union
    select case when t.typtype = 'd' then t.typbasetype when t.typlen = -1 then t.typelem else 0 end
    from part join pg_type t using (oid)
  )
  select t.oid::int8::float8 as oid, t.typname as name, t.typnamespace = 'pg_catalog'::regnamespace as builtin,
    t.typtype as kind,
    array(select enumlabel::text from pg_enum e where e.enumtypid = t.oid order by enumsortorder) as labels,
    exists (
      select from pg_cast c
      where c.castsource = t.oid and c.casttarget = 'json'::regtype and c.castmethod = 'f' and t.oid >= 16384
    ) as "hasCast",
    (case when t.typtype = 'd' then t.typbasetype when t.typlen = -1 then t.typelem else 0 end)::int8::float8 as inner
  from part join pg_type t using (oid)`;

/** A constraint that is NOT VALID, which Postgres 18 has, lets the nulls be that were there before. */
const notNullSql = `
  select (attrelid::int8 || ' ' || attnum) as column from pg_attribute a
  where attnotnull and (attrelid, attnum) in (select * from unnest($1::oid[], $2::int2[]))
    and not exists (
      select from pg_constraint c
      where c.conrelid = a.attrelid and c.contype = 'n' and c.conkey = array[a.attnum] and not c.convalidated
    )`;

/** Describes the columns of a result. */
export async function describeResult(db: Database, columns: readonly ResultColumn[]): Promise<DescribedColumn[]> {
  const oids = [...new Set(columns.map(({ typeOID }) => typeOID))];
  const sources = columns.flatMap(({ source }) => source ?? []);
  const tables = [sources.map(({ table }) => table), sources.map(({ column }) => column)];
  const [types, notNull] = await Promise.all([
    db.query<TypeRow>({ text: typesSql, values: [oids] }),
    db.query<{ column: string }>({ text: notNullSql, values: tables }),
  ]);
  const byOID = new Map(types.map((type) => [type.oid, type]));
  const typeOf = (oid: number): ResultType => {
    const { name, builtin, kind, labels, hasCast, inner } = byOID.get(oid)!;
    return { name, builtin, kind, labels, hasCast, inner: inner === 0 ? undefined : typeOf(inner) };
  };
  const declared = new Set(notNull.map(({ column }) => column));
  return columns.map(({ name, typeOID, source }) => ({
    name,
    type: typeOf(typeOID),
    isNotNull: source !== undefined && declared.has(`${source.table} ${source.column}`),
  }));
}
